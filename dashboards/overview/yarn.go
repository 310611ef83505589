package overview

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

// root selects the root queue: a parent's figures include its children's.
const root = `{CLUSTER,queue="root"}`

// workers are the roles with a NodeManager.
func workers() string {
	return platform.NodeRole.Metric() + `=~"` + strings.Join([]string{platform.RoleCore, platform.RoleTask}, "|") + `"`
}

func yarnRow() panel.Row {
	return panel.Row{Title: "YARN", Panels: []panel.Panel{
		yarnMemory(), yarnContainers(), yarnCores(), yarnApplications(), yarnMasters(), yarnNodes(), yarnFailures(),
	}}
}

func yarnMemory() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Memory", Unit: panel.UnitMebibytes, Width: 12,
		Description: panel.Description{
			Shows: "Memory that YARN has given, holds back and has left, beside what the nodes really use.",
			Bad:   "Much given and little used: the containers are larger than the work in them.",
			Next:  "Compare with \"Heap in use\" and make the executors smaller.",
		},
	},
		yarn("sum(queue_metrics_allocated_mb"+root+")", "given"),
		yarn("sum(queue_metrics_reserved_mb"+root+")", "held back"),
		yarn("sum(queue_metrics_available_mb"+root+")", "left"),
		yarn("sum(cluster_metrics_utilized_mb{CLUSTER})", "used on the nodes"))
}

func yarnContainers() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Containers", Unit: panel.UnitCount, Width: 12,
		Description: panel.Description{
			Shows: "Containers running and containers asked for but not given.",
			Bad:   "Waiting containers that stay while the number of nodes does not grow.",
			Next:  "Read \"Memory\" and \"Cores\" for which of the two is used up, then the scaling limits.",
		},
	},
		yarn("sum(queue_metrics_allocated_containers"+root+")", "running"),
		yarn("sum(queue_metrics_pending_containers"+root+")", "waiting"))
}

func yarnCores() panel.Panel {
	busy := `sum(rate(system_cpu_time_seconds_total{CLUSTER,` + workers() + `,state!~"idle|wait"}[$__rate_interval]))`
	return panel.TimeSeries(panel.Spec{
		Title: "Cores", Unit: panel.UnitCount, Width: 8,
		Description: panel.Description{
			Shows: "Virtual cores that YARN has given and has, beside the cores that were busy.",
			Bad:   "Few busy cores under many given ones; or far more busy than given, as the default resource calculator counts memory only.",
			Next:  "Trust the busy cores, and fit spark.executor.cores to them.",
		},
	},
		yarn("sum(queue_metrics_allocated_v_cores"+root+")", "given"),
		yarn("sum(cluster_metrics_capability_virtual_cores{CLUSTER})", "of all nodes"),
		metrics(busy, "busy"))
}

func yarnApplications() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Applications over time", Unit: panel.UnitCount, Width: 8,
		Description: panel.Description{
			Shows: "Applications running and waiting.",
			Bad:   "Applications waiting while memory is left.",
			Next:  "Read \"Application masters\": their share of the queue may be used up.",
		},
	},
		yarn("sum(queue_metrics_apps_running"+root+")", "running"),
		yarn("sum(queue_metrics_apps_pending"+root+")", "waiting"))
}

func yarnMasters() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Application masters", Unit: panel.UnitMilliseconds, Width: 8, Limits: panel.WarnAt(waitingWarn, waitingBad),
		Description: panel.Description{
			Shows: "Mean time to launch an application master, and until it registers.",
			Bad:   "Half a minute and more: a slow download of the application's files, or no room.",
			Next:  "Compare with \"Containers\"; if none wait, read the application master's log.",
		},
	},
		yarn("max(cluster_metrics_am_launch_delay_avg_time{CLUSTER})", "launch"),
		yarn("max(cluster_metrics_am_register_delay_avg_time{CLUSTER})", "register"))
}

func yarnNodes() panel.Panel {
	spec := panel.Spec{
		Title: "Nodes by state", Unit: panel.UnitCount, Width: 12, Stack: true,
		Description: panel.Description{
			Shows: "NodeManagers by what the ResourceManager thinks of them.",
			Bad:   "Nodes lost or unhealthy beyond a planned scale-in.",
			Next:  "Read \"File systems\" and the warnings of YARN's daemons.",
		},
		Links: []panel.Link{clusterLogs("Warnings of YARN's daemons", platform.ServiceYARN)},
	}
	var queries []panel.Query
	for _, state := range []string{"active", "lost", "unhealthy", "decommissioning", "decommissioned", "rebooted", "shutdown"} {
		queries = append(queries, yarn("sum(cluster_metrics_num_"+state+"_n_ms{CLUSTER})", state))
	}
	return panel.TimeSeries(spec, queries...)
}

func yarnFailures() panel.Panel {
	by := "sum by (cluster, node_role, host_name) (increase(node_manager_metrics_containers_%s_total{HOST}[$__rate_interval]))"
	return panel.TimeSeries(panel.Spec{
		Title: "Containers failed or killed", Unit: panel.UnitCount, Width: 12, Links: hostLinks(),
		Description: panel.Description{
			Shows: "Containers that ended badly on each node.",
			Bad:   "One node that stands out, or kills under memory pressure.",
			Next:  "Open the logs of that host; \"Memory in use\" shows whether it ran out.",
		},
	},
		yarn(strings.Replace(by, "%s", "failed", 1), "failed on {{host_name}}"),
		yarn(strings.Replace(by, "%s", "killed", 1), "killed on {{host_name}}"))
}
