package overview

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/rules"
)

const hostLegend = "{{host_name}} ({{node_role}})"

// disks excludes partitions and loop devices, which would count twice.
func disks() scope.Filter {
	return scope.NotMatch("device", `loop.*|ram.*|dm-.*|nvme\d+n\d+p\d+|xvd[a-z]+\d+|sd[a-z]+\d+|vd[a-z]+\d+`)
}

// interfaces excludes virtual ones, whose traffic counts twice or stays on the host.
func interfaces() scope.Filter {
	return scope.NotMatch("device", "lo|docker.*|veth.*|cni.*|flannel.*|br-.*")
}

// diskRate queries the increase per second of a disk counter.
func diskRate(metric string) string { return scope.Rate(hosts().Metric(metric, disks())) }

// interfaceRate queries the increase per second of a network counter.
func interfaceRate(metric string) string { return scope.Rate(hosts().Metric(metric, interfaces())) }

// cpuShare queries the share of CPU time in the given states.
func cpuShare(states string) string {
	const metric = "system_cpu_time_seconds_total"
	return scope.PerHost().Sum(scope.Rate(hosts().Metric(metric, scope.Match("state", states)))) + " / " +
		scope.PerHost().Sum(scope.Rate(hosts().Metric(metric)))
}

func cpuBusy() string { return "1 - (" + cpuShare("idle|wait") + ")" }

func memoryShare() string {
	return scope.PerHost().Max(hosts().Metric("system_memory_usage_bytes", scope.Equal("state", "used"))) + " / " +
		scope.PerHost().Max(hosts().Metric("system_memory_limit_bytes"))
}

func loadPerCore() string {
	return scope.PerHost().Max(hosts().Metric("system_cpu_load_average_5m")) + " / " +
		scope.PerHost().Max(hosts().Metric("system_cpu_logical_count"))
}

// spaceShare queries file system usage by mount point. Reserved blocks count as
// used, as they do in YARN's disk check.
func spaceShare() string {
	space := func(more ...scope.Filter) string {
		filters := append([]scope.Filter{
			scope.NotMatch("type", "tmpfs|devtmpfs|squashfs|proc|sysfs"), // hold no files on disk
			scope.Equal("mode", "rw"),
		}, more...)
		return scope.PerHost("mountpoint").Sum(hosts().Metric("system_filesystem_usage_bytes", filters...))
	}
	return "1 - " + space(scope.Equal("state", "free")) + " / " + space()
}

func hostRow() panel.Row {
	return panel.Row{Title: "Hosts", Panels: slices.Concat(processorPanels(), diskPanels(), networkPanels())}
}

func processorPanels() []panel.Panel {
	return []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "CPU usage", Unit: panel.UnitShare, Width: 12, Max: 1, Links: hostLinks(),
			Shows: "Share of CPU time spent neither idle nor in I/O wait.",
			Bad:   "Low usage while containers are pending. High usage is what you pay for.",
			Next:  "Open the CPU profile of the host's JVMs to see which code runs.",
		}, panel.Metrics(cpuBusy(), hostLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "Load per core", Unit: panel.UnitCount, Width: 12, Limits: panel.StepsOf(rules.LoadPerCore), Links: hostLinks(),
			Shows: "Load average over five minutes divided by the number of cores.",
			Bad:   panel.Bad(rules.LoadPerCore, "{warn} the cores or more: tasks queue for CPU or disk. From {critical} on, act."),
			Next:  "Lower spark.executor.cores, or request as many vcores per container as it uses.",
		}, panel.Metrics(loadPerCore(), hostLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "I/O wait and steal", Unit: panel.UnitShare, Width: 12, Limits: panel.StepsOf(rules.IOWait), Links: hostLinks(),
			Shows: "Share of CPU time spent waiting for I/O, and taken by the hypervisor (steal).",
			Bad: panel.Bad(rules.IOWait, "{warn} I/O wait or more: a disk is the bottleneck; from {critical} on, act. Any steal: the instance "+
				"has used up its CPU credits."),
			Next: "Read \"Disk latency\"; for steal, choose another instance type.",
		},
			panel.Metrics(cpuShare("wait"), "I/O wait: "+hostLegend),
			panel.Metrics(cpuShare("steal"), "steal: "+hostLegend)),
		panel.TimeSeries(panel.Spec{
			Title: "Memory usage", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.StepsOf(rules.HostMemory), Links: hostLinks(),
			Shows: "Memory in use as a share of the host's memory, without the page cache.",
			Bad:   panel.Bad(rules.HostMemory, "{warn} or more; from {critical} on, the kernel's OOM killer is about to kill a process."),
			Next:  "Add up executor memory and memoryOverhead of the host's containers, and lower one of them.",
		}, panel.Metrics(memoryShare(), hostLegend)),
	}
}

func diskPanels() []panel.Panel {
	return []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "File system usage", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.StepsOf(rules.DiskFull), Links: hostLinks(),
			Shows: "Used space by mount point. Reserved blocks count as used, as in YARN's own disk check.",
			Bad:   panel.Bad(rules.DiskFull, "{warn} or more; at {critical} YARN marks the directory as bad, and EMR may replace the node."),
			Next:  "Look for shuffle and log files under /mnt; delete some, or give the nodes larger volumes.",
		}, panel.Metrics(spaceShare(), "{{host_name}} {{mountpoint}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Disk queue depth", Unit: panel.UnitCount, Width: 12, Links: hostLinks(),
			Shows: "Mean number of I/O operations in flight, by disk.",
			Bad:   "More than about ten for minutes on one disk.",
			Next:  "Compare with \"Disk latency\"; raise the volume's IOPS or add volumes.",
		}, panel.Metrics(scope.PerHost("device").Sum(diskRate("system_disk_weighted_io_time_seconds_total")),
			"{{host_name}} {{device}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Disk latency", Unit: panel.UnitSeconds, Width: 12, Limits: panel.StepsOf(rules.DiskLatency), Links: hostLinks(),
			Shows: "Mean time of a read or write, by disk, while there were any.",
			Bad:   panel.Bad(rules.DiskLatency, "{warn} or more: shuffle reads and writes wait for the disk. From {critical} on, act."),
			Next:  "Compare \"Disk throughput\" with the limit of the volume type.",
		}, panel.Metrics(scope.PerHost("device").Sum(diskRate("system_disk_operation_time_seconds_total"))+" / ("+
			scope.PerHost("device").Sum(diskRate("system_disk_operations_total"))+" > 0)", "{{host_name}} {{device}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Disk throughput", Unit: panel.UnitBytesPerSec, Width: 12, Links: hostLinks(),
			Shows: "Bytes read and written per second, by host.",
			Bad:   "A flat line at the volume's throughput limit.",
			Next:  "Look for spills in the application's logs; more memory per task avoids them.",
		}, panel.Metrics(scope.PerHost("direction").Sum(diskRate("system_disk_io_bytes_total")),
			"{{host_name}} {{direction}}")),
	}
}

func networkPanels() []panel.Panel {
	return []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Network traffic", Unit: panel.UnitBitsPerSecond, Width: 12, Links: hostLinks(),
			Shows: "Bits received and transmitted per second, by host.",
			Bad:   "A flat line at the bandwidth of the instance type.",
			Next:  "Compare with \"S3 throughput\" to separate S3 from shuffle traffic, then choose an instance type with more bandwidth.",
		}, panel.Metrics("8 * "+scope.PerHost("direction").Sum(interfaceRate("system_network_io_bytes_total")),
			"{{host_name}} {{direction}}")),
		panel.TimeSeries(panel.Spec{
			Title: "Network drops and errors", Unit: panel.UnitPerSecond, Width: 12, Links: hostLinks(),
			Shows: "Packets dropped, and packets with errors, per second.",
			Bad:   "A rate that stays above zero.",
			Next:  "Check the instance's network allowance; replace the host if no other host is affected.",
		},
			panel.Metrics(scope.PerHost().Sum(interfaceRate("system_network_dropped_total")), "dropped: "+hostLegend),
			panel.Metrics(scope.PerHost().Sum(interfaceRate("system_network_errors_total")), "errors: "+hostLegend)),
		panel.Table(panel.Spec{
			Title: "All hosts", Unit: panel.UnitShare, Width: 24, Links: links.Host(links.Overview, panel.Cell),
			Shows: "Latest values of every host, one row each.",
			Bad:   "A row that differs from the others with the same role.",
			Next:  "Select that host at the top, or open its logs and profile from the row.",
		},
			shareColumn("CPU usage", cpuBusy(), nil),
			shareColumn("I/O wait", cpuShare("wait"), panel.StepsOf(rules.IOWait)),
			panel.Column{
				Title: "Load per core", Unit: panel.UnitCount, Query: panel.Metrics(loadPerCore(), ""), Limits: panel.StepsOf(rules.LoadPerCore),
			},
			shareColumn("Memory usage", memoryShare(), panel.StepsOf(rules.HostMemory)),
			shareColumn("Fullest file system", scope.PerHost().Max(spaceShare()), panel.StepsOf(rules.DiskFull)),
			nodeManagerColumn("Containers", "node_manager_metrics_containers_running", nil),
			nodeManagerColumn("Bad local directories", "node_manager_metrics_bad_local_dirs", panel.Any(panel.Red))),
	}
}

func shareColumn(title, query string, steps []panel.Limit) panel.Column {
	return panel.Column{Title: title, Unit: panel.UnitShare, Query: panel.Metrics(query, ""), Limits: steps}
}

func nodeManagerColumn(title, metric string, steps []panel.Limit) panel.Column {
	query := daemon(scope.PerHost().Max(hosts().Metric(metric)), "")
	return panel.Column{Title: title, Unit: panel.UnitCount, Query: query, Limits: steps}
}
