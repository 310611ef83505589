package overview

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

func trust() panel.Row {
	return panel.Row{Title: "Can this page be trusted?", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Queues of the collectors", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.WarnAt(queueWarn, queueBad), Links: hostLinks(),
			Description: panel.Description{
				Shows: "How full each collector's fullest queue on disk is.",
				Bad:   "On the nodes: the control node is slow or away. On the control node: a store is.",
				Next:  "Open the status page; nothing is lost before a queue is full.",
			},
		}, metrics(queueShare("node_role, host_name"), "{{host_name}} ({{node_role}})")),
		panel.TimeSeries(panel.Spec{
			Title: "Refused and lost", Unit: panel.UnitPerSecond, Width: 12, Links: hostLinks(),
			Description: panel.Description{
				Shows:            "Items that a collector refused to a source, gave up to send, or could not queue, per second.",
				Bad:              "Anything above zero: refused items come again, the others are lost.",
				Next:             "Read the collector's own lines in \"Warnings and errors\".",
				EmptyWhenHealthy: "a collector that is short of memory, whose queue is full, or whose next hop refuses the data.",
			},
		}, metrics(`sum by (node_role, host_name) (rate({__name__=~"otelcol_(exporter_(enqueue|send)_failed|receiver_refused)_(spans|metric_points|log_records)_total",CONTROL}[$__rate_interval]))`,
			"{{host_name}} ({{node_role}})")),
		panel.TimeSeries(panel.Spec{
			Title: "Taken by the collectors", Unit: panel.UnitPerSecond, Width: 12,
			Description: panel.Description{
				Shows: "Points, log records and spans that the collectors took, per second.",
				Bad:   "A kind that falls to nothing.",
				Next:  "Check \"Parts installed on the hosts\", then the node's collector.",
			},
		},
			metrics("sum by (node_role) (rate(otelcol_receiver_accepted_metric_points_total{CONTROL}[$__rate_interval]))", "points, {{node_role}}"),
			metrics("sum by (node_role) (rate(otelcol_receiver_accepted_log_records_total{CONTROL}[$__rate_interval]))", "log records, {{node_role}}"),
			metrics("sum by (node_role) (rate(otelcol_receiver_accepted_spans_total{CONTROL}[$__rate_interval]))", "spans, {{node_role}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Refused by the stores", Unit: panel.UnitPerSecond, Width: 12,
			Description: panel.Description{
				Shows:            "Samples, log records, spans, profile samples, and requests sent again after a store was killed, that a store did not take, per second.",
				Bad:              "Anything above zero.",
				Next:             "The reason is in the legend; read the store's log.",
				EmptyWhenHealthy: "a store that refuses what it is sent, such as labels that are too long or times too far back.",
			},
		},
			yarn("sum by (reason) (rate(vm_rows_ignored_total[$__rate_interval]))", "metrics: {{reason}}"),
			yarn("sum by (reason) (rate(vl_rows_dropped_total[$__rate_interval]))", "logs: {{reason}}"),
			yarn("sum by (reason) (rate(tempo_discarded_spans_total[$__rate_interval]))", "traces: {{reason}}"),
			yarn("sum by (reason) (rate(pyroscope_discarded_samples_total[$__rate_interval]))", "profiles: {{reason}}"),
			yarn("sum by (store) (rate(observatory_redelivery_refused_requests_total[$__rate_interval]))", "requests sent again to {{store}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Disk left to the stores", Unit: panel.UnitBytes, Width: 12,
			Description: panel.Description{
				Shows: "Free space on the control node's data volume, as the metric and log stores see it.",
				Bad:   fmt.Sprintf("A line that nears %d GiB: there the stores stop taking, the nodes keep their data, and this line ends.", platform.StoreReserveGiB),
				Next:  "Shorten the retention, or enlarge the data volume and start the control node again.",
			},
		},
			yarn("min(vm_free_disk_space_bytes)", "metrics"),
			yarn("min(vl_free_disk_space_bytes)", "logs")),
		panel.TimeSeries(panel.Spec{
			Title: "Taken by the stores", Unit: panel.UnitPerSecond, Width: 12,
			Description: panel.Description{
				Shows: "Samples, log records and spans stored per second, and series not seen before.",
				Bad:   "New series as fast as samples: a label changes with every start.",
				Next:  "Look for the label in the metric browser and drop it at the node's collector.",
			},
		},
			yarn("sum(rate(vm_rows_inserted_total[$__rate_interval]))", "samples"),
			yarn("sum(rate(vl_rows_ingested_total[$__rate_interval]))", "log records"),
			yarn("sum(rate(tempo_distributor_spans_received_total[$__rate_interval]))", "spans"),
			yarn("sum(rate(vm_new_timeseries_created_total[$__rate_interval]))", "new series")),
	}}
}
