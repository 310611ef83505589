package platform

import "strings"

// SparkTraceparent is the Spark property that carries the W3C trace context of
// the step a job runs in ("00-<trace id>-<span id>-01"), so that the job's own
// spans can join the step's trace.
const SparkTraceparent = "spark." + Name + ".traceparent"

// SparkConnectOperation is the local property of jobs that an AnalyzePlan call of Spark
// Connect runs: "<session>.<operation>". Spark tags those of its other calls.
const SparkConnectOperation = "spark." + Name + ".connect.operation"

// Further Spark properties of a job's traces.
const (
	// SparkSamplingRatio is the share of traces that are kept, 0 to 1. Without it a job
	// has no spans.
	SparkSamplingRatio = "spark." + Name + ".tracing.samplingRatio"

	// SparkStepParent is the id of the span that the step's own span belongs to, in hex.
	SparkStepParent = "spark." + Name + ".step.parent"
)

// TraceparentOf returns the trace context that a step's arguments carry, "" if none.
func TraceparentOf(args []string) string { return sparkProperty(args, SparkTraceparent) }

// StepParentOf returns the id of the span that a step's own span belongs to, "" if the
// step's arguments name none.
func StepParentOf(args []string) string { return sparkProperty(args, SparkStepParent) }

// StepSamplingRatioOf returns the ratio that a step's arguments set in place of the
// stack's, "" if none.
func StepSamplingRatioOf(args []string) string { return sparkProperty(args, SparkSamplingRatio) }

// sparkProperty returns a property that spark-submit's arguments set, as "--conf
// key=value" or "--conf=key=value". The last one counts, as in spark-submit.
func sparkProperty(args []string, key string) string {
	found := ""
	for _, arg := range args {
		if value, ok := strings.CutPrefix(strings.TrimPrefix(arg, "--conf="), key+"="); ok {
			found = value
		}
	}
	return found
}

// Limits of a step in characters (EMR API reference, StepConfig and HadoopJarStepConfig).
const (
	MaxStepName      = 256
	MaxStepArguments = 10240 // of all arguments together
)

// YARNApplicationID is a regular expression of YARN's application ids, in the syntax
// that Go and LogsQL share.
const YARNApplicationID = `application_[0-9]+_[0-9]+`

// Variables of a link to what is known of a step, written ${name}. The last three are
// Grafana's own names for the time range.
const (
	LinkCluster     = "cluster"
	LinkClusterName = "cluster_name"
	LinkStep        = "step"
	LinkTrace       = "trace"       // in hex
	LinkApplication = "application" // YARN's id
	LinkRegion      = "region"
	LinkEnd         = "end"     // of the time range: 2006-01-02T15:04:05 in UTC
	LinkSeconds     = "seconds" // length of the time range
	LinkFrom        = "__from"  // in milliseconds
	LinkTo          = "__to"
	LinkTimeRange   = "__url_time_range" // a query: from=…&to=…
)

// SparkKind is the attribute of a span with its SpanKind.
const SparkKind Label = "spark.kind"

// TimelineLink is the title of the link to an application's phases over time.
const TimelineLink = "timeline"

// Attributes of the span of an EMR step, besides Cluster.
const (
	StepID    Label = "emr.step.id" // s-…
	StepName  Label = "emr.step.name"
	StepState Label = "emr.step.state" // as EMR writes it: COMPLETED, FAILED, …
	StepApps  Label = "emr.step.application_ids"
	// StepVerdicts has, for each application, where its time went and what cost most.
	StepVerdicts Label = "emr.step.verdicts"
)

// Metrics of steps, as they are emitted, and their labels.
const (
	MetricStepDuration = Name + ".step.duration" // of the last step of each name
	MetricStepCount    = Name + ".step.count"    // of ended steps
	LabelStepName      = "step_name"
	LabelStepState     = "step_state"
)

// StepLogKey returns the key of a step's log below the cluster's log URI
// (Management Guide, "View log files": steps/<step>/{controller,stderr,stdout,
// syslog}.gz).
func StepLogKey(cluster, step, log string) string {
	return cluster + "/steps/" + step + "/" + log + ".gz"
}

// ContainerLogPrefix returns the prefix of the keys of an application's container logs below
// the cluster's log URI (Management Guide, "View log files": containers/<application>/
// <container>/{stderr,stdout}.gz).
func ContainerLogPrefix(cluster, application string) string {
	return cluster + "/containers/" + application + "/"
}

// NodeLogPrefix returns the prefix of the keys of the logs of an application's daemons on one
// node, below the cluster's log URI (Management Guide, "View log files": node/<instance>/
// applications/<application>/). application is the name of the folder in /var/log.
func NodeLogPrefix(cluster, instance, application string) string {
	return cluster + "/node/" + instance + "/applications/" + application + "/"
}

// YARNLogs is the folder of YARN's daemons in /var/log, and ResourceManagerLog begins the
// names of the resource manager's log, today's and those of earlier hours.
const (
	YARNLogs           = "hadoop-yarn"
	ResourceManagerLog = "hadoop-yarn-resourcemanager"
)

// DriverContainerSuffix ends the id of an attempt's first container: that of the
// ApplicationMaster, in which a driver in cluster mode runs.
const DriverContainerSuffix = "_000001"
