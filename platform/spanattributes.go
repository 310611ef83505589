package platform

// Attributes of the spans of a Spark application, besides JVMLabels on their resource.
const (
	AttributeApplicationName  = "spark.application.name"
	AttributeExecutionID      = "spark.sql.execution.id"
	AttributeJobID            = "spark.job.id"
	AttributeStageID          = "spark.stage.id"
	AttributeStageAttempt     = "spark.stage.attempt"
	AttributeTaskID           = "spark.task.id"
	AttributeTaskAttempt      = "spark.task.attempt"
	AttributeTaskPartition    = "spark.task.partition"
	AttributeTaskKept         = "spark.task.kept" // why the task has a span: failed, slow or sample
	AttributePhase            = "spark.phase"
	AttributeConnectSession   = "spark.connect.session.id"
	AttributeConnectOperation = "spark.connect.operation.id"
	AttributeConnectUser      = "spark.connect.user"
	AttributeDescription      = "spark.description" // the user's text, cut and redacted
	AttributeApproximate      = "spark.phases.approximate"
	AttributeException        = "exception.message"
	SpansDropped              = Name + ".spans.dropped" // of the trace, over its budget
)

// AttributePhaseSeconds returns the name of the attribute with a phase's seconds.
func AttributePhaseSeconds(phase Phase) string { return "spark.phase." + string(phase) + ".seconds" }

// AttributeAirflow is the attribute of an operation with one of the AirflowNames, by its label.
func AttributeAirflow(label string) string { return "airflow." + label }
