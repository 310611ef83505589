package overview

import (
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

func pipeline() panel.Row {
	return panel.Row{Title: "Telemetry pipeline", Panels: slices.Concat(collectorPanels(), limitPanels(), storePanels())}
}

func collectorPanels() []panel.Panel {
	return []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Collector queues by host", Unit: panel.UnitShare, Width: 12, Max: 1,
			Limits: panel.StepsOf(rules.CollectorQueue), Links: hostLinks(),
			Shows: "Fill level of each collector's fullest exporter queue on disk.",
			Bad: panel.Bad(rules.CollectorQueue, "{warn} or more on nodes: the control node is slow or unreachable. On the control node: a "+
				"store is."),
			Next: "Open the status page. Nothing is dropped before a queue is full.",
		}, panel.Metrics(queueShare(perCollector()), hostLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "Refused and dropped", Unit: panel.UnitPerSecond, Width: 12, Links: hostLinks(),
			Shows: "Items per second that a receiver refused, or that an exporter dropped: its queue was full, or sending " +
				"failed for good.",
			Bad: "Any value above zero. Senders retry what was refused; what was dropped is lost.",
			Next: "Read the collector's log: journalctl -u " + platform.NodeCollectorUnit + " on a node, " +
				"kubectl logs on the control node.",
			EmptyWhenHealthy: "a collector that is out of memory, whose queue is full, or whose next hop rejects the data.",
		}, panel.Metrics(perCollector().Sum(scope.Rate(scope.ControlNode().Metrics(
			"otelcol_(exporter_(enqueue|send)_failed|receiver_refused)_(spans|metric_points|log_records)_total"))), hostLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "Accepted by collectors", Unit: panel.UnitPerSecond, Width: 12,
			Shows: "Metric points, log records and spans that collectors accepted, per second.",
			Bad:   "A signal that drops to zero.",
			Next:  "Check \"Bootstrap components\", then the node's collector.",
		},
			acceptedItems("metric_points", "metric points"),
			acceptedItems("log_records", "log records"),
			acceptedItems("spans", "spans")),
	}
}

// limitPanels show what each cluster has used of its limits, and what it has lost by them.
func limitPanels() []panel.Panel {
	bySender := scope.By(platform.Cluster.Metric(), platform.LimitSender, platform.LimitSignal)
	const legend = "{{" + platform.LimitSignal + "}} of {{cluster}}{{" + platform.LimitSender + "}}"
	return []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Used limits", Unit: panel.UnitShare, Width: 12, Max: 1,
			Shows: "Share of its hourly limits that each cluster has used, by signal.",
			Bad:   "A line that approaches the top: what the cluster sends beyond is refused.",
			Next:  "Find what sends so many, or raise the limit: seriesPerHour, logMiBPerHour, spansPerHour or profilesPerHour of limits.",
		}, daemon(bySender.Max(scope.ControlNode().Metric(platform.MetricLimitUsed)), legend)),
		panel.TimeSeries(panel.Spec{
			Title: "Refused beyond limits", Unit: panel.UnitPerSecond, Width: 12,
			Shows: "Data points, log records, spans and profiles per second that were refused because their cluster exceeded a limit, and " +
				"samples of new series that VictoriaMetrics refused because all clusters together have too many.",
			Bad:  "Any value above zero: what is refused is lost.",
			Next: "Find what sends so many, or raise the limit. For more series of all clusters, give some clusters a control node of their own.",
		},
			daemon(bySender.Sum(scope.Rate(scope.ControlNode().Metric(platform.MetricOverLimit))), legend),
			daemon("sum("+scope.Rate("vm_hourly_series_limit_rows_dropped_total")+")", "series of all in an hour"),
			daemon("sum("+scope.Rate("vm_daily_series_limit_rows_dropped_total")+")", "series of all in a day")),
	}
}

func storePanels() []panel.Panel {
	return []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Rejected by stores", Unit: panel.UnitPerSecond, Width: 12,
			Shows: "Samples, log records, spans and profile samples that a store rejected, per second, requests that it " +
				"rejected on replay after a crash, and requests of nodes that were not let through to Pyroscope.",
			Bad: "Any value above zero: what a store rejects is lost. Of what was not let through, \"busy\" is sent again, and " +
				"\"request\" is somebody who asked for more than to send a profile.",
			Next:             "Read the reason in the legend, and the store's log.",
			EmptyWhenHealthy: "a store that rejects data, such as labels that are too long or timestamps that are too old.",
		},
			daemon(scope.By("reason").Sum(scope.Rate("vm_rows_ignored_total")), "metrics: {{reason}}"),
			daemon(scope.By("reason").Sum(scope.Rate("vl_rows_dropped_total")), "logs: {{reason}}"),
			daemon(scope.By("reason").Sum(scope.Rate("tempo_discarded_spans_total")), "traces: {{reason}}"),
			daemon(scope.By("reason").Sum(scope.Rate("pyroscope_discarded_samples_total")), "profiles: {{reason}}"),
			daemon(scope.By("store").Sum(scope.Rate("observatory_redelivery_refused_requests_total")), "replayed requests: {{store}}"),
			daemon(scope.By("reason").Sum(scope.Rate("observatory_redelivery_refused_profiles_total")), "profiles not let through: {{reason}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Free disk space of stores", Unit: panel.UnitBytes, Width: 12,
			Shows: "Free space on the control node's data volume, as VictoriaMetrics and VictoriaLogs report it.",
			Bad: fmt.Sprintf("A line approaching %d GiB: there the stores refuse data, the nodes queue it, and this line ends.",
				platform.StoreReserveGiB()),
			Next: "Shorten the retention, or enlarge the data volume and restart the control node.",
		},
			daemon("min(vm_free_disk_space_bytes)", "VictoriaMetrics"),
			daemon("min(vl_free_disk_space_bytes)", "VictoriaLogs")),
		panel.TimeSeries(panel.Spec{
			Title: "Ingested by stores", Unit: panel.UnitPerSecond, Width: 12,
			Shows: "Samples, log records and spans ingested per second, and new series created.",
			Bad:   "As many new series as samples: a label changes with every start.",
			Next:  "Find the label in the metric browser and drop it at the node's collector.",
		},
			daemon("sum("+scope.Rate("vm_rows_inserted_total")+")", "samples"),
			daemon("sum("+scope.Rate("vl_rows_ingested_total")+")", "log records"),
			daemon("sum("+scope.Rate("tempo_distributor_spans_received_total")+")", "spans"),
			daemon("sum("+scope.Rate("vm_new_timeseries_created_total")+")", "new series")),
	}
}

// acceptedItems queries the items of one kind that collectors accept per second.
func acceptedItems(items, legend string) panel.Query {
	query := scope.ControlNode().Metric("otelcol_receiver_accepted_" + items + "_total")
	return panel.Metrics(perRole().Sum(scope.Rate(query)), legend+", "+panel.Legend(platform.NodeRole))
}
