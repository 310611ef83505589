package coverage_test

// Files and tests that several rows of the two profilers' documents cite.
const (
	historyGuide  = "docs/guides/history.md"
	fromEMR       = "docs/guides/history.md#from-emr"
	controlRuns   = "docs/guides/history.md#on-the-control-node"
	queryGuide    = "docs/guides/history.md#query"
	options       = "docs/reference/profiler-options.md"
	clustersOfEMR = "profiler/run TestClustersOfEMR"
	limitsOfUIs   = "profiler/run TestLimitsOfClustersAndUIs"
	onOptions     = "profiler/run TestReferenceIsCurrent"
	defaults      = "profiler/run TestDefaults"
	conflicts     = "profiler/run TestConflicts"
	callsListed   = "profiler/run TestCallsAreListed"
	discovery     = "profiler/source TestDiscoveryFilters"
	twoRoads      = "tests/history TestEventLogAndRESTRowsAgree"
	sqlAgrees     = "profiler/lake TestSQLQueriesAgree"
	databricksLog = "profiler/run TestLogsOfDatabricks"
	toolServer    = "profiler/tools/server.go"
	toolsAlike    = "profiler/tools TestLogsAndLakeGiveSameResults"
	toolQuestions = "profiler/tools TestQuestionsOfTheGuide"
	askGuide      = "docs/guides/ask-an-llm.md"

	answers          = "docs/reference/answers.md"
	answersReference = "profiler/tools TestReference"
	answersShown     = "The answer is shown as the text that a model gets, and a test holds it: what a model makes of it differs."
	sqlFunctions     = "docs/reference/sql-functions.md"
	functionsAgree   = "profiler/ddl TestFunctionsAnswerAsTools"
	genieAnswers     = "A room may call the functions of `profile ddl`, which answer as the tools do: these answers. No room was tried."

	workspaceClusters = "profiler/run TestWorkspace"
	workspaceSecrets  = "profiler/run TestVariablesOfAWorkspace"
	fromDatabricks    = "docs/guides/history.md#from-databricks"

	deliveredOnly = "A workspace's clusters are found, and the event logs that they deliver are read; with a browser's cookie their UIs, too."

	catalogFunctions = "profiler/ddl TestFunctionsAnswerAsTools"
	catalogSpark     = "profiler/ddl TestSparkAnswersAsDuckDB"
	workspaceUIs     = "profiler/run TestUIsOfAWorkspace"
)

// profilerDocument answers what is wanted of the profiler of Spark's history with tools for
// language models.
func profilerDocument() document {
	return document{
		"The profiler with tools for language models",
		"What a profiler of Spark's history wants: tables for SQL, and tools through which a model answers questions.",
		[]section{
			{"Key features", profilerFeatures()},
			{"Two frameworks", profilerFrameworks()},
			{"Framework one: tools", profilerTools()},
			{"Framework two: tables", profilerTables()},
			{"Databricks", profilerDatabricks()},
			{"Permissions in AWS", permissions()},
			{"Variables of the ETL for EMR", emrVariables()},
			{"EMR's caveats and contribution", caveats()},
		},
	}
}

func profilerFeatures() []row {
	return []row{
		{
			"Finds EMR or Databricks clusters and reads their Spark history.", done, deliveredOnly,
			at{fromEMR, clustersOfEMR, fromDatabricks, workspaceClusters, databricksLog},
		},
		{"Extracts metrics of applications, jobs, stages and SQL queries.", done, "", at{"docs/reference/tables.md#tables", twoRoads}},
		{
			"Produces Spark DataFrames, and writes to S3 on request.", corrected,
			"DataFrames need a cluster to explain clusters. The tables are Parquet, in S3 or a folder; Spark and DuckDB read them alike.",
			at{"docs/decisions/0013-history-tables.md", queryGuide, sqlAgrees},
		},
		{
			"Has tools with which a model helps to optimise in natural language.", done, "",
			at{askGuide, toolServer, toolQuestions},
		},
		{
			"Scales to many clusters.", done, "",
			at{limitsOfUIs, "profiler/source TestDiscoveryStaysWithinQuota", "profiler/judge TestThousandApplications"},
		},
	}
}

func profilerFrameworks() []row {
	return []row{
		{"ETL and tools give history metrics to SQL analysts and to models.", done, "The same rows serve both.", at{queryGuide, toolsAlike}},
		{"There are two ways to use it.", done, "", at{historyGuide}},
		{
			"The first fetches metrics of a given cluster live, through tools.", done, "From the cluster, a history server or a folder of logs.",
			at{"profiler/run TestToolsReadAClusterOfEMR", "profiler/tools TestToolsReadAHistoryServer"},
		},
		{
			"It suits a deep look at few jobs in natural language.", done, "",
			at{askGuide, toolQuestions},
		},
		{
			"The second runs an ETL regularly, for SQL or a Databricks Genie room.", done,
			"The control node runs it every hour. `profile ddl` declares the tables to Unity Catalog, for a Genie room; no room was tried.",
			at{controlRuns, "profiler/serve TestRunsRepeatAtTheInterval", queryGuide, catalogSpark},
		},
		{"It suits dozens or hundreds of jobs.", done, "", at{"profiler/judge TestThousandApplications", "docs/reference/tables.md#questions"}},
	}
}

func profilerTools() []row {
	return []row{
		{
			"Setting it up takes about 15 minutes.", done, "One JSON object in the client's configuration.",
			at{"docs/guides/ask-an-llm.md#set-it-up"},
		},
		{
			"Create secrets for token, workspace, data plane and cookies, with the help of shsutils.", corrected,
			"EMR needs none: the AWS SDK's default chain has credentials, and EMR presigns its pages.",
			at{fromEMR, "profiler/history TestErrorsHaveNoSecrets"},
		},
		{
			"Run agentconnprod and agentddlprod.", corrected,
			"`observatory profile tools` is the server (MCP). `profile ddl --dialect databricks` makes the fourteen tools as table functions.",
			at{queryGuide, "profiler/tools TestStandardInputAndOutput", catalogFunctions},
		},
		{
			"Afterwards the tools are in a sink schema.", corrected, "A client lists them from the server, each with its arguments.",
			at{"profiler/tools TestToolsAreDescribed"},
		},
		{"Tool getappid.", done, "", at{"profiler/tools/applications.go", toolsAlike}},
		{"Tool getexecutor.", done, "", at{"profiler/tools/executors.go", toolQuestions}},
		{"Tool getslowestjobs.", done, "", at{"profiler/tools/jobs.go", toolQuestions}},
		{"Tool getslowestsql.", done, "", at{"profiler/tools/sql.go", toolQuestions}},
		{"Tool getsloweststages.", done, "", at{"profiler/tools/stages.go", "profiler/tools TestSlowestStagesAreTheSlowest"}},
		{"Tool getsparkcontext.", done, "", at{"profiler/tools/settings.go", toolQuestions}},
		{"Tool getstage.", done, "", at{"profiler/tools/stage.go", toolQuestions}},
		{"Tool listappsraw.", done, "", at{"profiler/tools/applications.go", toolQuestions}},
		{"Tool listshsenvraw.", done, "", at{"profiler/tools/raw.go", toolQuestions}},
		{
			"Tool listshsexeuctorsraw.", done, "It is listed as listshsexecutorsraw and answers to both names.",
			at{"profiler/tools/raw.go", "profiler/tools TestToolsAreDescribed"},
		},
		{"Tool listshsjobsraw.", done, "", at{"profiler/tools/raw.go", toolQuestions}},
		{"Tool listshssqlraw.", done, "", at{"profiler/tools/raw.go", toolQuestions}},
		{"Tool listshsstagesraw.", done, "", at{"profiler/tools/raw.go", toolQuestions}},
		{"Tool listshstasksraw.", done, "", at{"profiler/tools/raw.go", toolQuestions}},
		{
			"Databricks' AI playground or an open interface can use them.", done,
			"Any client of MCP can, over a process or HTTP. The playground takes the functions of `profile ddl`, with no server; it was not tried.",
			at{"profiler/tools TestStandardInputAndOutput", "docs/guides/ask-an-llm.md#set-it-up", "docs/reference/sql-functions.md"},
		},
		{
			"Question: which stages are bottlenecks of a cluster?", done, "",
			at{"docs/guides/ask-an-llm.md#what-to-ask", toolQuestions},
		},
		{
			"Question: which SQL queries are bottlenecks of a cluster?", done, "",
			at{"docs/guides/ask-an-llm.md#what-to-ask", toolQuestions},
		},
		{
			"Question: which Spark settings did a cluster use?", done, "Secrets are masked.",
			at{"docs/guides/ask-an-llm.md#what-to-ask", toolQuestions},
		},
		{"Picture of an answer about stages.", corrected, answersShown, at{answers, answersReference}},
		{"Picture of an answer about SQL.", corrected, answersShown, at{answers, answersReference}},
		{"Picture of an answer about settings.", corrected, answersShown, at{answers, answersReference}},
	}
}

func profilerTables() []row {
	return []row{
		{
			"After a quarter of an hour of setting up, the ETL takes minutes to hours, by the number of clusters.", done,
			"A run prints its minimum time; later ones read only what is new.",
			at{fromEMR, "profiler/source TestEstimateIsAccurate", "profiler/run TestRequestsForCompleteApplications"},
		},
		{
			"Create secrets for Databricks' history, with the help of shsutils.", corrected,
			"Two, the workspace's URL and a token, in the environment or a file of the owner's. No cookie is scraped from a browser.",
			at{fromDatabricks, workspaceSecrets},
		},
		{
			"Run databricks_spark_profiler or emr_spark_profiler.", corrected,
			"One command, `observatory profile run`, reads EMR, a workspace of Databricks, a history server, or logs.",
			at{historyGuide, clustersOfEMR, workspaceClusters},
		},
		{
			"Run efficiency_analysis.", corrected,
			"It is no further step: each run writes its tables, and judges applications by rules.",
			at{"docs/guides/history.md#findings", "profiler/fold TestInefficiency"},
		},
		{
			"Run emr_photon_analysis to see which jobs gain from Photon.", corrected, "It is no further step: each run writes the table.",
			at{"docs/reference/tables.md#photonanalysis", "profiler/fold TestPhotonPlans"},
		},
		{"Picture of shsutils.", refused, "It takes a cookie out of a browser; a token and delivered logs need none.", at{fromDatabricks}},
		{"Table applications.", done, "", at{"docs/reference/tables.md#applications", twoRoads}},
		{"Table cluster_summaries.", done, "", at{"docs/reference/tables.md#cluster_summaries", clustersOfEMR}},
		{"Table executors.", done, "", at{"docs/reference/tables.md#executors", "profiler/fold TestExecutors"}},
		{"Table ineffjobagg.", done, "", at{"docs/reference/tables.md#ineffjobagg", "profiler/fold TestInefficiency"}},
		{"Table ineffjobraw.", done, "", at{"docs/reference/tables.md#ineffjobraw", "profiler/fold TestInefficiency"}},
		{"Table jobs.", done, "", at{"docs/reference/tables.md#jobs", "profiler/fold TestFailures"}},
		{
			"Table photonanalysis.", corrected,
			"Weighted by the operators' times, with what is unknown; the notebook's own figure is in jobphotonperc.",
			at{"docs/reference/tables.md#photonanalysis", "profiler/fold TestPhotonPlans"},
		},
		{"Table sql.", done, "", at{"docs/reference/tables.md#sql", "profiler/fold TestExecutions"}},
		{"Table stages.", done, "", at{"docs/reference/tables.md#stages", twoRoads}},
		{"Table task_summaries.", done, "", at{"docs/reference/tables.md#task_summaries", "profiler/fold TestQuantilesOfTasks"}},
		{"Table tasks.", done, "Only on request, as in the document.", at{"docs/reference/tables.md#tasks", "profiler/run TestTasksStay"}},
		{"The tables serve SQL analysis.", done, "", at{"docs/reference/tables.md#questions", sqlAgrees}},
		{
			"A Genie room over the tables turns text into SQL.", done,
			"`profile ddl` declares them with a description of each column; no room was tried. Elsewhere DuckDB's server runs SQL.",
			at{queryGuide, askGuide, "profiler/ddl TestAthenaParsesItsStatements"},
		},
		{
			"Question: which jobs are the most inefficient?", done, "",
			at{"docs/reference/tables.md#ineffjobagg", "docs/reference/tables.md#findings", "profiler/fold TestInefficiency"},
		},
		{"Question to the tables: which stages are bottlenecks?", done, "", at{"docs/reference/tables.md#questions", sqlAgrees}},
		{"Question to the tables: which SQL queries are bottlenecks?", done, "", at{"docs/reference/tables.md#questions", sqlAgrees}},
		{"Picture of Genie's answer about jobs.", corrected, genieAnswers, at{answers, sqlFunctions, functionsAgree}},
		{"Picture of Genie's answer about stages.", corrected, genieAnswers, at{answers, sqlFunctions, functionsAgree}},
		{"Picture of Genie's answer about SQL.", corrected, genieAnswers, at{answers, sqlFunctions, functionsAgree}},
	}
}

func profilerDatabricks() []row {
	return append(databricksSecrets(), []row{
		{"Picture of the data plane's URL in a browser.", refused, "The guide says where it is: the address of a Spark UI in a tab of its own.",
			at{fromDatabricks}},
		{"timeout_seconds of Databricks' ETL, default 300.", done, "One set of options for all sources.", at{options, defaults}},
		{
			"max_applications of Databricks' ETL: applications of each cluster.", done,
			"What was left out has a row in completeness.", at{options, "profiler/run TestLimitOfApplications"},
		},
		{"environment of Databricks' ETL: dev or prod.", done, "", at{options, conflicts}},
		{
			"catalog_name, required.", corrected, "`profile ddl` requires it for Databricks; a run writes to S3 or a folder.",
			at{options, "profiler/command TestStatementsRefused"},
		},
		{"schema_name, default spark_observability.", done, "", at{options, "profiler/command TestStatementsForCatalogs"}},
		{
			"volume_name, default profiler_logs_volume.", corrected,
			"`profile ddl` creates it for the logs that clusters deliver. The profiler's own logs go to standard error, and metrics to /metrics.",
			at{options, catalogSpark, "profiler/serve TestLastRunIsServed"},
		},
		{"max_clusters of Databricks' ETL, default 5.", done, "", at{options, limitsOfUIs}},
		{
			"batch_size, default 10: clusters at a time.", corrected,
			"Threads say how many are read at a time; a batch is what is read before a pause.", at{options, defaults},
		},
		{"batch_delay_seconds, default 2.", done, "", at{options, defaults}},
		{"max_endpoint_failures, default 3 for each kind of endpoint.", done, "", at{options, "profiler/history TestFailureLimit"}},
		{"include_tasks, default false.", done, "", at{options, "profiler/run TestTasksStay"}},
		{
			"Own runs set environment to prod and keep all defaults.", corrected,
			"Five clusters a run fall behind: the control node's runs are prod with 50, and a command with --max-clusters 0 reads all.",
			at{controlRuns, configuration, "profiler/run TestLimitOfClustersReachesEndedOnes"},
		},
	}...)
}

// databricksSecrets answers what both documents say about secrets.
func databricksSecrets() []row {
	return []row{
		{
			"Create a secret for a Databricks token, and for the workspace's URL.", done,
			"In the environment or a file that only its owner may read; never a flag.", at{fromDatabricks, workspaceSecrets, workspaceClusters},
		},
		{
			"Create a secret for the data plane's URL, found in a job's Spark UI.", done,
			"DATABRICKS_DATAPLANE_URL, in the environment or the file. Delivered logs need none, and are read first.",
			at{fromDatabricks, workspaceUIs, workspaceSecrets},
		},
		{
			"Create a secret for the cookie DATAPLANE_DOMAIN_DBAUTH, copied from a browser.", done,
			"It lasts as long as the person's session. An expired one is tried once, and loses nothing.",
			at{fromDatabricks, workspaceUIs, "profiler/run TestExpiredCookieOfAWorkspace", "tests/history TestUIOfAWorkspaceAgreesWithLogs"},
		},
	}
}

// permissions answers what both documents say about IAM.
func permissions() []row {
	return []row{
		{"elasticmapreduce:ListClusters.", done, "", at{options, callsListed}},
		{"elasticmapreduce:DescribeCluster.", done, "", at{options, callsListed}},
		{"elasticmapreduce:ListSteps.", done, "", at{options, callsListed}},
		{"elasticmapreduce:DescribeStep.", corrected, "It is not needed: ListSteps answers the same.", at{options, callsListed}},
		{
			"elasticmapreduce:CreatePersistentAppUI.", corrected,
			"DescribePersistentAppUI is needed, too: the URL works only once the UI is attached.",
			at{options, callsListed, "components/controlnode TestProfilerMayMakeItsCallsAndNoOthers"},
		},
		{
			"elasticmapreduce:GetPersistentAppUIPresignedURL.", corrected, "Running clusters also need GetOnClusterAppUIPresignedURL.",
			at{options, callsListed, "profiler/run TestRunningCluster"},
		},
		{"elasticmapreduce:ListInstanceGroups.", done, "", at{options, callsListed}},
		{"elasticmapreduce:ListInstanceFleets.", done, "", at{options, callsListed}},
		{
			"s3:PutObject.", corrected, "s3:DeleteObject is needed, too, for the lease and retention; readers need neither.",
			at{options, "profiler/lake TestS3AndFolderStoresBehaveAlike"},
		},
		{"s3:GetObject.", done, "", at{options}},
		{"s3:ListBucket.", done, "", at{options}},
		{
			"sts:GetCallerIdentity.", corrected,
			"It is not called: the cluster's ARN names the account. IAM allows it without a policy, anyway.", at{options, callsListed},
		},
	}
}

// emrVariables answers what both documents say about the variables of the ETL.
func emrVariables() []row {
	return []row{
		{"aws_region.", done, "", at{options, onOptions}},
		{"emr_cluster_arn; empty discovers clusters.", done, "Of any partition.", at{options, "profiler/source TestClusterARNs"}},
		{"timeout_seconds, default 300.", done, "", at{options, defaults}},
		{"max_applications: applications of each cluster.", done, "", at{options, "profiler/run TestLimitOfApplications"}},
		{"environment: dev or prod.", done, "", at{options, conflicts}},
		{"s3_output_path, required in prod.", done, "", at{options, conflicts}},
		{
			"cluster_states: TERMINATED, WAITING, both, or ALL.", corrected,
			"All of EMR's states are taken, but a waiting cluster's pages are left alone: using them postpones its idle timeout.",
			at{options, fromEMR, "profiler/run TestWaitingClusterBecomesIdle"},
		},
		{"cluster_name_filter: part of the names.", done, "", at{options, discovery}},
		{"max_clusters, default 5.", done, "Later runs go on with the next five.", at{options, limitsOfUIs}},
		{"created_after_date and created_before_date: YYYY-MM-DD.", done, "", at{options, discovery}},
		{"persistent_ui_timeout_seconds.", done, "", at{options, defaults}},
		{"max_cluster_threads: clusters at a time.", done, "", at{options, defaults}},
		{"max_app_threads: applications of a cluster at a time.", done, "", at{options, defaults}},
	}
}

// caveats answers what both documents say last.
func caveats() []row {
	return []row{
		{
			"Spark should be configured as AWS's page about persistent UIs recommends, for large event logs.", corrected,
			"The stack's clusters roll their logs (clusters.*.rolledEventLogs), and none is compacted, which would lose rows. Rolled and " +
				"compacted logs are read in constant memory.",
			at{historyGuide, "components/emr TestEventLogsAreRolled", "eventlog TestMemoryDoesNotGrowWithTheLog", "profiler/fold TestCompactedLog"},
		},
		{"A persistent UI needs event logs in HDFS, as EMR's default is.", done, "", at{fromEMR, "profiler/run TestPreconditions"}},
		{
			"With logs in S3 or elsewhere, it does not work.", corrected, "The profiler reads event logs in S3 itself, without any UI.",
			at{fromEMR, "profiler/run TestEventLogsInS3"},
		},
		{"A guide for contributors is to come.", done, "", at{"AGENTS.md", "README.md#development"}},
	}
}
