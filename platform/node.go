package platform

// Paths on an EMR node that the bootstrap action creates.
const (
	NodeInstallDir      = "/opt/observatory"               // root-owned, world-readable
	NodeLauncherJar     = NodeInstallDir + "/launcher.jar" // the only -javaagent Spark is given
	NodeOTelAgentJar    = NodeInstallDir + "/opentelemetry-javaagent.jar"
	NodePyroscopeJar    = NodeInstallDir + "/pyroscope.jar"
	NodeCollectorBinary = NodeInstallDir + "/bin/otelcol"
	NodeCollectorConfig = NodeInstallDir + "/collector.yaml"
	NodeFactsFile       = NodeInstallDir + "/node.properties" // cluster, node.role, host.name, control address
	NodeJMXRules        = NodeInstallDir + "/jmx-s3a.yaml"
	NodeReportFile      = NodeInstallDir + "/bootstrap-report.json"  // what was installed and what failed
	NodeReportMetrics   = NodeInstallDir + "/metrics/bootstrap.prom" // the same as a metric, read by the collector
	NodeKillSwitch      = NodeInstallDir + "/disabled"               // if this file exists the launcher starts nothing
	NodeQueueDir        = "/mnt/observatory/queue"                   // collector's disk queue
	NodeCollectorUnit   = "observatory-collector.service"
)

// Paths that EMR itself lays down (emr-7.x; see docs/reference for sources).
const (
	EMRInfoDir         = "/mnt/var/lib/info"
	EMRControllerDir   = "/emr/instance-controller"
	EMRLogDir          = "/mnt/var/log"
	EMRStepLogDir      = "/mnt/var/log/hadoop/steps"
	EMRBootstrapLogDir = "/mnt/var/log/bootstrap-actions"
	EMRContainerLogDir = "/var/log/hadoop-yarn/containers"
	EMRHadoopConfDir   = "/etc/hadoop/conf"
	EMRSparkConfDir    = "/etc/spark/conf"
	EMRSparkHome       = "/usr/lib/spark"
	EMRHadoopHome      = "/usr/lib/hadoop"
)

// NodeComponent is a part that the bootstrap action installs; it is the
// `component` label of observatory_bootstrap_component_up.
type NodeComponent string

// The parts, each of which may fail without failing the others.
const (
	ComponentCollector NodeComponent = "collector"
	ComponentLauncher  NodeComponent = "launcher"
	ComponentOTelAgent NodeComponent = "otel-agent"
	ComponentPyroscope NodeComponent = "pyroscope-agent"
)

// NodeComponents lists the parts in the order of installation.
func NodeComponents() []NodeComponent {
	return []NodeComponent{ComponentLauncher, ComponentCollector, ComponentOTelAgent, ComponentPyroscope}
}

// MetricBootstrapUp is 1 where a part was installed and verified on a host,
// 0 where it was not.
const MetricBootstrapUp = "observatory_bootstrap_component_up"
