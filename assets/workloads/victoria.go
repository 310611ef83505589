package workloadconfig

import (
	"fmt"
	"maps"
	"path"

	"github.com/emr-observatory/emr-observatory/platform"
)

// ScrapeFile is VictoriaMetrics' scrape configuration in ConfigDir.
const ScrapeFile = "scrape.yaml"

// deleteKeyFile is the file in VictoriaMetrics' DataDir whose content is the authKey for deleting
// series. Anyone who may run commands in the pod may write a random key into it, to delete. With
// an empty file anybody may delete, and a key holds until the pod restarts, also once its file has
// gone (lib/flagutil, Password.maybeRereadPassword).
const deleteKeyFile = "delete.key"

// ControlMetrics returns regular expressions for the names that are kept of the
// control node's servers' own metrics.
func ControlMetrics(workloads platform.WorkloadTable) []string {
	var keep []string
	for _, r := range workloads {
		keep = append(keep, r.Metrics.Keep...)
	}
	return append(keep, "process_resident_memory_bytes", "process_cpu_seconds_total", "process_start_time_seconds")
}

const (
	// flushInterval bounds how long rows are only in a store's memory. It must be
	// within redelivery.Settled. The default is 5 s; VictoriaMetrics' minimum is 2 s.
	flushInterval = "-inmemoryDataFlushInterval=1s"

	// keepAlive keeps connections open for as long as the store runs: a closed one
	// tells the redelivery that the store was killed. The default closes each after
	// two minutes, for the sake of load balancers.
	keepAlive = "-http.connTimeout=0s"
)

// dailySeries is how often the series of all clusters may change within a day. Those that get no samples
// any more are in the index only.
const dailySeries = 12

// minFreeDisk makes a store refuse data, and still answer queries, when its
// volume has less free space than the reserve for
// the collector's queues and the other stores.
func minFreeDisk(s Settings) string {
	reserve := s.Workloads.StoreReserveGiB()
	if s.Tracing.Copied() {
		reserve += platform.TraceCopyQueueGiB
	}
	return fmt.Sprintf("-storage.minFreeDiskSpaceBytes=%dGiB", reserve)
}

// VictoriaMetrics configures the metric store, which also scrapes the control
// node's servers.
func VictoriaMetrics(r platform.WorkloadRecord, s Settings) (Config, error) {
	scrape, err := scrapeConfig(s.Workloads)
	if err != nil {
		return Config{}, err
	}
	files := map[string]string{ScrapeFile: scrape}
	maps.Copy(files, s.Dashboards)
	return Config{
		Args: []string{
			fmt.Sprintf("-httpListenAddr=:%d", r.EndpointPort()),
			"-storageDataPath=" + DataDir,
			"-retentionPeriod=" + days(s.MetricsRetention),
			"-vmui.customDashboardsPath=" + ConfigDir, // it reads *.json
			"-promscrape.config=" + path.Join(ConfigDir, ScrapeFile),
			"-opentelemetry.usePrometheusNaming=true",
			// With a scope's version as a label, every upgrade of an agent starts new series.
			"-opentelemetry.promoteScopeMetadata=false",
			// It is for the relay, and differs between two connections of a node.
			"-opentelemetry.ignoreResourceAttributes=" + platform.AttributeSender,
			fmt.Sprintf("-storage.maxHourlySeries=%d", platform.MaxSeries()),
			fmt.Sprintf("-storage.maxDailySeries=%d", platform.MaxSeries()*dailySeries),
			// A collector that resends a batch after an outage leaves equal samples.
			"-dedup.minScrapeInterval=1ms",
			// The slowest source besides CloudWatch reports every 30 s; one missed report is no gap.
			"-search.minStalenessInterval=1m",
			// By default queries hide the newest 30 s, and every panel would lag a running job by
			// as much. Samples are on their way for two of the collectors' batches, 2 s each.
			"-search.latencyOffset=5s",
			minFreeDisk(s),
			flushInterval,
			keepAlive,
			fmt.Sprintf("-memory.allowedBytes=%dMiB", percentOf(r, 60)),
			"-loggerFormat=json",
			// Grafana passes on what anybody in it asks of VictoriaMetrics. Without its file the
			// key is a random one (lib/flagutil, Password.Set), and nothing can be deleted.
			"-deleteAuthKey=file://" + path.Join(DataDir, deleteKeyFile),
		},
		Files: files,
	}, nil
}

func scrapeConfig(workloads platform.WorkloadTable) (string, error) {
	type target struct{ Name, Address string }
	var targets []target
	for _, w := range workloads {
		if w.Metrics.Port != 0 {
			targets = append(targets, target{string(w.Name), w.Address(w.Metrics.Port)})
		}
	}
	yace, err := workloads.Get(platform.WorkloadYACE)
	if err != nil {
		return "", fmt.Errorf("find the CloudWatch exporter: %w", err)
	}
	return render(ScrapeFile, map[string]any{
		"targets": targets, "keep": ControlMetrics(workloads), "nodeName": EnvNodeName,
		"roleLabel": platform.NodeRole.Metric(), "role": platform.RoleControl,
		"hostLabel": platform.HostName.Metric(), "serviceLabel": platform.ServiceName.Metric(),
		"yace": yace.Address(yace.EndpointPort()),
	})
}

// VictoriaLogs configures the log store. Beyond its share of the volume
// (platform.LogsPercent) it deletes its oldest days, except the last two.
func VictoriaLogs(r platform.WorkloadRecord, s Settings) (Config, error) {
	return Config{Args: []string{
		fmt.Sprintf("-httpListenAddr=:%d", r.EndpointPort()),
		"-storageDataPath=" + DataDir,
		"-retentionPeriod=" + days(s.LogsRetention),
		fmt.Sprintf("-retention.maxDiskSpaceUsageBytes=%dMiB", s.DataVolumeGiB<<10*platform.LogsPercent/100),
		minFreeDisk(s),
		flushInterval,
		keepAlive,
		fmt.Sprintf("-memory.allowedBytes=%dMiB", percentOf(r, 60)),
		"-loggerFormat=json",
	}}, nil
}
