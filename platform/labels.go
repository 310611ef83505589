package platform

import "strings"

// Label is an identifying attribute of a signal, written as the OpenTelemetry
// resource attribute name ("spark.app.id"). Every signal of a source has the same
// labels; they are set on the node and nowhere else.
type Label string

// The labels of every signal.
const (
	Cluster  Label = "cluster"   // EMR cluster id (j-…)
	NodeRole Label = "node.role" // one of Role*
	HostName Label = "host.name" // short private DNS name, ip-10-0-0-1
)

// Further labels of a JVM's signals.
const (
	SparkAppID      Label = "spark.app.id"
	SparkExecutorID Label = "spark.executor.id" // "driver" for the driver
	ServiceName     Label = "service.name"      // see Service*
)

// Fields of log records that say where a line was written.
const (
	LogPath     Label = "log.file.path"
	ContainerID Label = "yarn.container.id" // of a container's stdout and stderr
)

// AttributeSender is the resource attribute with the address from which the control node's collector
// received a signal. The relay behind it tells senders apart by it. Only Tempo keeps it, of a resource.
const AttributeSender = "observatory.sender"

// Metric returns the label's name in VictoriaMetrics (with
// -opentelemetry.usePrometheusNaming) and in Pyroscope: dots become
// underscores, so "spark.app.id" is spark_app_id.
func (l Label) Metric() string { return strings.ReplaceAll(string(l), ".", "_") }

// HostLabels returns the labels on every signal, in their order.
func HostLabels() []Label { return []Label{Cluster, NodeRole, HostName} }

// JVMLabels returns the labels on a Spark JVM's signals besides HostLabels.
func JVMLabels() []Label { return []Label{SparkAppID, SparkExecutorID, ServiceName} }

// Values of NodeRole. The first three are EMR's instance roles in lower case.
const (
	RoleMaster  = "master"
	RoleCore    = "core"
	RoleTask    = "task"
	RoleControl = "control"
)

// DriverID is the driver's SparkExecutorID, as Spark itself names it.
const DriverID = "driver"

// Values of ServiceName.
const (
	ServiceSparkDriver   = "spark-driver"
	ServiceSparkExecutor = "spark-executor"
	ServiceNodeCollector = "node-collector"
	ServiceYARN          = "yarn" // daemon metrics and logs
	ServiceHDFS          = "hdfs"
	ServiceStep          = "emr-step"      // step logs, and the span of a submitted step
	ServiceCluster       = "emr-cluster"   // what EMR says of a cluster
	ServiceSchedules     = "emr-schedules" // what EventBridge Scheduler did not start
	ServiceBootstrap     = "emr-bootstrap" // bootstrap action logs
	ServiceContainer     = "yarn-container"
	ServiceSparkDaemon   = "spark-daemon" // history server and other Spark daemons
)
