package contract

import "github.com/emr-observatory/emr-observatory/redelivery"

// storeMetrics are what VictoriaMetrics scrapes of the control node's stores:
// whether they take, refuse or lose data (names in each server's source at the
// version platform.Images pins).
func storeMetrics() []Metric {
	s := func(name string, kind Type, unit, help string, labels ...string) Metric {
		return Metric{Name: name, Emitted: name, Type: kind, Unit: unit, Labels: labels, Source: SourceStores, Since: EMR615, Help: help}
	}
	refused := func(name, unit, help string) Metric {
		m := s(name, Counter, unit, help, "reason", "tenant")
		m.OnlyIf = "the store refused something"
		return m
	}
	return []Metric{
		s("vm_rows_inserted_total", Counter, "{sample}", "Samples VictoriaMetrics took.", "type"),
		s("vm_rows_ignored_total", Counter, "{sample}", "Samples VictoriaMetrics refused.", "reason"),
		s("vm_new_timeseries_created_total", Counter, "{series}", "Series VictoriaMetrics had not seen before."),
		s("vm_free_disk_space_bytes", Gauge, "By", "Disk space left to VictoriaMetrics.", "path"),
		s("vl_rows_ingested_total", Counter, "{record}", "Log records VictoriaLogs took.", "type"),
		s("vl_rows_dropped_total", Counter, "{record}", "Log records VictoriaLogs refused.", "reason"),
		s("vl_free_disk_space_bytes", Gauge, "By", "Disk space left to VictoriaLogs.", "path"),
		s("tempo_distributor_spans_received_total", Counter, "{span}", "Spans Tempo took.", "tenant"),
		refused("tempo_discarded_spans_total", "{span}", "Spans Tempo refused."),
		s("tempo_ingester_failed_flushes_total", Counter, "{block}", "Blocks Tempo could not write to S3."),
		s(redelivery.MetricResent, Counter, "{request}", "Requests sent again to a store that ended before it had surely written them, or found to be there.", redelivery.LabelStore),
		s(redelivery.MetricRefused, Counter, "{request}", "Requests that a store refused when they were sent again: what they brought is lost.", redelivery.LabelStore),
		s(redelivery.MetricKept, Gauge, "By", "Compressed bytes that a store took and may not have written yet.", redelivery.LabelStore),
		refused("pyroscope_discarded_samples_total", "{sample}", "Profile samples Pyroscope refused."),
	}
}
