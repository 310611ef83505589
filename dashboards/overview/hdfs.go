package overview

import (
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
)

func hdfs() panel.Row {
	return panel.Row{Title: "HDFS and daemons", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "HDFS capacity", Unit: panel.UnitBytes, Width: 8, Stack: true,
			Shows: "Capacity of the DataNodes' disks: used by HDFS, used by other files (non-DFS), and remaining.",
			Bad:   "Non-DFS files take most of it: shuffle and log files are on the same disks.",
			Next:  "List HDFS usage with hdfs dfs -du -h /; write results to S3.",
		},
			daemon("sum("+clusters().Metric("fs_namesystem_capacity_used")+")", "used"),
			daemon("sum("+clusters().Metric("fs_namesystem_capacity_used_non_dfs")+")", "non-DFS used"),
			daemon("sum("+clusters().Metric("fs_namesystem_capacity_remaining")+")", "remaining")),
		panel.TimeSeries(panel.Spec{
			Title: "HDFS remaining", Unit: panel.UnitShare, Width: 8, Max: 1, Limits: panel.StepsOf(rules.HDFSLow),
			Shows: "Remaining share of the HDFS capacity.",
			Bad:   panel.Bad(rules.HDFSLow, "Less than {warn}; below {critical}, jobs that stage files in HDFS fail."),
			Next:  "Delete old staging directories, or add core nodes.",
		}, daemon(scope.PerCluster().Sum(clusters().Metric("fs_namesystem_capacity_remaining"))+" / "+
			scope.PerCluster().Sum(clusters().Metric("fs_namesystem_capacity_total")), panel.Legend(platform.Cluster))),
		panel.TimeSeries(panel.Spec{
			Title: "Block and DataNode failures", Unit: panel.UnitCount, Width: 8, Limits: panel.Any(panel.Orange),
			Links: []panel.Link{links.Warnings("Warnings of the HDFS daemons", platform.ServiceHDFS)},
			Shows: "Missing, corrupt and under-replicated blocks, dead DataNodes and failed volumes.",
			Bad:   "Any missing or corrupt block. Under-replicated blocks are normal for a while after a node has gone.",
			Next:  "Run hdfs fsck / -list-corruptfileblocks, and read the DataNode's log.",
		},
			daemon("sum("+clusters().Metric("fs_namesystem_missing_blocks")+")", "missing blocks"),
			daemon("sum("+clusters().Metric("fs_namesystem_corrupt_blocks")+")", "corrupt blocks"),
			daemon("sum("+clusters().Metric("fs_namesystem_under_replicated_blocks")+")", "under-replicated blocks"),
			daemon("sum("+clusters().Metric("fs_namesystem_num_dead_data_nodes")+")", "dead DataNodes"),
			daemon("sum("+clusters().Metric("fs_namesystem_volume_failures_total")+")", "failed volumes")),
		daemonHeap(),
		panel.TimeSeries(panel.Spec{
			Title: "Daemon GC time", Unit: panel.UnitShare, Width: 12, Limits: panel.StepsOf(rules.JVMGC), Links: hostLinks(),
			Shows: "Share of wall time that each daemon spent in garbage collection.",
			Bad:   panel.Bad(rules.JVMGC, "{warn} or more; from {critical} on, heartbeats are missed, and nodes appear lost."),
			Next:  "Compare with \"Daemon heap usage\".",
		}, daemon(perDaemon().Sum(scope.Rate(hosts().Metric("jvm_metrics_gc_time_millis_total")))+" / 1000", daemonLegend)),
	}}
}

const daemonLegend = "{{processname}} on {{host_name}}"

func perDaemon() scope.Group { return scope.PerHost("processname") }

func daemonHeap() panel.Panel {
	heap := func(metric string) string { return perDaemon().Max(hosts().Metric(metric)) }
	return panel.TimeSeries(panel.Spec{
		Title: "Daemon heap usage", Unit: panel.UnitShare, Width: 12, Max: 1, Limits: panel.StepsOf(rules.Heap), Links: hostLinks(),
		Shows: "Used heap of ResourceManager, NodeManagers, NameNode and DataNodes as a share of their maximum heap.",
		Bad:   panel.Bad(rules.Heap, "{warn} or more; from {critical} on for minutes, the daemon responds slowly, then not at all."),
		Next:  "Read the daemon's log; raise its heap with the yarn-env or hadoop-env classification.",
	}, daemon(heap("jvm_metrics_mem_heap_used_m")+" / "+heap("jvm_metrics_mem_heap_max_m"), daemonLegend))
}
