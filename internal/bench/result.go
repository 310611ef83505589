package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/emr-observatory/emr-observatory/internal/bench/history"
	"github.com/emr-observatory/emr-observatory/internal/bench/jvm"
)

// result is bench.json. A key ends with its unit: _s are seconds, _mb 10^6 bytes,
// _mib and _gib 2^20 and 2^30 bytes; _ratio and _share have none. Seconds and
// bytes are this machine's. Ratios are medians of pairs that alternate.
type result struct {
	Machine string    `json:"machine"`
	When    time.Time `json:"when"`
	Load    float64   `json:"load_before"` // load average of the minute before

	upFigures
	memoryFigures
	jobFigures
	jobCPU
	controlFigures
	jvmFigures
	// CPU time of a Spark query while async-profiler records, relative to the same
	// query without. It estimates what jobCPU cannot attribute to a thread.
	SamplingRatio float64 `json:"profiler_sampling_cpu_ratio"`
	collectorFigures
	historyFigures
	queryFigures
}

type (
	jvmFigures     = jvm.Result
	historyFigures = history.Result
	queryFigures   = history.Queries
)

// upFigures are about Pulumi and the local cloud's start.
type upFigures struct {
	// The engine's update of the unchanged stack, relative to that of a program
	// without resources. The guard's preview before it is not included.
	UpdateRatio float64 `json:"up_noop_update_over_empty_update_ratio"`
	// The same with the guard's preview: what the engine costs a user who runs up.
	GuardedUpdateRatio float64 `json:"up_noop_preview_and_update_over_empty_update_ratio"`
	// The update of the program without resources.
	EmptyUpdateSeconds float64 `json:"empty_update_s"`
	// observatory rehearse --stack dev, with everything built: wall time of the
	// process, median of three.
	RehearsalSeconds float64 `json:"rehearse_dev_s"`
	// The engine's preview of stack dev with ten clusters, relative to the same with one:
	// of a new stack, and of one that is up and was not edited.
	NewClustersRatio       float64 `json:"preview_new_ten_clusters_over_one_ratio"`
	UnchangedClustersRatio float64 `json:"preview_unchanged_ten_clusters_over_one_ratio"`
	// The latter with one cluster.
	OneClusterSeconds float64 `json:"preview_unchanged_one_cluster_s"`
	// make up from a fresh clone with empty caches; only with -cold.
	ColdSeconds float64 `json:"make_up_cold_s,omitempty"`
	// make up with everything built: local cloud, stack and job.
	WarmSeconds float64            `json:"make_up_warm_s"`
	WarmParts   map[string]float64 `json:"make_up_warm_parts_s"`
	// What one node on AWS downloads.
	BootstrapMB float64 `json:"bootstrap_mb"`
	// Bootstrap action of the slowest node.
	BootstrapSeconds float64 `json:"bootstrap_s"`
}

// memoryFigures are proportional set sizes of all processes of the local cloud,
// when it is idle and at the peak of a job.
type memoryFigures struct {
	IdleGiB float64            `json:"mem_idle_gib"`
	JobGiB  float64            `json:"mem_job_gib"`
	IdleMiB map[string]float64 `json:"mem_idle_mib_by_process"`
	JobMiB  map[string]float64 `json:"mem_job_mib_by_process"`
}

// jobFigures compare a job with telemetry to the same without: no launcher in its
// JVMs, node collectors stopped; and to the same without the Spark plugin. Single pairs differ by 0.15 on one machine, so
// a cost of a few percent is read from jobCPU instead.
type jobFigures struct {
	// EMR's duration of the step.
	Ratio          float64   `json:"job_ratio"`
	Pairs          int       `json:"job_ratio_pairs"`
	Ratios         []float64 `json:"job_ratios"`
	WithoutSeconds float64   `json:"job_without_s"`
	// The same without the Spark plugin only: its jar is there, and Spark is not told.
	PluginRatio    float64   `json:"job_plugin_ratio"`
	PluginRatios   []float64 `json:"job_plugin_ratios"`
	PluginCPURatio float64   `json:"job_plugin_cpu_ratio"` // of the whole machine
	// CPU time of the whole machine from submission to end, stores included.
	CPURatio   float64 `json:"job_cpu_ratio"`
	CPUWithout float64 `json:"job_cpu_without_s"`
}

// controlFigures are what nodes cost the control node.
type controlFigures struct {
	// Processors that its collector, the redelivery proxy and the stores use for a node of
	// a cluster that runs the job: their CPU time relative to the job's wall clock, from
	// its submission to its end, and to the nodes. schema.controlCPUPerNode has it.
	ControlCPUPerNode float64 `json:"control_processors_per_node"`
	ControlNodes      int     `json:"control_nodes"` // that were observed
}

// collectorFigures compare the builds of the node collector, each alone with a node's
// configuration, see package collector: release for AWS, development for the local
// cloud.
type collectorFigures struct {
	// CPU time for 100,000 log lines of executors.
	ReleaseCPU     float64 `json:"collector_release_cpu_s_per_100k_lines"`
	DevelopmentCPU float64 `json:"collector_development_cpu_s_per_100k_lines"`
	BuildCPURatio  float64 `json:"collector_release_over_development_cpu_ratio"`
	// The binary, and what a node downloads: the same gzipped.
	ReleaseMB             float64 `json:"collector_release_mb"`
	DevelopmentMB         float64 `json:"collector_development_mb"`
	ReleaseDownloadMB     float64 `json:"collector_release_download_mb"`
	DevelopmentDownloadMB float64 `json:"collector_development_download_mb"`
}

// render prints the figures with their limits. Those without one give a limited
// figure its scale or its cause.
func (r result) render() {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"what", "measured", "limit"})
	for _, row := range []struct {
		what     string
		measured float64
		limit    string
	}{
		{"up without changes, update : empty update", r.UpdateRatio, "at most 2.0"},
		{"up without changes, preview and update : empty update", r.GuardedUpdateRatio, ""},
		{"rehearsal of stack dev, s", r.RehearsalSeconds, ""},
		{"preview of ten clusters : of one, new stack", r.NewClustersRatio, "at most 3.0"},
		{"preview of ten clusters : of one, unchanged stack", r.UnchangedClustersRatio, "at most 3.0"},
		{"make up, cold, s", r.ColdSeconds, "at most 720"},
		{"make up, warm, s", r.WarmSeconds, "at most 120"},
		{"bootstrap, MB", r.BootstrapMB, "at most 60"},
		{"bootstrap, s", r.BootstrapSeconds, "at most 15"},
		{"memory idle, GiB", r.IdleGiB, "at most 2.5"},
		{"memory in a job, GiB", r.JobGiB, "at most 5"},
		{"job with telemetry : without" + spread(r.Ratios), r.Ratio, "at most 1.05"},
		{"job with the plugin : without" + spread(r.PluginRatios), r.PluginRatio, ""},
		{"telemetry's threads : job's own CPU", r.LauncherThreadsShare + r.ProfilerThreadsShare, "at most 0.04"},
		{"launcher's threads : job's own CPU", r.LauncherThreadsShare, ""},
		{"profiler's threads : job's own CPU", r.ProfilerThreadsShare, ""},
		{"node collectors : job's own CPU", r.NodeCollectorsShare, ""},
		{"control node's processors for each node in a job", r.ControlCPUPerNode, ""},
		{"sampled query : not sampled, CPU", r.SamplingRatio, ""},
		{"start of a driver's JVM, more CPU s", r.StartCPU, "at most 2"},
		{"of it the plugin's", r.PluginStartCPU, "at most 0.1"},
		{"start of main, s later", r.MainDelay, "at most 0.1"},
		{"exporter and plugin's listener : a busy JVM's CPU", r.ExporterShare + r.ListenerShare, "at most 0.01"},
		{"collector for AWS, CPU s per 100k log lines", r.ReleaseCPU, ""},
		{"collector of the local cloud, the same", r.DevelopmentCPU, ""},
		{"collector for AWS, MB", r.ReleaseMB, ""},
		{"collector of the local cloud, MB", r.DevelopmentMB, ""},
		{"events of a log decoded per CPU s, thousands", r.PerSecond / 1000, "at least 225"},
		{"events of a log turned into rows per CPU s, thousands", r.RowsPerSecond / 1000, "at least 150"},
		{"events turned into rows per CPU s : decoded by encoding/json", r.OverStandard, "at least 3"},
		{"history server's first answer : rows of the log", r.OverServer, "at least 10"},
		{"the same of a server with a tuned JVM", r.OverTuned, ""},
		{"memory that reads a log, MiB", r.PeakMiB, "at most 256"},
		{"a year's question to the tables : to compacted ones", r.OverCompacted, "at least 10"},
		{"compaction of an application's rows, CPU ms", r.CompactMillis, ""},
	} {
		measured := "not measured"
		if row.measured != 0 {
			measured = fmt.Sprintf("%.3g", row.measured)
		}
		t.AppendRow(table.Row{row.what, measured, row.limit})
	}
	t.Render()
}

// spread formats the quartiles, minimum and maximum of values as the end of a result line.
func spread(values []float64) string {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return ""
	}
	last := len(sorted) - 1
	return fmt.Sprintf("; middle half of %d: %.3g to %.3g, range: %.3g to %.3g",
		len(sorted), sorted[last/4], sorted[last-last/4], sorted[0], sorted[last])
}
