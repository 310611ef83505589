package overview

import (
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

func perRole() scope.Group { return scope.By(platform.NodeRole.Metric()) }

// perCollector keeps one series per collector; the control node's belongs to
// no cluster.
func perCollector() scope.Group {
	return scope.By(platform.NodeRole.Metric(), platform.HostName.Metric())
}

// yarnWarnings links from YARN's metrics to the warnings of its daemons.
func yarnWarnings() []panel.Link {
	return []panel.Link{links.Warnings("Warnings of the YARN daemons", platform.ServiceYARN)}
}

func health() panel.Row {
	return panel.Row{Title: "Health", Panels: []panel.Panel{
		panel.Stat(panel.Spec{
			Title: "Hosts by role", Unit: panel.UnitCount, Width: 4,
			Shows: "Hosts that reported metrics within the last minute, by role.",
			Bad:   "Fewer core or task hosts than the cluster requested.",
			Next:  "Find when the node was lost in \"Nodes by state\", then read its NodeManager log.",
		}, panel.Metrics(perRole().Count("max_over_time("+hosts().Metric("system_cpu_load_average_1m")+"[1m])"),
			panel.Legend(platform.NodeRole)).Instant()),
		bootstrapComponents(),
		panel.Stat(panel.Spec{
			Title: "YARN nodes", Unit: panel.UnitCount, Width: 4, Links: yarnWarnings(),
			Shows: "NodeManagers by state, as the ResourceManager counts them.",
			Bad:   "Any lost or unhealthy node. A node counts as lost ten minutes after its last heartbeat.",
			Next:  "Check \"File system usage\" for full disks, then read the NodeManager's log.",
		},
			daemon("sum("+clusters().Metric("cluster_metrics_num_active_n_ms")+")", "active").Instant(),
			daemon("sum("+clusters().Metric("cluster_metrics_num_lost_n_ms")+")", "lost").Instant(),
			daemon("sum("+clusters().Metric("cluster_metrics_num_unhealthy_n_ms")+")", "unhealthy").Instant()),
		panel.Stat(panel.Spec{
			Title: "Applications", Unit: panel.UnitCount, Width: 4,
			Shows: "YARN applications that are running, that are pending until their application master is allocated, and that failed in " +
				"the time range.",
			Bad:  "Applications pending for minutes, or any that failed.",
			Next: "Pending: read \"Containers\". Failed: read \"Warnings and errors\".",
		},
			daemon("sum("+rootQueue("queue_metrics_apps_running")+")", "running").Instant(),
			daemon("sum("+rootQueue("queue_metrics_apps_pending")+")", "pending").Instant(),
			daemon("sum("+scope.IncreaseInRange(rootQueue("queue_metrics_apps_failed_total"))+")", "failed").Instant()),
		panel.Stat(panel.Spec{
			Title: "Collector queues", Unit: panel.UnitShare, Width: 3, Limits: panel.StepsOf(rules.CollectorQueue),
			Shows: "Fill level of the fullest exporter queue, by role.",
			Bad: panel.Bad(rules.CollectorQueue, "{warn} or more: telemetry arrives late, and is dropped once the queue is full. "+
				"From {critical} on, act."),
			Next: "Read \"Collector queues by host\" to find the slow hop.",
		}, panel.Metrics(queueShare(perRole()), panel.Legend(platform.NodeRole)).Instant()),
		droppedTelemetry(),
		clustersByName(),
	}}
}

func bootstrapComponents() panel.Panel {
	// A node without a collector reports only once, so look back over the range.
	installed := "last_over_time(" + hosts().Metric(platform.MetricBootstrapUp) + "[$__range])"
	return panel.Stat(panel.Spec{
		Title: "Bootstrap components", Unit: panel.UnitNone, Width: 6, Limits: panel.Up(),
		Texts: []panel.Text{{Value: "1", Word: "up", Color: panel.Green}, {Value: "0", Word: "failed", Color: panel.Red}},
		Shows: "Whether the bootstrap action installed each component on every host.",
		Bad:   "\"failed\": at least one host lacks the component and the telemetry it produces.",
		Next:  "Read " + platform.NodeReportFile + " on the host, or the logs of service " + platform.ServiceBootstrap + ".",
	}, panel.Metrics(scope.By("component").Min(installed), "{{component}}").Instant())
}

// queueShare queries how full the fullest queue is, by the given labels.
func queueShare(by scope.Group) string {
	queue := append(perCollector(), "exporter")
	return by.Max(queue.Sum(scope.ControlNode().Metric("otelcol_exporter_queue_size")) + " / " +
		queue.Sum(scope.ControlNode().Metric("otelcol_exporter_queue_capacity")))
}

func droppedTelemetry() panel.Panel {
	dropped := scope.ControlNode().Metrics("otelcol_exporter_(enqueue|send)_failed_(spans|metric_points|log_records)_total")
	return panel.Stat(panel.Spec{
		Title: "Dropped telemetry", Unit: panel.UnitCount, Width: 3, Limits: panel.Any(panel.Red),
		Shows:            "Spans, metric points and log records that collectors dropped in the time range.",
		Bad:              "Any value above zero: dashboards and logs are incomplete.",
		Next:             "Read \"Refused and dropped\" in row \"Telemetry pipeline\".",
		EmptyWhenHealthy: "a full exporter queue, or a store that rejects data permanently.",
	}, panel.Metrics("sum("+scope.IncreaseInRange(dropped)+")", "dropped").Instant())
}

// clustersByName shows which ids a name stands for: the other panels' labels have ids.
func clustersByName() panel.Panel {
	info := clusters().Metric(platform.MetricClusterInfo)
	newest := "topk(1, tlast_over_time(" + info + "[$__range])) by (" + platform.Cluster.Metric() + ")"
	labels := []string{platform.LabelClusterName, platform.LabelClusterRelease, platform.LabelClusterState}
	return panel.Table(panel.Spec{
		Title: "Clusters", Unit: panel.UnitTime, Width: 24, Height: 5,
		Shows: "The clusters of the chosen names with the state that EMR last reported. A cluster that was replaced has another id.",
		Bad:   "TERMINATED_WITH_ERRORS.",
		Next:  "Read on the status page why it ended.",
	}, panel.Column{
		Title: "Last reported", Unit: panel.UnitTime, Query: panel.Metrics("1000 * "+scope.PerCluster(labels...).Max(newest), ""),
	})
}
