package workloadconfig

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Redelivery configures what stands between the collector and the stores that
// answer before they have written: `observatory redeliver`.
func Redelivery() Config {
	memory := MemoryOf(platform.WorkloadRedelivery)
	c := Config{
		Args: []string{"redeliver", fmt.Sprintf("--listen=%s", listen(platform.Redelivery))},
		Env:  map[string]string{"GOMEMLIMIT": fmt.Sprintf("%dMiB", memory.share(80))},
	}
	store := func(w platform.Workload, otlp platform.Port) {
		c.Args = append(c.Args, fmt.Sprintf("--store=%s=http://%s", w, address(w, otlp)))
	}
	store(platform.WorkloadVictoriaMetrics, platform.VictoriaMetrics)
	store(platform.WorkloadVictoriaLogs, platform.VictoriaLogs)
	store(platform.WorkloadTempo, platform.TempoOTLPHTTP)
	return c
}

// throughRedelivery is where a store's own paths begin for the collector.
func throughRedelivery(store platform.Workload) string {
	return URLs()[platform.WorkloadRedelivery] + "/" + string(store)
}
