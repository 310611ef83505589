package overview

import (
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/platform"
)

func hdfs() panel.Row {
	return panel.Row{Title: "HDFS and the daemons", Panels: []panel.Panel{
		hdfsSpace(), hdfsRemaining(), hdfsBlocks(), daemonHeap(), daemonPauses(),
	}}
}

func hdfsSpace() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "HDFS space", Unit: panel.UnitBytes, Width: 8, Stack: true,
		Description: panel.Description{
			Shows: "Space on the DataNodes' disks: taken by HDFS, taken by others, and left.",
			Bad:   "Others take most of it: shuffle and log files lie on the same disks.",
			Next:  "List HDFS by size with hdfs dfs -du -h /; write results to S3.",
		},
	},
		yarn("sum(fs_namesystem_capacity_used{CLUSTER})", "HDFS"),
		yarn("sum(fs_namesystem_capacity_used_non_dfs{CLUSTER})", "others"),
		yarn("sum(fs_namesystem_capacity_remaining{CLUSTER})", "left"))
}

func hdfsRemaining() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "HDFS space left", Unit: panel.UnitShare, Width: 8, Max: 1, Limits: panel.Below(hdfsLow, hdfsVeryLow),
		Description: panel.Description{
			Shows: "Share of HDFS's space that is left.",
			Bad:   "Less than a tenth: jobs fail that stage files on HDFS.",
			Next:  "Delete old staging folders, or add core nodes.",
		},
	}, yarn("sum by (cluster) (fs_namesystem_capacity_remaining{CLUSTER}) / sum by (cluster) (fs_namesystem_capacity_total{CLUSTER})", "{{cluster}}"))
}

func hdfsBlocks() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Blocks and DataNodes in trouble", Unit: panel.UnitCount, Width: 8, Limits: []panel.Limit{{Value: anyAtAll, Color: panel.Orange}},
		Links: []panel.Link{clusterLogs("Warnings of HDFS's daemons", platform.ServiceHDFS)},
		Description: panel.Description{
			Shows: "Blocks that are missing, corrupt or have too few replicas, and DataNodes and disks that failed.",
			Bad:   "Anything missing or corrupt; too few replicas is normal for a while after a node has gone.",
			Next:  "Run hdfs fsck / -list-corruptfileblocks, and read the DataNode's log.",
		},
	},
		yarn("sum(fs_namesystem_missing_blocks{CLUSTER})", "missing"),
		yarn("sum(fs_namesystem_corrupt_blocks{CLUSTER})", "corrupt"),
		yarn("sum(fs_namesystem_under_replicated_blocks{CLUSTER})", "too few replicas"),
		yarn("sum(fs_namesystem_num_dead_data_nodes{CLUSTER})", "dead DataNodes"),
		yarn("sum(fs_namesystem_volume_failures_total{CLUSTER})", "failed disks"))
}

func daemonHeap() panel.Panel {
	by := "max by (cluster, node_role, host_name, processname) "
	return panel.TimeSeries(panel.Spec{
		Title: "Heap of the daemons", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.WarnAt(shareHigh, shareFull), Links: hostLinks(),
		Description: panel.Description{
			Shows: "Heap in use of ResourceManager, NodeManagers, NameNode and DataNodes.",
			Bad:   "Above nine tenths for minutes: the daemon answers late, then not at all.",
			Next:  "Read the daemon's log; raise its heap with the yarn-env or hadoop-env classification.",
		},
	}, yarn(by+"(jvm_metrics_mem_heap_used_m{HOST}) / "+by+"(jvm_metrics_mem_heap_max_m{HOST})", "{{processname}} on {{host_name}}"))
}

func daemonPauses() panel.Panel {
	return panel.TimeSeries(panel.Spec{
		Title: "Garbage collection of the daemons", Unit: panel.UnitShare, Width: 12, Limits: panel.WarnAt(gcWarn, gcBad), Links: hostLinks(),
		Description: panel.Description{
			Shows: "Share of wall time that each daemon spent collecting garbage.",
			Bad:   "A tenth and more: heartbeats are missed, nodes seem lost.",
			Next:  "Compare with \"Heap of the daemons\".",
		},
	}, yarn("sum by (cluster, node_role, host_name, processname) (rate(jvm_metrics_gc_time_millis_total{HOST}[$__rate_interval])) / 1000",
		"{{processname}} on {{host_name}}"))
}
