package overview

import (
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

// rootQueue selects a queue metric of the root queue, which includes all
// others.
func rootQueue(metric string) string { return clusters().Metric(metric, scope.Equal("queue", "root")) }

// onWorkerNodes keeps a query's series of nodes with a NodeManager. Roles do not tell: the
// primary of a cluster of one node has one too.
func onWorkerNodes(query string) string {
	return query + " and on (" + platform.Cluster.Metric() + ", " + platform.HostName.Metric() + ") last_over_time(" +
		clusters().Metric("node_manager_metrics_containers_running") + "[5m])"
}

func yarnRow() panel.Row {
	return panel.Row{Title: "YARN", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "YARN memory", Unit: panel.UnitMebibytes, Width: 12,
			Shows: "Memory that YARN has allocated, reserved and available, beside the memory that the nodes use.",
			Bad:   "Much allocated but little used: containers are larger than their tasks need.",
			Next:  "Compare with \"Heap usage\" and lower spark.executor.memory.",
		},
			daemon("sum("+rootQueue("queue_metrics_allocated_mb")+")", "allocated"),
			daemon("sum("+rootQueue("queue_metrics_reserved_mb")+")", "reserved"),
			daemon("sum("+rootQueue("queue_metrics_available_mb")+")", "available"),
			daemon("sum("+clusters().Metric("cluster_metrics_utilized_mb")+")", "used (measured)")),
		panel.TimeSeries(panel.Spec{
			Title: "Containers", Unit: panel.UnitCount, Width: 12,
			Shows: "Containers that are allocated, and that are pending: requested but not allocated yet.",
			Bad:   "Containers that stay pending while no nodes are added.",
			Next:  "Read \"YARN memory\" and \"YARN vcores\" for which of the two is exhausted, then check the scaling limits.",
		},
			daemon("sum("+rootQueue("queue_metrics_allocated_containers")+")", "allocated"),
			daemon("sum("+rootQueue("queue_metrics_pending_containers")+")", "pending")),
		yarnCores(),
		panel.TimeSeries(panel.Spec{
			Title: "Applications over time", Unit: panel.UnitCount, Width: 8,
			Shows: "Applications that are running and pending.",
			Bad:   "Applications pending while memory is available.",
			Next:  "Check whether application masters have reached yarn.scheduler.capacity.maximum-am-resource-percent.",
		},
			daemon("sum("+rootQueue("queue_metrics_apps_running")+")", "running"),
			daemon("sum("+rootQueue("queue_metrics_apps_pending")+")", "pending")),
		panel.TimeSeries(panel.Spec{
			Title: "Application master delay", Unit: panel.UnitMilliseconds, Width: 8, Limits: panel.StepsOf(rules.MasterDelay),
			Shows: "Mean time to launch an application master, and until it registers with the ResourceManager.",
			Bad: panel.Bad(rules.MasterDelay, "{warn} or more: slow localization of the application's files, or no available resources. "+
				"From {critical} on, act."),
			Next: "Check \"Containers\" for pending ones; if there are none, read the application master's log.",
		},
			daemon("max("+clusters().Metric("cluster_metrics_am_launch_delay_avg_time")+")", "launch"),
			daemon("max("+clusters().Metric("cluster_metrics_am_register_delay_avg_time")+")", "register")),
		yarnNodes(),
		yarnFailures(),
	}}
}

func yarnCores() panel.Panel {
	busy := "sum(" + onWorkerNodes(scope.Rate(clusters().Metric("system_cpu_time_seconds_total", scope.NotMatch("state", "idle|wait")))) + ")"
	return panel.TimeSeries(panel.Spec{
		Title: "YARN vcores", Unit: panel.UnitCount, Width: 8,
		Shows: "Vcores allocated and in total, beside the CPU cores that were busy.",
		Bad: "Few busy cores for many allocated vcores; or many more busy than allocated, since YARN's default resource calculator " +
			"counts memory only.",
		Next: "Go by the busy cores, and set spark.executor.cores accordingly.",
	},
		daemon("sum("+rootQueue("queue_metrics_allocated_v_cores")+")", "allocated"),
		daemon("sum("+clusters().Metric("cluster_metrics_capability_virtual_cores")+")", "total"),
		panel.Metrics(busy, "busy (measured)"))
}

func yarnNodes() panel.Panel {
	spec := panel.Spec{
		Title: "Nodes by state", Unit: panel.UnitCount, Width: 12, Stack: true,
		Shows: "NodeManagers by state, as the ResourceManager counts them.",
		Bad:   "Lost or unhealthy nodes that no planned scale-in explains.",
		Next:  "Check \"File system usage\", then open the warnings of the YARN daemons.",
		Links: yarnWarnings(),
	}
	var queries []panel.Query
	for _, state := range []string{"active", "lost", "unhealthy", "decommissioning", "decommissioned", "rebooted", "shutdown"} {
		queries = append(queries, daemon("sum("+clusters().Metric("cluster_metrics_num_"+state+"_n_ms")+")", state))
	}
	return panel.TimeSeries(spec, queries...)
}

func yarnFailures() panel.Panel {
	containers := func(outcome string) string {
		return scope.PerHost().Sum(scope.Increase(hosts().Metric("node_manager_metrics_containers_" + outcome + "_total")))
	}
	return panel.TimeSeries(panel.Spec{
		Title: "Failed and killed containers", Unit: panel.UnitCount, Width: 12, Links: hostLinks(),
		Shows: "Containers that failed or were killed, by node.",
		Bad:   "One node with many more than the others, or kills while its memory is full.",
		Next:  "Open the host's logs; \"Memory usage\" shows whether it ran out of memory.",
	},
		daemon(containers("failed"), "failed on {{host_name}}"),
		daemon(containers("killed"), "killed on {{host_name}}"))
}
