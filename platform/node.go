package platform

// Paths on an EMR node that the bootstrap action creates.
const (
	NodeInstallDir      = "/opt/observatory"               // root-owned, world-readable
	NodeLauncherJar     = NodeInstallDir + "/launcher.jar" // the only -javaagent Spark is given
	NodeProfilerJar     = NodeInstallDir + "/async-profiler.jar"
	NodePluginJar       = NodeInstallDir + "/spark-plugin.jar" // which the launcher adds to the class path
	NodeConnectJar      = NodeInstallDir + "/connect.jar"      // which the plugin adds where Spark Connect is
	NodeCollectorBinary = NodeInstallDir + "/bin/otelcol"
	NodeCollectorConfig = NodeInstallDir + "/collector.yaml"
	NodeCollectorEnv    = NodeInstallDir + "/collector.env"          // what only the node knows, for the unit's EnvironmentFile
	NodeFactsFile       = NodeInstallDir + "/node.properties"        // cluster, node.role, host.name, control address
	NodeReportFile      = NodeInstallDir + "/bootstrap-report.json"  // what was installed and what failed
	NodeReportMetrics   = NodeInstallDir + "/metrics/bootstrap.json" // the same as an OTLP/JSON metric, replayed by the collector
	NodeKillSwitch      = NodeInstallDir + "/disabled"               // if this file exists the launcher starts nothing
	NodeQueueDir        = "/mnt/observatory/queue"                   // collector's disk queue
	NodeCollectorUnit   = "observatory-collector.service"
)

// BootstrapHostsOnly is the bootstrap action's argument after the hash that leaves out
// what Spark's JVMs load, and what is read from YARN and HDFS.
const BootstrapHostsOnly = "hostsOnly"

// NodeUnitDir is where systemd looks for this machine's own units.
const NodeUnitDir = "/etc/systemd/system"

// FactControl is the key of the control node's private address in
// NodeFactsFile, which also has the HostLabels.
const FactControl = "control.address"

// Switches of the launcher agent, besides NodeKillSwitch. "true" disables it for
// one JVM (-D…) or one application (spark.executorEnv.…).
const (
	LauncherDisableProperty = "observatory.disabled"
	LauncherDisableVariable = "OBSERVATORY_DISABLED"
	LauncherExitProperty    = "observatory.exitTimeoutMillis" // of one JVM, instead of LauncherExitTimeout
	LauncherGuardProperty   = "observatory.launcher"          // set by the first of several copies in one JVM
)

// Paths that EMR itself creates (emr-7.x).
const (
	EMRInfoDir         = "/mnt/var/lib/info"
	EMRControllerDir   = "/emr/instance-controller"
	EMRLogDir          = "/mnt/var/log"
	EMRStepLogDir      = "/mnt/var/log/hadoop/steps"
	EMRBootstrapLogDir = "/mnt/var/log/bootstrap-actions"
	EMRContainerLogDir = "/var/log/hadoop-yarn/containers"
	EMRHadoopConfDir   = "/etc/hadoop/conf"
	EMRSparkConfDir    = "/etc/spark/conf"
	EMRHiveConfDir     = "/etc/hive/conf"
	EMRFlinkConfDir    = "/etc/flink/conf"
	EMRSparkHome       = "/usr/lib/spark"
	EMRHadoopHome      = "/usr/lib/hadoop"
)

// MetricHostSeen is a metric that every node's collector sends while it runs
// (hostmetrics receiver, memory scraper, system.memory.usage). A node was last
// seen at its last sample.
const MetricHostSeen = "system_memory_usage_bytes"

// MetricBootstrapUp is 1 if a part was installed and verified on a host, else 0.
const MetricBootstrapUp = "observatory_bootstrap_component_up"

// BootstrapComponent is the label of MetricBootstrapUp that holds a
// NodeComponent.
const BootstrapComponent Label = "component"
