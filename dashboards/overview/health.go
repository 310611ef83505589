package overview

import (
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

func health() panel.Row {
	return panel.Row{Title: "Is all well?", Panels: []panel.Panel{
		panel.Stat(panel.Spec{
			Title: "Hosts by role", Unit: panel.UnitCount, Width: 4,
			Description: panel.Description{
				Shows: "Hosts that reported their load within the last minute.",
				Bad:   "Fewer core or task hosts than the cluster was given.",
				Next:  "Read \"Nodes by state\" for when it went, then the NodeManager's log.",
			},
		}, metrics("count by (node_role) (max_over_time(system_cpu_load_average_1m{HOST}[1m]))", "{{node_role}}").Instant()),
		bootstrapParts(),
		panel.Stat(panel.Spec{
			Title: "YARN nodes", Unit: panel.UnitCount, Width: 4, Links: []panel.Link{clusterLogs("Warnings of YARN's daemons", platform.ServiceYARN)},
			Description: panel.Description{
				Shows: "NodeManagers as the ResourceManager counts them.",
				Bad:   "Any node lost or unhealthy; a node is lost ten minutes after its last word.",
				Next:  "Look for full disks under \"File systems\" and read the node's log.",
			},
		},
			yarn("sum(cluster_metrics_num_active_n_ms{CLUSTER})", "active").Instant(),
			yarn("sum(cluster_metrics_num_lost_n_ms{CLUSTER})", "lost").Instant(),
			yarn("sum(cluster_metrics_num_unhealthy_n_ms{CLUSTER})", "unhealthy").Instant()),
		panel.Stat(panel.Spec{
			Title: "Applications", Unit: panel.UnitCount, Width: 4,
			Description: panel.Description{
				Shows: "YARN applications running, waiting for a first container, and failed in the time range.",
				Bad:   "Applications that wait for minutes, or any that failed.",
				Next:  "Waiting: read \"Containers\". Failed: read \"Warnings and errors\".",
			},
		},
			yarn(`sum(queue_metrics_apps_running{CLUSTER,queue="root"})`, "running").Instant(),
			yarn(`sum(queue_metrics_apps_pending{CLUSTER,queue="root"})`, "waiting").Instant(),
			yarn(`sum(increase(queue_metrics_apps_failed_total{CLUSTER,queue="root"}[$__range]))`, "failed").Instant()),
		panel.Stat(panel.Spec{
			Title: "Collector queues", Unit: panel.UnitShare, Width: 3, Limits: panel.WarnAt(queueWarn, queueBad),
			Description: panel.Description{
				Shows: "How full the fullest queue of a role's collectors is.",
				Bad:   "A queue that fills: what it cannot hand on is late, and lost once it is full.",
				Next:  "Read \"Collector queues\" in the last row for which hop is slow.",
			},
		}, metrics(queueShare("node_role"), "{{node_role}}").Instant()),
		lostTelemetry(),
	}}
}

func bootstrapParts() panel.Panel {
	return panel.Stat(panel.Spec{
		Title: "Parts installed on the hosts", Unit: panel.UnitNone, Width: 6, Limits: panel.Below(1, 0.5),
		Texts: []panel.Text{{Value: "1", Word: "up", Color: panel.Green}, {Value: "0", Word: "failed", Color: panel.Red}},
		Description: panel.Description{
			Shows: "Whether the bootstrap action installed each part on every host.",
			Bad:   "\"failed\": on at least one host the part is missing, and so are its signals.",
			Next:  "Read " + platform.NodeReportFile + " on the host, or the logs of service " + platform.ServiceBootstrap + ".",
		},
	}, metrics("min by (component) (last_over_time("+platform.MetricBootstrapUp+"{HOST}[$__range]))", "{{component}}").Instant()) // a node without a collector tells once
}

// queueShare is how full the fullest queue is, by the given labels.
func queueShare(by string) string {
	return "max by (" + by + `) (sum by (node_role, host_name, exporter) (otelcol_exporter_queue_size{CONTROL})` +
		` / sum by (node_role, host_name, exporter) (otelcol_exporter_queue_capacity{CONTROL}))`
}

func lostTelemetry() panel.Panel {
	return panel.Stat(panel.Spec{
		Title: "Telemetry lost", Unit: panel.UnitCount, Width: 3, Limits: []panel.Limit{{Value: anyAtAll, Color: panel.Red}},
		Description: panel.Description{
			Shows:            "Spans, points and log records that a collector gave up in the time range.",
			Bad:              "Any number: this page then shows less than there was.",
			Next:             "Read \"Refused and lost\" in the last row.",
			EmptyWhenHealthy: "a full queue or a store that refuses what it is sent.",
		},
	}, metrics(`sum(increase({__name__=~"otelcol_exporter_(enqueue|send)_failed_(spans|metric_points|log_records)_total",CONTROL}[$__range]))`, "lost").Instant())
}
