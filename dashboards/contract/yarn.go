package contract

import "strings"

// prom returns a function that creates entries of a Hadoop daemon's /prom. Names come
// from Hadoop's PrometheusMetricsSink, which splits "numActiveNMs" into
// "num_active_n_ms"; a test compares them with those of real daemons.
// VictoriaMetrics moves or adds a counter's "total" to the end.
func prom(source Source, since Release) func(name string, kind Type, unit, help string, labels ...string) Metric {
	return func(name string, kind Type, unit, help string, labels ...string) Metric {
		m := Metric{Name: name, Emitted: name, Type: kind, Unit: unit, Labels: labels, Source: source, Since: since, Help: help}
		if kind == Counter {
			m.Name = strings.ReplaceAll(name, "_total", "") + "_total"
		}
		return m
	}
}

// daemonMetrics returns what every Hadoop daemon reports about its own JVM.
func daemonMetrics() []Metric {
	d := prom(SourceDaemons, EMR615)
	return []Metric{
		d("jvm_metrics_mem_heap_used_m", Gauge, "MiBy", "Used heap of the daemon.", "processname"),
		d("jvm_metrics_mem_heap_max_m", Gauge, "MiBy", "Maximum heap of the daemon.", "processname"),
		d("jvm_metrics_gc_time_millis", Counter, "ms", "Time the daemon spent in garbage collection.", "processname"),
		d("jvm_metrics_gc_total_extra_sleep_time", Counter, "ms",
			"Time the daemon was paused beyond the sleep it requested (JvmPauseMonitor).", "processname"),
	}
}

func resourceManagerMetrics() []Metric {
	// The node's collector drops the rows that repeat a queue for each user.
	c, q := prom(SourceResourceManager, EMR615), prom(SourceResourceManager, EMR78)
	metrics := []Metric{
		c("cluster_metrics_num_active_n_ms", Gauge, "{node}", "Active NodeManagers."),
		c("cluster_metrics_num_lost_n_ms", Gauge, "{node}", "NodeManagers without a heartbeat for ten minutes."),
		c("cluster_metrics_num_unhealthy_n_ms", Gauge, "{node}", "NodeManagers that report themselves unhealthy."),
		c("cluster_metrics_num_decommissioning_n_ms", Gauge, "{node}", "NodeManagers being decommissioned."),
		c("cluster_metrics_num_decommissioned_n_ms", Gauge, "{node}", "Decommissioned NodeManagers."),
		c("cluster_metrics_num_rebooted_n_ms", Gauge, "{node}", "NodeManagers that restarted under the same name."),
		c("cluster_metrics_num_shutdown_n_ms", Gauge, "{node}", "NodeManagers that shut down."),
		c("cluster_metrics_capability_mb", Gauge, "MiBy", "Memory of all NodeManagers."),
		c("cluster_metrics_capability_virtual_cores", Gauge, "{vcore}", "Vcores of all NodeManagers."),
		c("cluster_metrics_utilized_mb", Gauge, "MiBy", "Memory used on the nodes, as measured."),
		c("cluster_metrics_utilized_virtual_cores", Gauge, "{vcore}", "Cores used on the nodes, as measured."),
		c("cluster_metrics_am_launch_delay_avg_time", Gauge, "ms", "Mean time to launch an application master."),
		c("cluster_metrics_am_register_delay_avg_time", Gauge, "ms", "Mean time until an application master registers."),
	}
	const labelled = " Of nodes with a label, another series, with the label partition."
	for _, g := range []struct{ name, unit, help string }{
		{"apps_running", "{application}", "Applications running."},
		{"apps_pending", "{application}", "Applications waiting for their application master."},
		{"allocated_mb", "MiBy", "Memory allocated to containers." + labelled},
		{"allocated_v_cores", "{vcore}", "Vcores allocated to containers." + labelled},
		{"allocated_containers", "{container}", "Allocated containers." + labelled},
		{"available_mb", "MiBy", "Memory available to the queue." + labelled},
		{"available_v_cores", "{vcore}", "Vcores available to the queue." + labelled},
		{"pending_mb", "MiBy", "Memory requested and not allocated yet." + labelled},
		{"pending_v_cores", "{vcore}", "Vcores requested and not allocated yet." + labelled},
		{"pending_containers", "{container}", "Containers requested and not allocated yet." + labelled},
		{"reserved_mb", "MiBy", "Memory reserved for a container that does not fit yet." + labelled},
		{"used_am_resource_mb", "MiBy", "Memory of application masters; leaf queues only."},
		{"am_resource_limit_mb", "MiBy", "Limit of the application masters' memory; leaf queues only."},
	} {
		metrics = append(metrics, q("queue_metrics_"+g.name, Gauge, g.unit, g.help, "queue"))
	}
	for _, n := range []struct{ name, help string }{
		{"apps_submitted", "Applications submitted."},
		{"apps_completed", "Applications that completed."},
		{"apps_failed", "Applications that failed."},
		{"apps_killed", "Applications killed."},
		{"aggregate_containers_allocated", "Containers allocated since start."},
		{"aggregate_containers_released", "Containers released since start."},
	} {
		metrics = append(metrics, q("queue_metrics_"+n.name, Counter, "", n.help, "queue"))
	}
	return metrics
}

func nodeManagerMetrics() []Metric {
	n := prom(SourceNodeManager, EMR615)
	return []Metric{
		n("node_manager_metrics_containers_running", Gauge, "{container}", "Containers running on the node."),
		n("node_manager_metrics_containers_launched", Counter, "{container}", "Containers launched on the node."),
		n("node_manager_metrics_containers_completed", Counter, "{container}", "Containers that completed on the node."),
		n("node_manager_metrics_containers_failed", Counter, "{container}", "Containers that failed on the node."),
		n("node_manager_metrics_containers_killed", Counter, "{container}", "Containers killed on the node."),
		n("node_manager_metrics_allocated_gb", Gauge, "GiBy", "Memory allocated to containers, rounded up."),
		n("node_manager_metrics_available_gb", Gauge, "GiBy", "Memory available to containers, rounded down."),
		n("node_manager_metrics_allocated_v_cores", Gauge, "{vcore}", "Vcores allocated to containers."),
		n("node_manager_metrics_available_v_cores", Gauge, "{vcore}", "Vcores available to containers."),
		n("node_manager_metrics_bad_local_dirs", Gauge, "{directory}", "Local directories that the NodeManager marked as bad."),
		n("node_manager_metrics_good_local_dirs_disk_utilization_perc", Gauge, "%", "Disk utilization of the good local directories, 0 to 100."),
		n("node_manager_metrics_container_launch_duration_avg_time", Gauge, "ms", "Mean time to launch a container."),
	}
}

func nameNodeMetrics() []Metric {
	f := prom(SourceNameNode, EMR615)
	return []Metric{
		f("fs_namesystem_capacity_total", Gauge, "By", "Capacity of all DataNodes."),
		f("fs_namesystem_capacity_used", Gauge, "By", "Space used by HDFS blocks."),
		f("fs_namesystem_capacity_remaining", Gauge, "By", "Space remaining for HDFS."),
		f("fs_namesystem_capacity_used_non_dfs", Gauge, "By", "Space used by other files on the same disks (non-DFS)."),
		f("fs_namesystem_missing_blocks", Gauge, "{block}", "Blocks without any good replica."),
		f("fs_namesystem_corrupt_blocks", Gauge, "{block}", "Blocks with a corrupt replica."),
		f("fs_namesystem_under_replicated_blocks", Gauge, "{block}", "Under-replicated blocks."),
		f("fs_namesystem_num_live_data_nodes", Gauge, "{node}", "Live DataNodes."),
		f("fs_namesystem_num_dead_data_nodes", Gauge, "{node}", "Dead DataNodes."),
		f("fs_namesystem_volume_failures_total", Gauge, "{volume}", "Failed volumes of live DataNodes; a gauge in spite of its name."),
		f("rpc_rpc_queue_time_avg_time", Gauge, "ms", "Mean time of a call in the NameNode's RPC queue.", "port", "servername"),
		f("rpc_call_queue_length", Gauge, "{call}", "Calls in the NameNode's RPC queue.", "port", "servername"),
	}
}

func dataNodeMetrics() []Metric {
	d := prom(SourceDataNode, EMR615)
	return []Metric{
		d("datanode_bytes_read", Counter, "By", "Bytes read from the DataNode."),
		d("datanode_bytes_written", Counter, "By", "Bytes written to the DataNode."),
		d("datanode_volume_failures", Counter, "{volume}", "Failed volumes."),
		d("datanode_write_block_op_avg_time", Gauge, "ms", "Mean time to write a block."),
	}
}
