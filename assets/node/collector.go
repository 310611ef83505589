package node

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Memory of the collector: the limiter refuses data below Go's soft limit, which is
// below the limit at which the kernel kills the unit. All of it is small next to
// what EMR leaves beside YARN.
const (
	memoryLimitMiB = 256
	memorySpikeMiB = 64
	goMemoryMiB    = 320
	unitMemoryMiB  = 512
)

// queueBytes bounds the disk queue: hours of a busy node's telemetry, and far from
// the 90 % at which YARN marks a disk as full.
const queueBytes = 1 << 30

// logSource is a group of log files on a node.
type logSource struct {
	Name        string   // of the receiver
	Service     string   // service.name
	Include     []string // globs
	Path        string   // regular expression on the path, or ""
	Attribute   string   // log attribute set to the group "unit", or ""
	Application bool     // the group "application" is a Spark application id
}

// logSources lists the logs of a node (paths: EMR Management Guide, "View log
// files"; names of daemons' files: emr-7.x nodes).
func logSources() []logSource {
	// A daemon's last lines before a rotation are read from the rotated file.
	daemon := func(folder string) []string {
		dir := "/var/log/" + folder
		return []string{dir + "/*.log", dir + "/*.log.*", dir + "/*.out", dir + "/*.out.*"}
	}
	return []logSource{
		{
			Name: "container", Service: platform.ServiceContainer,
			Include:   []string{platform.EMRContainerLogDir + "/*/*/stdout", platform.EMRContainerLogDir + "/*/*/stderr"},
			Path:      `/(?P<application>application_\d+_\d+)/(?P<unit>container_[^/]+)/`,
			Attribute: string(platform.ContainerID), Application: true,
		},
		{Name: "yarn", Service: platform.ServiceYARN, Include: daemon("hadoop-yarn")},
		{Name: "hdfs", Service: platform.ServiceHDFS, Include: daemon("hadoop-hdfs")},
		{Name: "spark", Service: platform.ServiceSparkDaemon, Include: daemon("spark")},
		{
			Name: "step", Service: platform.ServiceStep,
			Include:   filesOf(platform.EMRStepLogDir, "controller", "stdout", "stderr", "syslog"),
			Path:      `/(?P<unit>s-[A-Z0-9]+)/[^/]+$$`,
			Attribute: "emr.step.id",
		},
		{
			Name: "bootstrap", Service: platform.ServiceBootstrap,
			Include:   filesOf(platform.EMRBootstrapLogDir, "controller", "stdout", "stderr"),
			Path:      `/(?P<unit>\d+)/[^/]+$$`,
			Attribute: "emr.bootstrap_action",
		},
	}
}

// filesOf returns globs for files in each folder below dir.
func filesOf(dir string, names ...string) []string {
	globs := make([]string, len(names))
	for i, name := range names {
		globs[i] = dir + "/*/" + name
	}
	return globs
}

// timeFormat matches the beginning of a log line.
type timeFormat struct{ If, Regex, Layout string }

// matches returns a condition of file_log's operators on a line's text.
func matches(pattern string) string { return `body matches "` + pattern + `"` }

// timeFormats returns the layouts of Spark (log4j2.properties of EMR), Hadoop
// (ISO8601 of its log4j.properties) and EMR's own instance controller.
func timeFormats() []timeFormat {
	head := func(time, layout string) timeFormat {
		return timeFormat{
			If:     matches("^" + time + " "),
			Regex:  "^(?P<time>" + time + ") (?P<level>[A-Z]+) ",
			Layout: layout,
		}
	}
	return []timeFormat{
		head(`[0-9]{2}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}`, "06/01/02 15:04:05"),
		head(`[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}`, "2006-01-02 15:04:05,000"),
		head(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z`, "2006-01-02T15:04:05.000Z"),
	}
}

// uncaughtError matches the first line of an error without a logger's format.
const uncaughtError = `^(Exception in thread |Traceback [(]most recent call last[)])`

// Patterns of the metrics that are kept of /prom, which has 150 KB per scrape
// (Hadoop 3.4.1), and of the collector's own. Names are those of Hadoop's
// PrometheusMetricsSink.
const (
	// queueResources are what a queue has of the nodes. Of nodes with a label, Hadoop has them under
	// other names (PartitionQueueMetrics); the collector adds them to the queue's own, which are
	// those of the nodes without.
	queueResources = `(allocated|pending|reserved|available)_(mb|v_cores|containers)`
	ofPartition    = `partition_queue_metrics_(` + queueResources + `);.+;.+` // a partition and a queue

	keepYARN = `cluster_metrics_(num_.*_n_ms|capability_(mb|virtual_cores)|utilized_(mb|virtual_cores)|` +
		`am_(launch|register)_delay_(avg_time|num_ops))` +
		`|queue_metrics_(apps_(running|pending|submitted|completed|killed|failed)|` +
		queueResources + `|running_(0|60|300|1440)|` +
		`aggregate_containers_(allocated|released)|(used_am_resource|am_resource_limit)_mb)` +
		`|node_manager_metrics_(containers_(running|launched|completed|failed|killed|initing)|(allocated|available)_(gb|v_cores)|` +
		`bad_(local|log)_dirs|good_(local|log)_dirs_disk_utilization_perc|container_launch_duration_(avg_time|num_ops)|node_(cpu|used_mem).*)` +
		`|` + keepJVM
	keepHDFS = `fs_namesystem_(capacity_(total|used|remaining|used_non_dfs)|missing_blocks|missing_repl_one_blocks|corrupt_blocks|` +
		`under_replicated_blocks|num_(live|dead|decommissioning)_data_nodes|volume_failures_total|files_total|blocks_total)` +
		`|rpc_(rpc_queue_time_avg_time|rpc_processing_time_avg_time|call_queue_length)` +
		`|datanode_(bytes_(read|written)|volume_failures|(read|write)_block_op_avg_time)` +
		`|` + keepJVM
	keepJVM       = `jvm_metrics_(mem_heap_(used|max)_m|gc_count|gc_time_millis|gc_total_extra_sleep_time|log_(error|fatal))`
	keepCollector = `otelcol_(exporter_(queue_(size|capacity)|(sent|send_failed|enqueue_failed)_.+)|receiver_(accepted|refused)_.+|` +
		`processor_(memory_limiter_)?refused_.+|process_(memory_rss|cpu_seconds|uptime))`
	// Labels that repeat host.name, or whose changes would start new series.
	dropLabels = `hostname|context|sessionid|totalsynctimes|numopenconnectionsperuser|clustermetrics|hastate|enabledecpolicies`
)

// CollectorConfig renders the node collector's configuration. It is the same on
// every node; the process's environment identifies the node.
func CollectorConfig() ([]byte, error) {
	return render("collector.yaml", newFacts().with(facts{
		"CollectionInterval":       platform.CollectionInterval,
		"DaemonCollectionInterval": platform.DaemonCollectionInterval,
		"KeepYARN":                 keepYARN,
		"OfPartition":              ofPartition,
		"KeepHDFS":                 keepHDFS,
		"KeepCollector":            keepCollector,
		"DropLabels":               dropLabels,
		"KeepAttributes":           quotedLabels(platform.JVMLabels()),
		"Logs":                     logSources(),
		"TimeFormats":              timeFormats(),
		"FirstLine":                strings.ReplaceAll(firstLine(), "$", "$$"), // the collector expands $
		"Uncaught":                 "attributes.level == nil and " + matches(uncaughtError),
		"MemoryLimitMiB":           memoryLimitMiB,
		"MemorySpikeMiB":           memorySpikeMiB,
		"QueueBytes":               queueBytes,
	}))
}

// CollectorUnit renders the node collector's systemd unit.
func CollectorUnit() ([]byte, error) {
	return render("collector.service", newFacts().with(facts{
		"GoMemoryMiB":   goMemoryMiB,
		"UnitMemoryMiB": unitMemoryMiB,
	}))
}

func quotedLabels(labels []platform.Label) string {
	var quoted []string
	for _, l := range labels {
		quoted = append(quoted, fmt.Sprintf("%q", string(l)))
	}
	return strings.Join(quoted, ", ")
}
