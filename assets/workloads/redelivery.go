package workloadconfig

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Redelivery configures the relay between the collector and the stores, which
// acknowledge data before they have written it: `observatory redeliver`.
func Redelivery(r platform.WorkloadRecord, s Settings) (Config, error) {
	c := Config{
		Args: []string{"redeliver", "--listen=" + listen(r.EndpointPort())},
		Env:  goMemoryLimit(r, goMemoryPercent),
	}
	for _, store := range s.Workloads.Stores() {
		c.Args = append(c.Args, fmt.Sprintf("--store=%s=http://%s", store.Name, store.Address(store.Intake.Port)))
	}
	return c, nil
}
