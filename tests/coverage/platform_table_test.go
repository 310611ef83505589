package coverage_test

// Tests and files that several rows cite.
const (
	bootstrapScript = "assets/node/templates/bootstrap.sh"
	nodeCollector   = "assets/node/templates/collector.yaml"
	withoutAPart    = "assets/node TestBootstrapContinuesWithoutAPart"
	installsParts   = "assets/node TestBootstrapInstallsPartsAndStartsCollector"
	collectorSends  = "assets/node TestCollectorSendsHostDaemonAndOwnMetrics"
	everyJVMMetric  = "assets/node TestEveryJVMMetricArrives"
	yaceQueries     = "assets/workloads TestYACEQueriesOnlyTheStacksResources"
	pyroscopeFile   = "assets/workloads/templates/pyroscope.yaml"
	statusServes    = "status TestStatusFromMetrics"
	storagePaths    = "platform/storage.go"
)

// platformDocument answers what is wanted of nodes, stores and the dashboard of EMR.
func platformDocument() document {
	return document{
		"The platform",
		"What a platform wants of EMR nodes: a collector and profiles on each, profiles in S3, a dashboard without CloudWatch.",
		[]section{
			{"Context", platformContext()},
			{"Goals and non-goals", platformGoals()},
			{"Decisions", platformDecisions()},
			{"Risks", platformRisks()},
		},
	}
}

func platformContext() []row {
	return []row{
		{"EMR provisions the Spark nodes as EC2 instances.", done, "", at{"components/emr/cluster.go"}},
		{
			"A bootstrap action installs OpenTelemetry's Java agent on them.", corrected,
			"That agent costs each JVM 2.6 s of CPU for what the launcher measures with 0.2 s. A job may still bring it.",
			at{"docs/decisions/0004-jvm-telemetry.md", "assets/node TestJobWithStockAgents"},
		},
		{
			"The agent sends straight to the control node.", corrected,
			"Without a queue on the node, an outage of the control node loses telemetry. JVMs send to the node's own collector.",
			at{nodeCollector, "assets/node TestCollectorQueuesOnDiskWhileControlNodeIsDown"},
		},
		{"Nodes have no collector of their own.", done, "Each has one now.", at{"assets/node/templates/collector.service", installsParts}},
		{"Host metrics are not collected.", done, "They are now.", at{collectorSends, "EMR Overview: All hosts"}},
		{
			"Nothing is profiled.", done, "Every Spark JVM is now.",
			at{"assets/node TestProfilesReachControlNode", "EMR Overview: CPU flame graph"},
		},
		{
			"The EMR dashboard depends on CloudWatch data from YACE.", done, "No panel queries it now.",
			at{"docs/reference/dashboards.md#emr-overview", "dashboards TestMetricQueriesMatchContract"},
		},
		{
			"The control node runs collector (DaemonSet), VictoriaMetrics, VictoriaLogs, Tempo, Pyroscope and YACE.", done, "",
			at{"platform/workloads.go", "components/workloads TestResourceNames", "tests/cloud TestLife"},
		},
		{
			"Pyroscope is the only store that still uses the local disk.", corrected,
			"Its blocks are in S3, but VictoriaMetrics and VictoriaLogs are on the data volume, too; they have no S3 backend.",
			at{"docs/guides/control-node.md#the-data-volume-is-lost", "tests/lessons TestServersKeepDataOnVolumes"},
		},
	}
}

func platformGoals() []row {
	return []row{
		{
			"A collector runs as a systemd service on every node, reads host metrics and forwards OTLP to the control node.", done, "",
			at{"assets/node/templates/collector.service", installsParts, collectorSends, "tests/cloud TestLife"},
		},
		{
			"Pyroscope's Java agent in Spark JVMs profiles CPU, allocations and locks.", corrected,
			"The same three kinds are profiled, but the launcher drives async-profiler itself: a tenth of the agent's CPU time.",
			at{"docs/decisions/0004-jvm-telemetry.md", "docs/reference/emitted-metrics.md#profiles", "assets/node TestProfilesReachControlNode"},
		},
		{
			"Pyroscope stores in S3, so nothing needs a backup.", done, "A lost volume loses at most the last 15 minutes.",
			at{pyroscopeFile, "components/storage TestLifecycleSparesBlocks"},
		},
		{
			"The EMR dashboard is built on host and JVM metrics.", done, "",
			at{"EMR Overview: CPU usage", "EMR Overview: Heap usage, top 10", "dashboards/check TestAgainstRealStores"},
		},
		{"YACE no longer scrapes EMR.", done, "", at{"assets/workloads/yace.go", yaceQueries}},
		{"/status shows the S3 paths of Tempo and Pyroscope.", done, "", at{"docs/guides/status.md#what-it-shows", statusServes}},
		{
			"No eBPF profiling on EMR nodes.", done, "async-profiler needs neither a DaemonSet nor the kernel's help.",
			at{"assets/node/parts.go", "assets/node TestProfilerRecoversFromFailure"},
		},
		{
			"OpenSearch stays with CloudWatch.", done, "YACE reads the domains that carry the stack's tags.",
			at{"assets/workloads/yace.go", yaceQueries},
		},
		{
			"The control node's collector stays as it is.", corrected,
			"Stores acknowledge before they write: it got queues on disk, and a proxy that replays what a killed store had lost.",
			at{"docs/decisions/0008-redelivery.md", "assets/workloads TestKilledStoresLoseNothing"},
		},
		{"Profiles on the file system are not migrated.", done, "There is nothing to migrate: stacks begin with S3.", at{pyroscopeFile}},
	}
}

func platformDecisions() []row {
	return []row{
		{"One bootstrap action is extended; there is no second.", done, "", at{bootstrapScript, installsParts}},
		{"It installs the binary, writes the configuration and creates the unit.", done, "", at{bootstrapScript, installsParts}},
		{"The node's collector receives OTLP by gRPC and HTTP.", done, "", at{nodeCollector, "assets/node TestPluginSignalsArrive"}},
		{"It has the receiver of host metrics.", done, "", at{nodeCollector, collectorSends}},
		{
			"It has a batch processor.", corrected,
			"That would hold data in memory before the queue. Batches are formed by the exporter, behind its queue on disk.",
			at{"docs/decisions/0006-full-queues-refuse.md", "assets/node TestFullQueuePausesLogReading"},
		},
		{"It has one OTLP gRPC exporter, to port 4317 of the control node.", done, "", at{nodeCollector, "tests/cloud TestLife"}},
		{"Not a YARN auxiliary service: the collector must run whatever YARN does.", done, "", at{"assets/node/templates/collector.service"}},
		{
			"The script downloads pyroscope.jar to /opt/pyroscope.", corrected,
			"There is no such agent. async-profiler comes from the stack's bucket, as nodes may have no way to the internet.",
			at{"docs/guides/artifacts.md", "assets/node/artifacts.lock.json", installsParts},
		},
		{
			"OpenTelemetry's agent has the same pattern, in /opt/otel.", corrected,
			"A JVM does not start without its agent, so the launcher is inside the script instead of behind a download.",
			at{bootstrapScript, withoutAPart},
		},
		{
			"Version and URL are constants of the program.", corrected,
			"A lock file pins each artifact by version and sha256; the node verifies it.",
			at{"assets/node/artifacts.lock.json", withoutAPart},
		},
		{
			"spark-submit adds -javaagent and properties to extraJavaOptions of driver and executors.", corrected,
			"Jobs that set extraJavaOptions would drop it, and other ways to submit lack it: it is in defaultJavaOptions of spark-defaults.",
			at{"observe/shipped.go", "components/emr TestConfigurationsLoadTheLauncher"},
		},
		{
			"That follows the agents of the Cassandra stress jobs.", refused,
			"The platform runs Spark only; any JVM that starts with the launcher's -javaagent is measured the same way.",
			at{"assets/node TestLauncherOnRealJVMs"},
		},
		{"The script needs the control node's private IP for the exporter.", done, "", at{bootstrapScript, "stacks TestAddressesAgree"}},
		{
			"It is an EMR configuration property or an environment variable.", corrected,
			"EMR applies configurations after bootstrap actions. It is an argument of the action.", at{"observe/observe.go", bootstrapScript},
		},
		{"It is passed beside the script's S3 path.", done, "", at{"observe/observe.go", "components/telemetry/telemetry.go"}},
		{
			"Pyroscope's configuration changes to S3, with bucket and region expanded from the environment as in Tempo's.", done, "",
			at{pyroscopeFile, "assets/workloads/s3stores.go", "assets/workloads TestServersAcceptTheirConfiguration"},
		},
		{
			"Its manifest takes the variables from the ConfigMap cluster-config.", done, "",
			at{"components/workloads/environment.go", "components/workloads TestClusterConfig"},
		},
		{
			"The hostPath volume is removed.", done, "A claim holds what is not uploaded yet.",
			at{"components/workloads/volumes.go", "components/workloads TestMountsHaveVolumesAndFiles"},
		},
		{"No backup service for profiles on a file system.", done, "", at{"assets/workloads/s3stores.go"}},
		{"The old dashboard's aws_elasticmapreduce_* metrics go.", done, "", at{"docs/reference/emitted-metrics.md", yaceQueries}},
		{
			"The dashboard uses system.cpu, memory, disk and network metrics of the nodes.", done, "",
			at{"EMR Overview: CPU usage", "EMR Overview: Memory usage", "EMR Overview: Disk throughput", "EMR Overview: Network traffic"},
		},
		{
			"It uses jvm.memory, jvm.gc and jvm.threads of the Java agent.", corrected,
			"Names, types and units are those of OpenTelemetry's conventions, but the launcher sends them.",
			at{everyJVMMetric, "EMR Overview: GC time, top 10", "EMR Overview: Threads, top 10"},
		},
		{"It links to profiles.", done, "", at{"EMR Overview: Busy cores by application", "dashboards TestLinksResolve"}},
		{
			"Panels are per node, filtered by host name.", done, "", at{"EMR Overview: All hosts", "dashboards TestVariablesCascadeAndAreUsed"},
		},
		{"S3Paths gets the fields tempo and pyroscope.", done, "", at{storagePaths, "docs/reference/outputs.md"}},
		{"The status server fills them from the data bucket.", done, "", at{"assets/workloads/status.go", statusServes}},
		{"The prefixes are tempo/ and pyroscope/.", done, "", at{storagePaths, "tests/controls TestRolesReachTheirPrefixesOnly"}},
	}
}

func platformRisks() []row {
	return []row{
		{
			"Three components are installed, and a failed download fails the cluster.", corrected,
			"The script always exits 0: missing telemetry must not stop a job.", at{bootstrapScript, withoutAPart},
		},
		{"Each download is independent and checked.", done, "They run concurrently, with a sha256 each.", at{bootstrapScript, withoutAPart}},
		{
			"A failed collector or profiler is a warning.", done, "It is also a metric, a log record and a line on the status page.",
			at{"EMR Overview: Bootstrap components", withoutAPart, "tests/cloud TestLife"},
		},
		{
			"The collector cannot start before the control node's IP is known.", done, "",
			at{"components/controlnode TestElasticIPIsOnTheInterfaceBeforeTheInstanceBoots"},
		},
		{
			"The control node is always provisioned before EMR, and its IP is in the state.", done, "",
			at{"stacks TestClusterWaitsForTheControlNode", "docs/reference/outputs.md"},
		},
		{
			"The move to S3 is a clean cut, and losing old profiles in an upgrade is acceptable.", corrected,
			"An upgrade of the control node loses none: they are in S3 for retention.pyroscopeDays.",
			at{"docs/guides/control-node.md#upgrade-the-image", "docs/reference/config.md"},
		},
		{
			"The dashboard loses YARN's containers, HDFS's utilization and the numbers of applications.", corrected,
			"It need not: Hadoop's daemons serve them over HTTP, and the node's collector reads them.",
			at{
				"EMR Overview: Containers", "EMR Overview: HDFS capacity", "EMR Overview: Applications",
				"dashboards/contract TestDaemonsExposeContractMetrics",
			},
		},
		{
			"Host and JVM metrics say more about a Spark job than CloudWatch.", done, "Spark's own phases say most.",
			at{"docs/reference/dashboards.md#job-phase-timeline"},
		},
		{
			"YARN and HDFS can come back by JMX scraping.", corrected, "No JMX exporter is needed: hadoop.prometheus.endpoint.enabled opens /prom.",
			at{"observe/observe.go", nodeCollector, collectorSends},
		},
	}
}
