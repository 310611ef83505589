package contract

import "github.com/emr-observatory/emr-observatory/platform"

func bootstrapMetrics() []Metric {
	return []Metric{{
		Name: platform.MetricBootstrapUp, Emitted: platform.MetricBootstrapUp, Type: Gauge,
		Labels: []string{"component"}, Source: SourceBootstrap, Since: EMR615,
		Help: "1 where a component was installed and verified on the host, 0 where it was not.",
	}}
}

// hostMetrics returns the metrics of opentelemetry-collector-contrib,
// hostmetricsreceiver v0.149.0, with the opt-in metrics system.memory.limit,
// system.cpu.logical.count and system.linux.memory.available enabled.
func hostMetrics() []Metric {
	h := func(name, emitted string, kind Type, unit, help string, labels ...string) Metric {
		return Metric{Name: name, Emitted: emitted, Type: kind, Unit: unit, Labels: labels, Source: SourceHost, Since: EMR615, Help: help}
	}
	return []Metric{
		h("system_cpu_time_seconds_total", "system.cpu.time", Counter, "s", "CPU time by core and state.", "cpu", "state"),
		h("system_cpu_logical_count", "system.cpu.logical.count", Gauge, "{cpu}", "Logical cores of the host."),
		h("system_cpu_load_average_1m", "system.cpu.load_average.1m", Gauge, "{thread}", "Load average over one minute."),
		h("system_cpu_load_average_5m", "system.cpu.load_average.5m", Gauge, "{thread}", "Load average over five minutes."),
		h("system_cpu_load_average_15m", "system.cpu.load_average.15m", Gauge, "{thread}", "Load average over fifteen minutes."),
		h("system_memory_usage_bytes", "system.memory.usage", Gauge, "By",
			"Memory by state; the states overlap (cached holds slab), so never divide by their sum.", "state"),
		h("system_memory_limit_bytes", "system.memory.limit", Gauge, "By", "Memory of the host."),
		h("system_linux_memory_available_bytes", "system.linux.memory.available", Gauge, "By", "Memory available without swapping."),
		h("system_disk_io_bytes_total", "system.disk.io", Counter, "By", "Bytes read and written.", "device", "direction"),
		h("system_disk_operations_total", "system.disk.operations", Counter, "{operations}", "Reads and writes.", "device", "direction"),
		h("system_disk_operation_time_seconds_total", "system.disk.operation_time", Counter, "s", "Time spent in reads and writes.",
			"device", "direction"),
		h("system_disk_io_time_seconds_total", "system.disk.io_time", Counter, "s", "Time with at least one operation in flight.", "device"),
		h("system_disk_weighted_io_time_seconds_total", "system.disk.weighted_io_time", Counter, "s",
			"Time in flight times operations; its rate is the mean queue depth.", "device"),
		h("system_filesystem_usage_bytes", "system.filesystem.usage", Gauge, "By", "File system space by state.",
			"device", "mountpoint", "type", "mode", "state"),
		h("system_filesystem_inodes_usage", "system.filesystem.inodes.usage", Gauge, "{inodes}", "Inodes by state.",
			"device", "mountpoint", "type", "mode", "state"),
		h("system_network_io_bytes_total", "system.network.io", Counter, "By", "Bytes received and sent.", "device", "direction"),
		h("system_network_errors_total", "system.network.errors", Counter, "{errors}", "Packets with errors.", "device", "direction"),
		h("system_network_dropped_total", "system.network.dropped", Counter, "{packets}", "Packets dropped.", "device", "direction"),
		h("system_processes_count", "system.processes.count", Gauge, "{processes}", "Processes by status.", "status"),
	}
}

// collectorMetrics returns a collector's own metrics (platform.CollectorMetrics;
// v0.149.0; that endpoint strips unit and type suffixes, VictoriaMetrics adds
// _total).
func collectorMetrics() []Metric {
	c := func(name string, kind Type, help string, labels ...string) Metric {
		m := Metric{Name: name, Emitted: name, Type: kind, Labels: labels, Source: SourceCollector, Since: EMR615, Help: help}
		if kind == Counter {
			m.Name += "_total"
		}
		return m
	}
	metrics := []Metric{
		c("otelcol_exporter_queue_size", Gauge, "Size of an exporter's queue on disk, in bytes.", "exporter", "data_type"),
		c("otelcol_exporter_queue_capacity", Gauge, "Capacity of an exporter's queue on disk, in bytes.", "exporter", "data_type"),
		c("otelcol_process_memory_rss", Gauge, "Resident memory of the collector in bytes."),
	}
	for _, item := range []string{"spans", "metric_points", "log_records"} {
		failed := c("otelcol_exporter_send_failed_"+item, Counter, "Items dropped after sending failed for good.", "exporter")
		failed.OnlyIf = "the next hop rejected data permanently"
		full := c("otelcol_exporter_enqueue_failed_"+item, Counter, "Items dropped because the queue was full.", "exporter")
		full.OnlyIf = "a queue was full"
		metrics = append(metrics, failed, full,
			c("otelcol_exporter_sent_"+item, Counter, "Items sent to the next hop.", "exporter"),
			c("otelcol_receiver_accepted_"+item, Counter, "Items accepted from a source.", "receiver", "transport"),
			c("otelcol_receiver_refused_"+item, Counter, "Items refused to a source, which may retry.", "receiver", "transport"),
		)
	}
	return metrics
}
