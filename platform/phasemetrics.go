package platform

// Metrics of an application's phases, as VictoriaMetrics names them. The driver's
// plugin sends them; they keep their final values until the JVM ends.
const (
	MetricSparkWall        = "spark_wall_seconds"      // from the application's begin to its end, or to now
	MetricPhaseApproximate = "spark_phase_approximate" // 1 if events are missing
	MetricApplicationEnded = "spark_application_ended" // 1 once the phases are final: the context has stopped
	MetricApplicationInfo  = "spark_application_info"  // 1; its labels say what the application belongs to
	ApplicationInfoStep    = "step_id"                 // label of MetricApplicationInfo
	ApplicationInfoName    = "application_name"
	ApplicationInfoSpark   = "spark_version"
)

// Metric is the name of the phase's seconds in VictoriaMetrics.
func (p Phase) Metric() string {
	if p == PhaseResourceWait {
		return "spark_resource_wait_seconds"
	}
	return "spark_phase_" + string(p) + "_seconds"
}
