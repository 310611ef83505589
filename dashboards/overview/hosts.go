package overview

import "github.com/emr-observatory/emr-observatory/dashboards/panel"

const (
	// perHost groups by all labels of a host, so that links can name them.
	perHost = "sum by (cluster, node_role, host_name)"
	// worst is the same for values of which the largest counts.
	worst      = "max by (cluster, node_role, host_name)"
	hostLegend = "{{host_name}} ({{node_role}})"
	// disks leaves out partitions and loop devices, which would count twice.
	disks = `device!~"loop.*|ram.*|dm-.*|nvme\\d+n\\d+p\\d+|xvd[a-z]+\\d+|sd[a-z]+\\d+|vd[a-z]+\\d+"`
	// fileSystems leaves out what holds no files of its own.
	fileSystems = `type!~"tmpfs|devtmpfs|squashfs|proc|sysfs",mode="rw"`
)

func cpuShare(states string) string {
	return perHost + ` (rate(system_cpu_time_seconds_total{HOST,state=~"` + states + `"}[$__rate_interval])) / ` +
		perHost + ` (rate(system_cpu_time_seconds_total{HOST}[$__rate_interval]))`
}

// Queries that the graphs and the table of hosts share.
const (
	memoryShare = worst + ` (system_memory_usage_bytes{HOST,state="used"}) / ` + worst + ` (system_memory_limit_bytes{HOST})`
	loadPerCore = worst + ` (system_cpu_load_average_1m{HOST}) / ` + worst + ` (system_cpu_logical_count{HOST})`
	// spaceShare counts the reserve as used, as YARN's disk check does.
	spaceShare = `1 - sum by (cluster, node_role, host_name, mountpoint) (system_filesystem_usage_bytes{HOST,` + fileSystems + `,state="free"}) / ` +
		`sum by (cluster, node_role, host_name, mountpoint) (system_filesystem_usage_bytes{HOST,` + fileSystems + `})`
)

func hosts() panel.Row {
	return panel.Row{Title: "Hosts", Panels: []panel.Panel{
		hostCPU(), hostLoad(), hostWait(), hostMemory(), hostSpace(), diskBusy(), diskLatency(), diskBytes(), network(), networkErrors(), hostTable(),
	}}
}

func hostCPU() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "CPU busy", Unit: panel.UnitShare, Width: 12, Max: 1, Links: hostLinks(),
		Description: panel.Description{
			Shows: "Share of a host's CPU time that was neither idle nor waiting for a disk.",
			Bad:   "Low while containers wait; high is what you pay for.",
			Next:  "Open the CPU profile of the host's JVMs to see which code it is.",
		},
	}, metrics("1 - ("+cpuShare("idle|wait")+")", hostLegend))
}

func hostLoad() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Load per core", Unit: panel.UnitCount, Width: 12, Limits: panel.WarnAt(loadWarn, loadBad), Links: hostLinks(),
		Description: panel.Description{
			Shows: "Threads that run or want to, per core.",
			Bad:   "More than two per core for minutes: tasks wait for each other.",
			Next:  "Give executors fewer cores, or containers as many virtual cores as they use.",
		},
	}, metrics(loadPerCore, hostLegend))
}

func hostWait() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "CPU waiting and stolen", Unit: panel.UnitShare, Width: 12, Limits: panel.WarnAt(waitWarn, waitBad), Links: hostLinks(),
		Description: panel.Description{
			Shows: "Share of CPU time spent waiting for disks, and taken by the hypervisor.",
			Bad:   "More than a tenth waiting: a disk holds the work up. Any steal: the instance's credits are used up.",
			Next:  "Read \"Disk time per operation\"; for steal choose another instance type.",
		},
	},
		metrics(cpuShare("wait"), "waiting: "+hostLegend),
		metrics(cpuShare("steal"), "stolen: "+hostLegend))
}

func hostMemory() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Memory in use", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.WarnAt(shareFull, 0.95), Links: hostLinks(),
		Description: panel.Description{
			Shows: "Memory that cannot be had without swapping, as a share of the host's.",
			Bad:   "Above nine tenths: the kernel soon kills a process.",
			Next:  "Sum up executor memory and overhead of the host's containers; lower one of the two.",
		},
	}, metrics(memoryShare, hostLegend))
}

func hostSpace() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "File systems", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.WarnAt(diskWarn, diskBad), Links: hostLinks(),
		Description: panel.Description{
			Shows: "Space in use by mount point; the reserve counts as used, as in YARN's own check.",
			Bad:   "At nine tenths YARN gives the directory up, and EMR may replace the node.",
			Next:  "Look for shuffle and log files under /mnt; clean, or give the nodes larger volumes.",
		},
	}, metrics(spaceShare, "{{host_name}} {{mountpoint}}"))
}

func diskBusy() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Disk queue", Unit: panel.UnitCount, Width: 12, Links: hostLinks(),
		Description: panel.Description{
			Shows: "Mean number of operations in flight by disk.",
			Bad:   "More than about ten for minutes on one disk.",
			Next:  "Compare with \"Disk time per operation\"; raise the volume's IOPS or use more volumes.",
		},
	}, metrics("sum by (cluster, node_role, host_name, device) (rate(system_disk_weighted_io_time_seconds_total{HOST,"+disks+"}[$__rate_interval]))",
		"{{host_name}} {{device}}"))
}

func diskLatency() panel.Panel {
	by := "sum by (cluster, node_role, host_name, device) "
	return panel.TimeSeries(panel.Spec{
		Title: "Disk time per operation", Unit: panel.UnitSeconds, Width: 12, Limits: panel.WarnAt(latencyWarn, latencyBad), Links: hostLinks(),
		Description: panel.Description{
			Shows: "Mean time of a read or write by disk, while there were any.",
			Bad:   "A tenth of a second and more: shuffle files wait for the disk.",
			Next:  "Check the volume type's throughput against \"Disk bytes\".",
		},
	}, metrics(by+"(rate(system_disk_operation_time_seconds_total{HOST,"+disks+"}[$__rate_interval])) / ("+
		by+"(rate(system_disk_operations_total{HOST,"+disks+"}[$__rate_interval])) > 0)", "{{host_name}} {{device}}"))
}

func diskBytes() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Disk bytes", Unit: panel.UnitBytesPerSec, Width: 12, Links: hostLinks(),
		Description: panel.Description{
			Shows: "Bytes read from and written to a host's disks per second.",
			Bad:   "A flat line at the volume's throughput limit.",
			Next:  "Look for spills in the application's logs; more memory per task avoids them.",
		},
	}, metrics("sum by (cluster, node_role, host_name, direction) (rate(system_disk_io_bytes_total{HOST,"+disks+"}[$__rate_interval]))",
		"{{host_name}} {{direction}}"))
}

// interfaces leaves out those that only repeat or never leave the host.
const interfaces = `device!~"lo|docker.*|veth.*|cni.*|flannel.*|br-.*"`

func network() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Network", Unit: panel.UnitBitsPerSecond, Width: 12, Links: hostLinks(),
		Description: panel.Description{
			Shows: "Bits received and sent by host per second.",
			Bad:   "A flat line at the instance type's bandwidth.",
			Next:  "Shuffle or S3? The application's S3 panels tell. Then choose a type with more bandwidth.",
		},
	}, metrics("8 * sum by (cluster, node_role, host_name, direction) (rate(system_network_io_bytes_total{HOST,"+interfaces+"}[$__rate_interval]))",
		"{{host_name}} {{direction}}"))
}

func networkErrors() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Packets dropped or broken", Unit: panel.UnitPerSecond, Width: 12, Links: hostLinks(),
		Description: panel.Description{
			Shows: "Packets that an interface dropped or received with errors, per second.",
			Bad:   "Anything that stays above zero.",
			Next:  "Check the instance's network allowance; replace the host if it is the only one.",
		},
	},
		metrics(perHost+" (rate(system_network_dropped_total{HOST,"+interfaces+"}[$__rate_interval]))", "dropped: "+hostLegend),
		metrics(perHost+" (rate(system_network_errors_total{HOST,"+interfaces+"}[$__rate_interval]))", "broken: "+hostLegend))
}

func hostTable() panel.Panel {
	return panel.Table(panel.Spec{
		Title: "All hosts", Unit: panel.UnitShare, Width: 24, Links: hostLinksBy(panel.Cell),
		Description: panel.Description{
			Shows: "The latest figures of every host, one row each.",
			Bad:   "One row that differs from the others of its role.",
			Next:  "Choose that host above, or open its logs and profile from the row.",
		},
	},
		panel.Column{Title: "CPU busy", Unit: panel.UnitShare, Query: metrics("1 - ("+cpuShare("idle|wait")+")", "")},
		panel.Column{Title: "CPU waiting", Unit: panel.UnitShare, Query: metrics(cpuShare("wait"), ""), Limits: panel.WarnAt(waitWarn, waitBad)},
		panel.Column{Title: "Load per core", Unit: panel.UnitCount, Query: metrics(loadPerCore, ""), Limits: panel.WarnAt(loadWarn, loadBad)},
		panel.Column{Title: "Memory in use", Unit: panel.UnitShare, Query: metrics(memoryShare, ""), Limits: panel.WarnAt(shareFull, 0.95)},
		panel.Column{Title: "Fullest file system", Unit: panel.UnitShare, Query: metrics(worst+" ("+spaceShare+")", ""), Limits: panel.WarnAt(diskWarn, diskBad)},
		panel.Column{Title: "Containers", Unit: panel.UnitCount, Query: yarn(worst+" (node_manager_metrics_containers_running{HOST})", "")},
		panel.Column{Title: "Bad directories", Unit: panel.UnitCount, Query: yarn(worst+" (node_manager_metrics_bad_local_dirs{HOST})", ""),
			Limits: []panel.Limit{{Value: anyAtAll, Color: panel.Red}}})
}
