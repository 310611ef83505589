package workloadconfig

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// CollectorFile is the collector's configuration in ConfigDir.
const CollectorFile = "collector.yaml"

// CollectorQueueDir holds the collector's queues on its volume.
const CollectorQueueDir = DataDir + "/queue"

// exporter is the collector's exporter to one store.
type exporter struct {
	Signal       string
	URL          string
	StreamFields string // of VictoriaLogs
	QueueBytes   int
	BatchBytes   int // at most
}

// Collector configures the control node's collector: it receives OTLP and has
// one queue on disk for each store, and one for a copy of the traces.
func Collector(r platform.WorkloadRecord, s Settings) (Config, error) {
	exporters, err := exporters(s.Workloads)
	if err != nil {
		return Config{}, err
	}
	labels := signalLabels()
	quoted := make([]string, len(labels))
	for i, l := range labels {
		quoted[i] = strconv.Quote(l)
	}
	body, err := render(CollectorFile, map[string]any{
		"health": listen(platform.CollectorHealth), "selfPort": int(platform.CollectorMetrics),
		"grpc": listen(platform.OTLPGRPC), "http": listen(platform.OTLPHTTP),
		"data": DataDir, "queue": CollectorQueueDir,
		"limitMiB": percentOf(r, 80), "spikeMiB": percentOf(r, 20),
		"labels": strings.Join(quoted, ", "),
		"setSender": fmt.Sprintf("'delete_matching_keys(attributes, \"^%s$\")', 'set(attributes[%q], otelcol.client.addr)'",
			strings.ReplaceAll(platform.AttributeSender, ".", "[.]"), platform.AttributeSender),
		"roleLabel": platform.NodeRole, "role": platform.RoleControl,
		"hostLabel": platform.HostName, "nodeName": EnvNodeName,
		"serviceLabel": platform.ServiceName, "service": r.Name,
		"exporters": exporters, "copy": newTraceCopy(s.Tracing),
	})
	if err != nil {
		return Config{}, err
	}
	c := Config{
		Args:  []string{"--config=" + path.Join(ConfigDir, CollectorFile)},
		Env:   goMemoryLimit(r, goMemoryPercent),
		Files: map[string]string{CollectorFile: body},
	}
	c.addTraceCopy(s.Tracing)
	return c, nil
}

// exporters returns an exporter for each store, through the redelivery. Pipelines
// refer to them by signal, so each signal has one store.
func exporters(workloads platform.WorkloadTable) ([]exporter, error) {
	redelivery, err := workloads.Get(platform.WorkloadRedelivery)
	if err != nil {
		return nil, fmt.Errorf("find what the collector sends to: %w", err)
	}
	var out []exporter
	storeOf := map[string]platform.Workload{}
	for _, store := range workloads.Stores() {
		in := store.Intake
		if other, found := storeOf[in.Signal]; found {
			return nil, fmt.Errorf("signal %s: has two stores, %s and %s: remove the Intake of one", in.Signal, other, store.Name)
		}
		storeOf[in.Signal] = store.Name
		e := exporter{
			Signal: in.Signal, URL: redelivery.URL() + "/" + string(store.Name) + in.Path,
			QueueBytes: in.QueueGiB << 30, BatchBytes: 4 << 20,
		}
		if store.Name == platform.WorkloadVictoriaLogs {
			e.StreamFields = strings.Join(signalLabels(), ",")
		}
		out = append(out, e)
	}
	return out, nil
}

// signalLabels returns the resource attributes that may identify a signal.
func signalLabels() []string {
	var out []string
	for _, l := range append(platform.HostLabels(), platform.JVMLabels()...) {
		out = append(out, string(l))
	}
	return out
}
