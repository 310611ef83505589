package platform

// SparkTraceparent is the Spark property that carries the W3C trace context of
// the step a job runs in ("00-<trace id>-<span id>-01"), so that the job's own
// spans can join the step's trace.
const SparkTraceparent = "spark." + Name + ".traceparent"

// Attributes of the span of an EMR step, besides Cluster.
const (
	StepID    Label = "emr.step.id" // s-…
	StepName  Label = "emr.step.name"
	StepState Label = "emr.step.state" // as EMR writes it: COMPLETED, FAILED, …
	StepApps  Label = "emr.step.application_ids"
)

// StepLogKey returns the key of a step's log below the cluster's log URI
// (Management Guide, "View log files": steps/<step>/{controller,stderr,stdout,
// syslog}.gz).
func StepLogKey(cluster, step, log string) string {
	return cluster + "/steps/" + step + "/" + log + ".gz"
}
