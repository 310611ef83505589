package contract

import (
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/redelivery"
)

// storeMetrics returns what VictoriaMetrics scrapes of the control node's servers:
// whether the stores ingest, reject or lose data (names in each server's source at the
// version platform.Workloads pins), and how the profiler's last run went.
func storeMetrics() []Metric {
	s := func(name string, kind Type, unit, help string, labels ...string) Metric {
		return Metric{Name: name, Emitted: name, Type: kind, Unit: unit, Labels: labels, Source: SourceStores, Since: EMR615, Help: help}
	}
	refused := func(name, unit, help string) Metric {
		m := s(name, Counter, unit, help, "reason", "tenant")
		m.OnlyIf = "the store rejected something"
		return m
	}
	return []Metric{
		s("vm_rows_inserted_total", Counter, "{sample}", "Samples that VictoriaMetrics ingested.", "type"),
		s("vm_rows_ignored_total", Counter, "{sample}", "Samples that VictoriaMetrics rejected.", "reason"),
		s("vm_new_timeseries_created_total", Counter, "{series}", "New series that VictoriaMetrics created."),
		s("vm_hourly_series_limit_rows_dropped_total", Counter, "{sample}",
			"Samples of new series that VictoriaMetrics rejected, because all clusters together have too many within an hour."),
		s("vm_daily_series_limit_rows_dropped_total", Counter, "{sample}",
			"Samples of new series that VictoriaMetrics rejected, because all clusters together have too many within a day."),
		s("vm_free_disk_space_bytes", Gauge, "By", "Free disk space of VictoriaMetrics.", "path"),
		s("vl_rows_ingested_total", Counter, "{record}", "Log records that VictoriaLogs ingested.", "type"),
		s("vl_rows_dropped_total", Counter, "{record}", "Log records that VictoriaLogs rejected.", "reason"),
		s("vl_free_disk_space_bytes", Gauge, "By", "Free disk space of VictoriaLogs.", "path"),
		s("tempo_distributor_spans_received_total", Counter, "{span}", "Spans that Tempo received.", "tenant"),
		refused("tempo_discarded_spans_total", "{span}", "Spans that Tempo rejected."),
		s("tempo_ingester_failed_flushes_total", Counter, "{block}", "Blocks that Tempo failed to write to S3."),
		s(redelivery.MetricResent, Counter, "{request}",
			"Requests replayed after a store crashed before it had written them for certain, or found in the store already.", redelivery.LabelStore),
		s(redelivery.MetricRefused, Counter, "{request}", "Requests that a store rejected on replay; their data is lost.", redelivery.LabelStore),
		s(redelivery.MetricProfilesRefused, Counter, "{request}",
			"Requests of nodes to Pyroscope that the relay refused; only busy ones are sent again.", redelivery.LabelReason),
		s(platform.MetricOverLimit, Counter, "{item}",
			"Data points, log records, spans and profiles of a cluster that were not stored, because it sends more than its limit.",
			platform.Cluster.Metric(), platform.LimitSender, platform.LimitSignal),
		s(platform.MetricLimitUsed, Gauge, "1", "Used part of a cluster's limit, 0 to 1.",
			platform.Cluster.Metric(), platform.LimitSender, platform.LimitSignal),
		s(redelivery.MetricKept, Gauge, "By", "Compressed bytes that a store accepted and may not have written yet.", redelivery.LabelStore),
		s(serve.MetricRuns, Counter, "{run}", "Runs of the profiler that ended.", serve.LabelResult),
		s(serve.MetricWakes, Counter, "{cluster}", "Clusters that were woken by the end of their applications, and left the profiler's queue.",
			serve.LabelResult),
		s(serve.MetricSuccess, Gauge, "s", "When a run of the profiler last ended without failing, in seconds since 1970; 0 before the first."),
		s(serve.MetricInterval, Gauge, "s", "Time between the starts of two runs of the profiler."),
		s(serve.MetricDuration, Gauge, "s", "Duration of the profiler's last run."),
		s(serve.MetricClusters, Gauge, "{cluster}", "Clusters that the profiler's last run found."),
		s(serve.MetricApplications, Gauge, "{attempt}", "Attempts of applications that the profiler's last run read."),
		s(serve.MetricIncomplete, Gauge, "{item}", "Clusters, applications and endpoints that the profiler's last run could not read."),
		s(serve.MetricObjects, Counter, "{object}", "Objects that the profiler wrote to the lake."),
		refused("pyroscope_discarded_samples_total", "{sample}", "Profile samples that Pyroscope rejected."),
	}
}
