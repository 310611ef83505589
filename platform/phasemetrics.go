package platform

// Metrics of an application's phases, as VictoriaMetrics names them. The driver's
// plugin sends them; they keep their final values until the JVM ends.
const (
	MetricSparkWall        = "spark_wall_seconds"      // from the application's begin to its end, or to now
	MetricPhaseApproximate = "spark_phase_approximate" // 1 if events are missing
	MetricPhaseState       = "spark_phase_state"       // index in Phases of the phase of the moment
	MetricExecutorCount    = "spark_executor_count"    // by ExecutorState
	MetricApplicationEnded = "spark_application_ended" // 1 once the phases are final: the context has stopped
	MetricApplicationInfo  = "spark_application_info"  // 1; its labels say what the application belongs to
	ApplicationInfoStep    = "step_id"                 // label of MetricApplicationInfo
	ApplicationInfoName    = "application_name"
	ApplicationInfoSpark   = "spark_version"
)

// ExecutorState is the label of MetricExecutorCount.
const ExecutorState = "state"

// ExecutorStates lists the states of executors: with a task, without one, and wanted by Spark but
// not there.
func ExecutorStates() []string { return []string{"active", "idle", "pending"} }

// Metric is the name of the phase's seconds in VictoriaMetrics.
func (p Phase) Metric() string {
	if p == PhaseResourceWait {
		return "spark_resource_wait_seconds"
	}
	return "spark_phase_" + string(p) + "_seconds"
}
