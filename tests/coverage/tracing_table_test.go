package coverage_test

// Files, panels and tests that several rows cite.
const (
	phasesGuide   = "docs/guides/phases.md"
	slowJob       = "docs/guides/phases.md#a-slow-job"
	airflowGuide  = "docs/guides/airflow.md"
	connectGuide  = "docs/guides/tracing.md#clients-of-spark-connect"
	connectTraces = "assets/node TestConnectOperationsAreInTheirCallersTraces"
	airflowFields = "tests/airflow TestFieldsOfStockOperators"
	emitted       = "docs/reference/emitted-metrics.md"
	configuration = "docs/reference/config.md"
	plugin        = "assets/node/spark-plugin"
	pluginInSpark = "assets/node TestPluginInSparkWithExecutors"
	goldenLogs    = "phases TestGoldenLogs"
	ownClock      = "tests/phases TestPhasesEqualTheJobsOwnClock"
	timelineQuery = "dashboards/check TestTimelineOfAnEndedApplication"
	fourRoutes    = "tests/phases TestParentsOfFourRoutes"
	seriesOfS3A   = "assets/node TestExecutorsSendFewSeriesOfS3A"
	rehearsed     = "stacks TestTracingVariantsAreRehearsed"
	keysAreRead   = "tests/lessons TestKeysAreRead"

	recipes          = "docs/recipes/troubleshoot/"
	slowRecipe       = recipes + "slow-spark-jobs.md"
	skewRecipe       = recipes + "data-skew-diagnosis.md"
	memoryRecipe     = recipes + "oom-and-spill.md"
	shuffleRecipe    = recipes + "shuffle-bottleneck.md"
	collectionRecipe = recipes + "gc-pressure.md"
	waitRecipe       = recipes + "resource-wait-long.md"
	writeRecipe      = recipes + "s3-write-slow.md"
	profilingGuide   = "docs/recipes/observability/spark-profiling-guide.md"
	stackGuide       = "docs/recipes/observability/observability-stack.md"
	recipesComplete  = "tests/recipes TestRecipesAreComplete"
	recipesSQL       = "profiler/lake TestSQLOfRecipes"

	overTime    = "Job Phase Timeline: Phase over time"
	phaseShares = "Job Phase Timeline: Share of the wall time"
	phaseTimes  = "Job Phase Timeline: Time by phase"
	firstWait   = "Job Phase Timeline: Time to first executor"
	allWait     = "Job Phase Timeline: Wait for resources"
	executors   = "Job Phase Timeline: Executors"
	durations   = "Job Phase Timeline: Task duration"
	worstSkew   = "Job Phase Timeline: Skew of the worst stage"
	taskTime    = "Job Phase Timeline: Where task time goes"
	gcShare     = "Job Phase Timeline: GC share of task time"
	spills      = "Job Phase Timeline: Spill"
	s3Requests  = "Job Phase Timeline: S3 requests"
	s3Time      = "Job Phase Timeline: S3 request time"
	caller      = "Job Phase Timeline: Application and its caller"
)

// tracingDocument answers what is wanted of traces, phases and profiling of Spark jobs.
func tracingDocument() document {
	return document{
		"Tracing and profiling",
		"What a platform on Kubernetes with Spark Connect and Airflow wants: traces of jobs, two dashboards, recipes. This one is EMR's.",
		[]section{
			{"Head and goal", tracingGoal()},
			{"Acceptance criteria", tracingCriteria()},
			{"The reference case", tracingCase()},
			{"Diagnosis", tracingDiagnosis()},
			{"Picture of the dashboard Job Phase Timeline", timelinePicture()},
			{"Picture of the dashboard Spark Profiling", profilingPicture()},
			{"Recipes", tracingRecipes()},
			{"OpenTelemetry configuration", tracingConfiguration()},
			{"Files", tracingFiles()},
		},
	}
}

func tracingGoal() []row {
	return []row{
		{
			"Front matter: a ticket's id, feature, size, assignee and the tickets it depends on.", refused,
			"The repository keeps no tickets: this page has the states, and the changelog what was delivered.", at{"CHANGELOG.md"},
		},
		{
			"OpenTelemetry tracing is integrated into Spark Connect's configuration.", done,
			"A server is traced like any driver, and its clients' operations in their callers' traces. Nobody has to configure it.",
			at{connectGuide, connectTraces},
		},
		{
			"Two new dashboards: timeline of phases, and bottlenecks.", done, "",
			at{"docs/reference/dashboards.md#job-phase-timeline"},
		},
		{
			"Five recipes for typical performance problems.", done, "Seven, and each finding names its own.",
			at{recipesComplete, "rules TestEveryRuleHasARecipe", recipesSQL},
		},
		{
			"Event logs can be analysed through the history server, and this is documented.", done, "",
			at{
				"docs/guides/history.md", "docs/guides/event-logs.md", "tests/history TestEventLogAndRESTRowsAgree",
				"cmd/observatory TestTraceImport",
			},
		},
	}
}

func tracingCriteria() []row {
	return []row{
		{
			"AC1: Spark Connect's ConfigMap takes the tracing configuration, conditionally.", corrected,
			"EMR has no ConfigMap for Spark: spark-defaults of the cluster has it if tracing.enabled, for Connect and every other driver.",
			at{"docs/guides/tracing.md#switch-traces-off", "components/emr TestJobsKnowTheSamplingRatio"},
		},
		{
			"AC2: values.yaml has monitoring.openTelemetry with endpoint, protocol and sampling.", corrected,
			"There is no Helm chart: the stack's configuration has the section tracing, validated before anything is created.",
			at{configuration, "schema TestTracingReportsAllFaultsAtOnce", rehearsed},
		},
		{
			"AC3: a JAR with a SparkListener measures the wait from app start to first executor.", done, "",
			at{plugin, "assets/node TestPluginPhasesMatchHandWrittenLogs", firstWait},
		},
		{
			"AC4: S3A's metrics are exported to Prometheus: bytes written, operation durations, multipart.", done,
			"VictoriaMetrics stores them. Before EMR 7.10, s3:// is EMRFS, which has no such counters.", at{emitted, seriesOfS3A, s3Time},
		},
		{
			"AC5: dashboard Job Phase Timeline with wait, compute and I/O on a time axis.", done, "",
			at{"docs/reference/dashboards.md#job-phase-timeline", timelineQuery, ownClock},
		},
		{
			"AC6: dashboard Spark Profiling with GC, serialization, skew, spill and idle time.", done, "Its first row has the findings.",
			at{"docs/reference/dashboards.md#spark-profiling", "dashboards/check TestAgainstRealStores"},
		},
		{
			"AC7: Airflow's trace id reaches Spark's spans through gRPC metadata.", done,
			"Also by a tag and by the session's configuration, which is what Airflow's operator has a field for. Steps and spark-submit of " +
				"a task are in its trace, too.",
			at{connectGuide, connectTraces, airflowGuide, airflowFields, "submit TestStepContinuesAnOuterTrace", fourRoutes},
		},
		{"AC8: recipe for slow jobs.", done, "", at{slowRecipe, recipesComplete, recipesSQL}},
		{"AC9: recipe for data skew.", done, "", at{skewRecipe, recipesComplete, recipesSQL}},
		{"AC10: recipe for out of memory and spill.", done, "", at{memoryRecipe, recipesComplete, recipesSQL}},
		{"AC11: recipe for shuffle bottlenecks.", done, "", at{shuffleRecipe, recipesComplete, recipesSQL}},
		{"AC12: recipe for GC pressure.", done, "", at{collectionRecipe, recipesComplete, recipesSQL}},
		{
			"AC13: recipe for long waits for resources on Kubernetes.", corrected,
			"EMR on EC2 has YARN: the recipe is about its queue, nodes and containers. An appendix has the causes on Kubernetes.",
			at{waitRecipe, waitRecipe + "#appendix-spark-on-kubernetes", recipesComplete},
		},
		{"AC14: recipe for slow writes to S3.", done, "", at{writeRecipe, recipesComplete, recipesSQL}},
		{"AC15: overview guide to profiling Spark.", done, "", at{profilingGuide, "tests/recipes TestRecipesNamePanelsThatExist"}},
		{
			"AC16: helm template succeeds with tracing on.", corrected,
			"The program is Pulumi's: every variant of tracing is rehearsed without an account.",
			at{rehearsed},
		},
		{
			"AC17: the guide to the observability stack links to the new dashboards.", done, "",
			at{stackGuide + "#dashboards", "tests/recipes TestLinksBetweenPagesResolve"},
		},
		{
			"The work is complete when all criteria are met.", done, "None is open: a row is done, corrected or refused.",
			at{"tests/coverage TestReference"},
		},
	}
}

func tracingCase() []row {
	return []row{
		{
			"An ETL task takes 2 h 15 min of wall clock.", done, "It is a golden log, with 47 % wait, 6 % compute and 47 % write.",
			at{"phases/testdata/logs/README.md", "phases/testdata/logs/reference.jsonl", goldenLogs},
		},
		{
			"Phase 0: Airflow submits by gRPC, for seconds.", done,
			"Cluster mode has the phase submit, and the task's own span begins before it. Over Spark Connect the operation's span begins " +
				"with the request.",
			at{phasesGuide, airflowGuide, connectTraces},
		},
		{
			"Phase 1: the driver waits for executors from Kubernetes, for long and invisibly.", corrected,
			"Here YARN gives them. The wait is a phase of its own, also in the middle of the job.", at{allWait, goldenLogs},
		},
		{"Phase 2: stages, tasks and shuffles compute, for a short time.", done, "", at{phaseTimes, ownClock}},
		{
			"Phase 3: the write to S3 takes long, and looks like slow tasks.", done, "It is a phase of its own, commits included.",
			at{s3Time, "Job Phase Timeline: Multipart uploads", goldenLogs},
		},
		{
			"Layer Airflow: OTel spans (2.7 or later) with wall clock, DAG and trace id.", corrected,
			"Airflow exports spans since 2.10; the plugin needs 2.11 and puts a task's steps and applications below the task's span. " +
				"The control node takes Airflow's spans from security groups that the configuration names.",
			at{airflowGuide, airflowFields, "docs/guides/phases.md#say-which-airflow-task-it-is", caller},
		},
		{
			"Layer Spark Connect: a gRPC interceptor sees submission and response and propagates the trace id.", done,
			"The plugin adds it where it finds Spark Connect, after a trial. An operation's times are those of Spark's own events.",
			at{connectGuide, connectTraces, "assets/node TestConnectServersWithAndWithoutTheInterceptor"},
		},
		{
			"Layer driver: a SparkListener sees the resource wait and makes spans of jobs, stages and tasks.", done,
			"Tasks have spans if they failed, were among the longest, or are of a sample: a trace of all would be too large.",
			at{plugin, pluginInSpark, "assets/node TestPluginKeepsTheBudgetOfATrace"},
		},
		{
			"Layer S3 and MinIO: S3A's metrics have throughput, multipart latency and operation counts.", done, "",
			at{s3Requests, s3Time, "Job Phase Timeline: S3 requests by operation", seriesOfS3A},
		},
		{
			"Without a listener for onApplicationStart and onExecutorAdded, the wait is invisible.", corrected,
			"That difference is the first wait only, and ends before executors can run tasks. Block managers and open stages count, too.",
			at{"phases/testdata/logs/README.md", firstWait, allWait, ownClock},
		},
		{
			"A slow write shows where p95 of write tasks is far above that of compute tasks.", corrected,
			"It misses the commit, which has no task: the phase of writing includes it.",
			at{durations, phaseTimes, "docs/reference/rules.md#commit_slow"},
		},
		{
			"Metric spark_resource_wait_seconds: from app start to first executor.", corrected,
			"It is all waiting, also later; spark_first_executor_wait_seconds is the time to the first executor.", at{emitted, goldenLogs},
		},
		{
			"Metric spark_phase_compute_seconds: time in compute stages.", corrected,
			"Stages overlap: each instant counts for one phase.", at{emitted, goldenLogs},
		},
		{
			"Metric spark_phase_io_write_seconds: time in stages with output.", corrected,
			"Some SQL writes report no output bytes: the plan says which tasks write, and the commit counts.", at{emitted, goldenLogs},
		},
		{
			"Metric spark_phase_breakdown_ratio: wait to compute to I/O.", done, "By phase; with submit, idle and driver the shares add up to 1.",
			at{emitted, phaseShares},
		},
	}
}

func tracingDiagnosis() []row {
	return []row{
		{
			"Wait above 300 s means Kubernetes schedules late: priority class, warm pool, batch allocation.", corrected,
			"The limit of 5 minutes is a rule. On EMR the cures are YARN's queue, the scaling limit and the size of executors.",
			at{"docs/reference/rules.md#resource_wait", allWait, "profiler/judge TestEveryRuleOnLogs"},
		},
		{
			"p95 of write far above compute means S3: larger multipart.size, magic committer, fewer partitions.", corrected,
			"EMR sets its committer itself, so what bypasses it is named; the cure is fewer and larger files. A part size is not advised.",
			at{"docs/reference/rules.md#write_slow", "docs/reference/rules.md#rename_commit", durations, "rules TestAdviceIsSafeOnEMR"},
		},
		{
			"High variance of p95 of compute means skew: repartition, salting, AQE.", corrected,
			"A stage's p95 divided by its median is judged, and its data tells skew from a slow host.",
			at{"docs/reference/rules.md#skew", "docs/reference/rules.md#slow_host", worstSkew, "profiler/findings TestAdviceForSkew"},
		},
	}
}

func timelinePicture() []row {
	return []row{
		{"Heading: Spark job phase analysis.", done, "", at{"docs/reference/dashboards.md#job-phase-timeline"}},
		{"A Gantt timeline of the phases.", done, "The trace has the exact one.", at{overTime, "Job Phase Timeline: Traces"}},
		{"Bar of the resource wait: 47 %, 1 h.", done, "", at{phaseShares, allWait}},
		{"Bar of compute: 6 %.", done, "", at{phaseShares, phaseTimes}},
		{
			"Bar of the S3 write: 47 %, 1 h.", corrected, "The phase counts any output: a write to HDFS is one, too.", at{phaseShares, phasesGuide},
		},
		{
			"Marks at app start, first executor, write stage and end.", corrected,
			"The borders of the phases, which have names and colours, are these marks; spans have them to the millisecond.", at{overTime},
		},
		{"Phase breakdown, wait: 47 %.", done, "", at{phaseShares, timelineQuery}},
		{"Phase breakdown, compute: 6 %.", done, "", at{phaseShares, timelineQuery}},
		{"Phase breakdown, I/O: 47 %.", done, "", at{phaseShares, timelineQuery}},
		{"SLI: time to first executor.", done, "", at{firstWait}},
		{"SLI: compute efficiency.", done, "", at{"Job Phase Timeline: Compute efficiency"}},
		{"SLI: S3 throughput.", done, "", at{"Job Phase Timeline: S3 write throughput"}},
		{"SLI: task p95, compute.", done, "", at{"Job Phase Timeline: Task p95, compute"}},
		{"SLI: task p95, write.", done, "", at{"Job Phase Timeline: Task p95, write"}},
		{"Executor lifecycle: pending, scaling, draining.", done, "", at{executors, "Job Phase Timeline: Executors removed"}},
		{
			"Airflow context: DAG and task.", done, "With run and try. The plugin and `observatory submit` pass them on.",
			at{caller, airflowFields, "submit TestAirflowsContextReachesTheJob"},
		},
		{"Airflow context: trace id.", done, "The application's, which is the caller's if it passed a traceparent.", at{caller, fourRoutes}},
	}
}

func profilingPicture() []row {
	const board = "Spark Profiling: "
	return []row{
		{"Heading: Spark profiling.", done, "", at{"docs/reference/dashboards.md#spark-profiling"}},
		{
			"Gauge of GC time: 15 %.", done, "Over time, with full collections beside it.",
			at{board + "GC share of task time", board + "Full collections"},
		},
		{"Gauge of serialization time: 3 %.", done, "Of tasks and of results.", at{board + "Serialization share"}},
		{
			"Shuffle skew, max by average: 4.1 times.", corrected,
			"The average hides skew: the panel divides by the median. The seconds that skew cost are beside it.",
			at{board + "Skew of the worst stage", board + "Time lost to skew"},
		},
		{"Spill to disk: 2.3 GB.", done, "", at{board + "Spilled so far"}},
		{"Gauge of executor utilization: 38 %.", done, "As the idle share, and the idle cores while others work.", at{
			board + "Idle share over time", board + "Idle cores while tasks run",
		}},
		{
			"Gauge of peak memory per executor: 78 %.", done, "Live from the heap's pools; the table executors has peaks by use.",
			at{board + "Peak heap by executor", "docs/reference/tables.md#executors"},
		},
		{"Heatmap of task durations, one row per executor.", done, "", at{board + "Mean task duration by executor"}},
	}
}

func tracingRecipes() []row {
	return []row{
		{"A job that takes too long: task p95 and stage times lead to the bottleneck stage.", done, "", at{slowRecipe + "#which-cause"}},
		{
			"Uneven data: largest task by median; repartition, salting.", corrected,
			"p95 divided by the median is judged. Repartition cures uneven input; a hot key needs adaptive execution or salt.",
			at{skewRecipe + "#cure", "profiler/findings TestAdviceForSkew"},
		},
		{
			"Out of memory and spill: memory used, bytes spilled; memory, partitions.", done, "",
			at{memoryRecipe + "#which-cause", "docs/reference/rules.md#memory_overhead_low"},
		},
		{
			"Slow shuffle: times and bytes; better partitioning.", done, "",
			at{shuffleRecipe + "#which-cause", "Job Phase Timeline: Fetch wait", "Job Phase Timeline: Shuffle reads"},
		},
		{
			"GC pressure: share of GC, count of full collections; tune the JVM, fewer objects.", corrected,
			"Heap by task and fewer objects cure it. The collector's flags stay: those of Java 8 keep a JVM of Java 17 from starting.",
			at{collectionRecipe, emitted},
		},
	}
}

func tracingConfiguration() []row {
	return []row{
		{
			"enabled, by default false.", corrected, "On by default: nobody looks for a trace before the job was slow, and its cost is measured.",
			at{configuration, "schema TestTracesAreKeptByDefault"},
		},
		{
			"endpoint, by default otel-collector:4317.", corrected, "The platform's own collectors need none; endpoint is where a copy goes.",
			at{"docs/guides/tracing.md#send-a-copy-elsewhere", "assets/workloads TestTracesAreCopiedFromAQueue"},
		},
		{"protocol, grpc or http.", done, "Of the copy.", at{configuration, "schema TestEndpointHasTheFormOfItsProtocol"}},
		{
			"samplingRatio, a text from 0.0 to 1.0.", corrected, "It is a number, so that a wrong one is refused.",
			at{configuration, "stacks TestOneRatioServesJobsAndSteps"},
		},
		{
			"serviceName, spark-connect-35.", corrected,
			"One name for all loses which component a span is of. Spans are emr-step, spark-driver or spark-executor; the copy may be renamed.",
			at{"docs/reference/emitted-metrics.md#span-attributes", configuration},
		},
		{
			"exporterType, otlp or jaeger.", corrected,
			"OpenTelemetry's collector has no Jaeger exporter any more; Jaeger takes OTLP. The error says so.",
			at{configuration, "schema TestJaegerIsRefusedWithTheRemedy"},
		},
		{
			"spark.plugins names SparkConnectPlugin.", corrected,
			"That class starts Connect's server and traces nothing. The launcher adds the platform's plugin before a job's own spark.plugins.",
			at{"docs/decisions/0011-spans-without-sdk.md", pluginInSpark},
		},
		{
			"spark.opentelemetry.enabled switches tracing on.", refused, "Spark has no such property. Use tracing.enabled.",
			at{configuration, keysAreRead},
		},
		{
			"spark.otel.exporter.otlp.endpoint names the collector.", refused,
			"Spark has no such property. The node's collector is at a fixed address.", at{nodeCollector, keysAreRead},
		},
		{
			"spark.otel.resource.attributes sets the service's name.", refused,
			"Spark has no such property. The node's collector labels all signals.",
			at{nodeCollector, keysAreRead},
		},
	}
}

func tracingFiles() []row {
	return []row{
		{
			"Chart: ConfigMap with OTel and S3A metrics.", corrected,
			"Configurations of the cluster, and the launcher, which reads S3A's counters.", at{"observe/observe.go", seriesOfS3A},
		},
		{
			"Chart: values monitoring.openTelemetry and monitoring.s3aMetrics.", corrected,
			"Section tracing. S3A's metrics need no switch: they exist only if a job uses S3A.", at{configuration, emitted},
		},
		{
			"Chart: dashboard Job Phase Timeline.", corrected, "A Go package renders it; a component installs it in Grafana.",
			at{"dashboards/timeline", "components/grafana"},
		},
		{
			"Chart: dashboard Spark Profiling.", corrected, "A Go package renders it; a component installs it in Grafana.",
			at{"dashboards/profiling", "components/grafana"},
		},
		{
			"resource-wait-tracker.py, a listener in PySpark.", refused,
			"Python cannot register a listener without a callback server in the job. Use the plugin, which PySpark jobs have, too.", at{plugin},
		},
		{"Or ResourceWaitTracker.java, a plugin as JAR.", done, "", at{plugin, "assets/node TestPluginJarHasItsOwnClassesAlone"}},
		{"docs/recipes/troubleshoot/slow-spark-jobs.md.", done, "", at{slowRecipe}},
		{"docs/recipes/troubleshoot/data-skew-diagnosis.md.", done, "", at{skewRecipe}},
		{"docs/recipes/troubleshoot/oom-and-spill.md.", done, "", at{memoryRecipe}},
		{"docs/recipes/troubleshoot/shuffle-bottleneck.md.", done, "", at{shuffleRecipe}},
		{"docs/recipes/troubleshoot/gc-pressure.md.", done, "", at{collectionRecipe}},
		{"docs/recipes/troubleshoot/resource-wait-long.md.", done, "", at{waitRecipe}},
		{"docs/recipes/troubleshoot/s3-write-slow.md.", done, "", at{writeRecipe}},
		{"docs/recipes/observability/spark-profiling-guide.md.", done, "", at{profilingGuide}},
		{"docs/recipes/observability/observability-stack.md.", done, "", at{stackGuide}},
	}
}
