package workloadconfig

import (
	"fmt"
	"path"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// ScrapeFile is VictoriaMetrics' scrape configuration in ConfigDir.
const ScrapeFile = "scrape.yaml"

// ControlMetrics are the patterns of the names that are kept of what the
// control node's servers say about themselves: whether they take, refuse or
// lose data, and whether their disk and memory last. Their full lists would be
// thousands of series (names read in each server's source at its pinned
// version).
func ControlMetrics() []string {
	return []string{
		"otelcol_exporter_(queue_size|queue_capacity|(sent|send_failed|enqueue_failed)_.*)",
		"otelcol_receiver_(accepted|refused)_.*", "otelcol_process_(memory_rss|uptime|cpu_seconds).*",
		"vm_rows_inserted_total", "vm_rows_ignored_total", "vm_free_disk_space_bytes", "vm_new_timeseries_created_total", "vm_data_size_bytes",
		"vl_rows_ingested_total", "vl_rows_dropped_total", "vl_free_disk_space_bytes", "vl_data_size_bytes",
		"tempo_distributor_spans_received_total", "tempo_discarded_spans_total", "tempo_ingester_failed_flushes_total", "tempodb_blocklist_(length|poll_errors_total)",
		"pyroscope_distributor_received_(compressed_bytes|samples).*", "pyroscope_discarded_(samples|bytes)_total", "pyroscope_ingester_flush_.*",
		"observatory_redelivery_.*",
		"process_resident_memory_bytes", "process_cpu_seconds_total", "process_start_time_seconds",
	}
}

// toDisk makes both stores write what they took to disk as soon as they can,
// within redelivery.Settled: until then it is in memory alone. The default is 5 s,
// and VictoriaMetrics takes two for the least.
const toDisk = "-inmemoryDataFlushInterval=1s"

// lasting keeps a connection for as long as the store runs: by its end the
// redelivery knows a store that was killed. The default closes each after two
// minutes, for the sake of load balancers.
const lasting = "-http.connTimeout=0s"

// reserve has a store refuse, and go on answering queries, below so much room
// on its volume.
func reserve() string {
	return fmt.Sprintf("-storage.minFreeDiskSpaceBytes=%dGiB", platform.StoreReserveGiB)
}

// VictoriaMetrics configures the metric store. Samples older than retention
// go.
func VictoriaMetrics(retention time.Duration) (Config, error) {
	type target struct{ Name, Address string }
	var targets []target
	for _, t := range []struct {
		w platform.Workload
		p platform.Port
	}{
		{platform.WorkloadCollector, platform.CollectorMetrics},
		{platform.WorkloadVictoriaMetrics, platform.VictoriaMetrics},
		{platform.WorkloadVictoriaLogs, platform.VictoriaLogs},
		{platform.WorkloadTempo, platform.Tempo},
		{platform.WorkloadPyroscope, platform.Pyroscope},
		{platform.WorkloadRedelivery, platform.Redelivery},
	} {
		targets = append(targets, target{string(t.w), address(t.w, t.p)})
	}
	body, err := render(ScrapeFile, map[string]any{
		"targets": targets, "keep": ControlMetrics(), "nodeName": EnvNodeName,
		"roleLabel": platform.NodeRole.Metric(), "role": platform.RoleControl,
		"hostLabel": platform.HostName.Metric(), "serviceLabel": platform.ServiceName.Metric(),
		"yace": address(platform.WorkloadYACE, platform.YACE),
	})
	if err != nil {
		return Config{}, err
	}
	memory := MemoryOf(platform.WorkloadVictoriaMetrics)
	return Config{
		Args: []string{
			fmt.Sprintf("-httpListenAddr=:%d", platform.VictoriaMetrics),
			"-storageDataPath=" + DataDir,
			"-retentionPeriod=" + days(retention),
			"-promscrape.config=" + path.Join(ConfigDir, ScrapeFile),
			"-opentelemetry.usePrometheusNaming=true",
			// A scope's version as a label makes every upgrade of an agent a new series.
			"-opentelemetry.promoteScopeMetadata=false",
			// A collector that sends a batch twice after an outage leaves equal samples.
			"-dedup.minScrapeInterval=1ms",
			// The slowest source but CloudWatch reports every 30 s; one missed report is no gap.
			"-search.minStalenessInterval=1m",
			reserve(),
			toDisk,
			lasting,
			fmt.Sprintf("-memory.allowedBytes=%dMiB", memory.share(60)),
			"-loggerFormat=json",
		},
		Files: map[string]string{ScrapeFile: body},
	}, nil
}

// VictoriaLogs configures the log store on a volume of so many GiB. Lines older
// than retention go, and the oldest days but two before the store has more than
// its share (platform.LogsPercent).
func VictoriaLogs(retention time.Duration, volumeGiB int) (Config, error) {
	memory := MemoryOf(platform.WorkloadVictoriaLogs)
	return Config{Args: []string{
		fmt.Sprintf("-httpListenAddr=:%d", platform.VictoriaLogs),
		"-storageDataPath=" + DataDir,
		"-retentionPeriod=" + days(retention),
		fmt.Sprintf("-retention.maxDiskSpaceUsageBytes=%dMiB", volumeGiB<<10*platform.LogsPercent/100),
		reserve(),
		toDisk,
		lasting,
		fmt.Sprintf("-memory.allowedBytes=%dMiB", memory.share(60)),
		"-loggerFormat=json",
	}}, nil
}
