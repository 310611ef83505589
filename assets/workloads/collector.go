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

// Collector configures the control node's collector: OTLP in, one queue on
// disk per store out.
func Collector() (Config, error) {
	memory := MemoryOf(platform.WorkloadCollector)
	labels := signalLabels()
	quoted := make([]string, len(labels))
	for i, l := range labels {
		quoted[i] = strconv.Quote(l)
	}
	body, err := render(CollectorFile, map[string]any{
		"health": listen(platform.CollectorHealth), "selfPort": int(platform.CollectorMetrics),
		"grpc": listen(platform.OTLPGRPC), "http": listen(platform.OTLPHTTP),
		"data": DataDir, "queue": CollectorQueueDir, "queueBytes": platform.QueueGiB << 30,
		"limitMiB": memory.share(80), "spikeMiB": memory.share(20),
		"labels": strings.Join(quoted, ", "), "streamFields": strings.Join(labels, ","),
		"roleLabel": platform.NodeRole, "role": platform.RoleControl,
		"hostLabel": platform.HostName, "nodeName": EnvNodeName,
		"serviceLabel": platform.ServiceName, "service": platform.WorkloadCollector,
		"metrics": throughRedelivery(platform.WorkloadVictoriaMetrics),
		"logs":    throughRedelivery(platform.WorkloadVictoriaLogs),
		"traces":  throughRedelivery(platform.WorkloadTempo),
	})
	if err != nil {
		return Config{}, err
	}
	return Config{
		Args:  []string{"--config=" + path.Join(ConfigDir, CollectorFile)},
		Env:   map[string]string{"GOMEMLIMIT": fmt.Sprintf("%dMiB", memory.share(80))},
		Files: map[string]string{CollectorFile: body},
	}, nil
}

// signalLabels are the resource attributes that may identify a signal.
func signalLabels() []string {
	var out []string
	for _, l := range append(platform.HostLabels(), platform.JVMLabels()...) {
		out = append(out, string(l))
	}
	return out
}
