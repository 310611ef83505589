package lessons_test

// historyNotTried returns what EMR decides about the history of Spark's applications.
func historyNotTried() []notTried {
	return []notTried{
		{
			"A persistent UI is STARTING until it is ATTACHED, and its URL opens a page by a redirect and a cookie.",
			"The API names no statuses; nothing is published about the pages.",
			"The local cloud does so in front of Spark's own history server, and refuses UIs by the Management Guide's rules.",
			[]string{"localcloud/emrapi TestBoto3OpensPersistentUIs", "localcloud/persistentui TestURLsAndCookiesExpire"},
			"`aws emr create-persistent-app-ui --target-resource-arn CLUSTER_ARN`, then describe-persistent-app-ui, " +
				"get-persistent-app-ui-presigned-url, and `curl --include --location URL`",
		}, {
			"A persistent UI lists all that a terminated cluster has run.", noAccount,
			"The local cloud takes the last event logs out of HDFS before it removes the nodes.",
			[]string{"localcloud/emr TestLifeOfACluster"},
			"`aws emr terminate-clusters --cluster-ids CLUSTER` right after a job; in its UI ten minutes later, `/shs/api/v1/applications`",
		}, {
			"A cluster becomes idle although the profiler reads its history every hour.",
			"EMR does not count a cluster as idle while its own UIs are in use, and does not say for how long a use counts.",
			"The profiler opens the own UI of a waiting cluster only if it is protected from termination. " +
				"The local cloud counts requests to it as activity.",
			[]string{"profiler/run TestWaitingClusterBecomesIdle", "localcloud/emr TestLifeOfACluster"},
			"`aws emr describe-cluster --cluster-id CLUSTER --query Cluster.Status` an hour after a job: " +
				"terminated by the auto-termination policy",
		}, {
			"A workspace lists its clusters by pages, throttles, and delivers event logs to volumes and S3.", "No Databricks workspace.",
			"Databricks' own Python SDK reads the fake workspace as the profiler does; the layout of delivered logs is that of published ones.",
			[]string{"profiler/workspace TestSDKReadsTheWorkspace", "profiler/run TestWorkspace"},
			"`observatory profile run --databricks --output history`, with DATABRICKS_HOST and DATABRICKS_TOKEN in the environment",
		}, {
			"The Spark UI of a workspace's cluster answers a browser's cookie, also after the cluster has ended.",
			"No Databricks workspace; Databricks documents no way in for programs.",
			"A real history server behind a login, a page that loads and a cookie that expires.",
			[]string{"tests/history TestUIOfAWorkspaceAgreesWithLogs", "profiler/run TestExpiredCookieOfAWorkspace"},
			"`observatory profile run --databricks --output history` with a cluster that delivers no logs, and with DATABRICKS_DATAPLANE_URL " +
				"and DATAPLANE_DOMAIN_DBAUTH in the environment",
		}, {
			"Athena projects the tables' folders, and Unity Catalog lists them at each query.", "Neither Athena nor Databricks.",
			"A parser of Athena's dialect takes the statements; Spark 4 executes those for Databricks on a real lake, but for the volume.",
			[]string{"profiler/ddl TestAthenaParsesItsStatements", "profiler/ddl TestSparkAnswersAsDuckDB"},
			"`observatory profile ddl --dialect athena --s3-output-path s3://BUCKET/lake/history/`, each statement in Athena, by a user with no " +
				"other policy than the output athena's; then count the rows of applications by dt before and after the profiler's next run",
		}, {
			"EMR names a step's YARN applications in AdditionalInfo.", "EMR does not say how it knows them.",
			"The local cloud takes them from the lines of the step's log about submissions.",
			[]string{"localcloud/emr TestLifeOfACluster"},
			"`aws emr describe-step --cluster-id CLUSTER --step-id STEP --query Step.AdditionalInfo`",
		},
	}
}
