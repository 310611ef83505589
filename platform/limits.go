package platform

// Kinds of telemetry, each of which has a store and a limit for each cluster.
const (
	SignalMetrics  = "metrics"
	SignalLogs     = "logs"
	SignalTraces   = "traces"
	SignalProfiles = "profiles"
)

// seriesPerMiB is how many series VictoriaMetrics takes for each MiB of its memory: one that gets samples
// needs about a KiB (VictoriaMetrics, "Capacity planning"), and queries need the rest.
const seriesPerMiB = 400

// MaxSeries is how many series all clusters together may have in an hour.
func MaxSeries() int {
	for _, w := range Workloads() {
		if w.Name == WorkloadVictoriaMetrics {
			return w.MemoryMiB * seriesPerMiB
		}
	}
	return 0 // a test of the table finds it
}

// MetricOverLimit counts, by Cluster and LimitSignal, what was not stored: data points, log records,
// spans and profiles. MetricLimitUsed is the used part of a limit, 0 to 1. A sender of whose cluster
// EMR has said nothing has LimitSender, its address, in place of Cluster.
const (
	MetricOverLimit = "observatory_redelivery_over_limit_total"
	MetricLimitUsed = "observatory_redelivery_limit_used_ratio"
	LimitSignal     = "signal"
	LimitSender     = "sender"
)
