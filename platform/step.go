package platform

// SparkTraceparent is the Spark property that carries the W3C trace context of
// the step a job runs in ("00-<trace id>-<span id>-01"), so that the job's own
// spans can join the step's trace.
const SparkTraceparent = "spark." + Name + ".traceparent"

// Attributes of the span that stands for an EMR step, beside Cluster.
const (
	StepID    Label = "emr.step.id" // s-…
	StepName  Label = "emr.step.name"
	StepState Label = "emr.step.state" // EMR's own word: COMPLETED, FAILED, …
	StepApps  Label = "emr.step.application_ids"
)

// StepLogKey is where EMR puts a log of a step, below the cluster's log URI
// (Management Guide, "View log files": steps/<step>/{controller,stderr,stdout,
// syslog}.gz).
func StepLogKey(cluster, step, log string) string {
	return cluster + "/steps/" + step + "/" + log + ".gz"
}
