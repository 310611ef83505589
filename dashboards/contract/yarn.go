package contract

import "strings"

// prom makes an entry of a Hadoop daemon's /prom. Names come from Hadoop's
// PrometheusMetricsSink, which splits "numActiveNMs" into "num_active_n_ms":
// they cannot be guessed, so a test holds them against what real daemons
// answer. VictoriaMetrics moves or adds a counter's "total" to the end.
func prom(source Source, since Release) func(name string, kind Type, unit, help string, labels ...string) Metric {
	return func(name string, kind Type, unit, help string, labels ...string) Metric {
		m := Metric{Name: name, Emitted: name, Type: kind, Unit: unit, Labels: labels, Source: source, Since: since, Help: help}
		if kind == Counter {
			m.Name = strings.ReplaceAll(name, "_total", "") + "_total"
		}
		return m
	}
}

// daemonMetrics are the figures every Hadoop daemon gives of its own JVM.
func daemonMetrics() []Metric {
	d := prom(SourceDaemons, EMR615)
	return []Metric{
		d("jvm_metrics_mem_heap_used_m", Gauge, "MiBy", "Heap in use by the daemon.", "processname"),
		d("jvm_metrics_mem_heap_max_m", Gauge, "MiBy", "Most heap the daemon may take.", "processname"),
		d("jvm_metrics_gc_time_millis", Counter, "ms", "Time the daemon spent collecting garbage.", "processname"),
		d("jvm_metrics_gc_total_extra_sleep_time", Counter, "ms", "Time the daemon was paused beyond what it asked for.", "processname"),
	}
}

func resourceManagerMetrics() []Metric {
	// The node's collector drops the rows that repeat a queue for each user.
	c, q := prom(SourceResourceManager, EMR615), prom(SourceResourceManager, EMR78)
	metrics := []Metric{
		c("cluster_metrics_num_active_n_ms", Gauge, "{node}", "NodeManagers that take containers."),
		c("cluster_metrics_num_lost_n_ms", Gauge, "{node}", "NodeManagers not heard of for ten minutes."),
		c("cluster_metrics_num_unhealthy_n_ms", Gauge, "{node}", "NodeManagers that report themselves unhealthy."),
		c("cluster_metrics_num_decommissioning_n_ms", Gauge, "{node}", "NodeManagers on their way out."),
		c("cluster_metrics_num_decommissioned_n_ms", Gauge, "{node}", "NodeManagers taken out on purpose."),
		c("cluster_metrics_num_rebooted_n_ms", Gauge, "{node}", "NodeManagers that came back under the same name."),
		c("cluster_metrics_num_shutdown_n_ms", Gauge, "{node}", "NodeManagers that signed off."),
		c("cluster_metrics_capability_mb", Gauge, "MiBy", "Memory of all NodeManagers."),
		c("cluster_metrics_capability_virtual_cores", Gauge, "{vcore}", "Virtual cores of all NodeManagers."),
		c("cluster_metrics_utilized_mb", Gauge, "MiBy", "Memory in use on the nodes, as measured."),
		c("cluster_metrics_utilized_virtual_cores", Gauge, "{vcore}", "Cores busy on the nodes, as measured."),
		c("cluster_metrics_am_launch_delay_avg_time", Gauge, "ms", "Mean time to launch an application master."),
		c("cluster_metrics_am_register_delay_avg_time", Gauge, "ms", "Mean time until an application master registers."),
	}
	for _, g := range []struct{ name, unit, help string }{
		{"apps_running", "{application}", "Applications running."},
		{"apps_pending", "{application}", "Applications waiting for their first container."},
		{"allocated_mb", "MiBy", "Memory given to containers."},
		{"allocated_v_cores", "{vcore}", "Virtual cores given to containers."},
		{"allocated_containers", "{container}", "Containers running."},
		{"available_mb", "MiBy", "Memory the queue may still give."},
		{"available_v_cores", "{vcore}", "Virtual cores the queue may still give."},
		{"pending_mb", "MiBy", "Memory asked for and not given."},
		{"pending_v_cores", "{vcore}", "Virtual cores asked for and not given."},
		{"pending_containers", "{container}", "Containers asked for and not given."},
		{"reserved_mb", "MiBy", "Memory held back for a container that does not fit yet."},
		{"used_am_resource_mb", "MiBy", "Memory of application masters; leaf queues only."},
		{"am_resource_limit_mb", "MiBy", "Most memory application masters may take; leaf queues only."},
	} {
		metrics = append(metrics, q("queue_metrics_"+g.name, Gauge, g.unit, g.help, "queue"))
	}
	for _, n := range []struct{ name, help string }{
		{"apps_submitted", "Applications submitted."},
		{"apps_completed", "Applications that ended well."},
		{"apps_failed", "Applications that failed."},
		{"apps_killed", "Applications killed."},
		{"aggregate_containers_allocated", "Containers given since start."},
		{"aggregate_containers_released", "Containers returned since start."},
	} {
		metrics = append(metrics, q("queue_metrics_"+n.name, Counter, "", n.help, "queue"))
	}
	return metrics
}

func nodeManagerMetrics() []Metric {
	n := prom(SourceNodeManager, EMR615)
	return []Metric{
		n("node_manager_metrics_containers_running", Gauge, "{container}", "Containers running on the node."),
		n("node_manager_metrics_containers_launched", Counter, "{container}", "Containers started on the node."),
		n("node_manager_metrics_containers_completed", Counter, "{container}", "Containers that ended well on the node."),
		n("node_manager_metrics_containers_failed", Counter, "{container}", "Containers that failed on the node."),
		n("node_manager_metrics_containers_killed", Counter, "{container}", "Containers killed on the node."),
		n("node_manager_metrics_allocated_gb", Gauge, "GiBy", "Memory given to containers, rounded up."),
		n("node_manager_metrics_available_gb", Gauge, "GiBy", "Memory left for containers, rounded down."),
		n("node_manager_metrics_allocated_v_cores", Gauge, "{vcore}", "Virtual cores given to containers."),
		n("node_manager_metrics_available_v_cores", Gauge, "{vcore}", "Virtual cores left for containers."),
		n("node_manager_metrics_bad_local_dirs", Gauge, "{directory}", "Local directories the NodeManager gave up."),
		n("node_manager_metrics_good_local_dirs_disk_utilization_perc", Gauge, "%", "Use of the good local directories' disks, 0 to 100."),
		n("node_manager_metrics_container_launch_duration_avg_time", Gauge, "ms", "Mean time to launch a container."),
	}
}

func nameNodeMetrics() []Metric {
	f := prom(SourceNameNode, EMR615)
	return []Metric{
		f("fs_namesystem_capacity_total", Gauge, "By", "Space of all DataNodes' disks."),
		f("fs_namesystem_capacity_used", Gauge, "By", "Space that HDFS blocks take."),
		f("fs_namesystem_capacity_remaining", Gauge, "By", "Space left for HDFS."),
		f("fs_namesystem_capacity_used_non_dfs", Gauge, "By", "Space on those disks that others take."),
		f("fs_namesystem_missing_blocks", Gauge, "{block}", "Blocks without any good replica."),
		f("fs_namesystem_corrupt_blocks", Gauge, "{block}", "Blocks with a corrupt replica."),
		f("fs_namesystem_under_replicated_blocks", Gauge, "{block}", "Blocks with fewer replicas than wanted."),
		f("fs_namesystem_num_live_data_nodes", Gauge, "{node}", "DataNodes that report."),
		f("fs_namesystem_num_dead_data_nodes", Gauge, "{node}", "DataNodes that stopped reporting."),
		f("fs_namesystem_volume_failures_total", Gauge, "{volume}", "Disks that failed on live DataNodes; a gauge in spite of its name."),
		f("rpc_rpc_queue_time_avg_time", Gauge, "ms", "Mean time a call waited in the NameNode's queue.", "port", "servername"),
		f("rpc_call_queue_length", Gauge, "{call}", "Calls waiting in the NameNode's queue.", "port", "servername"),
	}
}

func dataNodeMetrics() []Metric {
	d := prom(SourceDataNode, EMR615)
	return []Metric{
		d("datanode_bytes_read", Counter, "By", "Bytes read from the DataNode."),
		d("datanode_bytes_written", Counter, "By", "Bytes written to the DataNode."),
		d("datanode_volume_failures", Counter, "{volume}", "Disks that failed."),
		d("datanode_write_block_op_avg_time", Gauge, "ms", "Mean time to write a block."),
	}
}
