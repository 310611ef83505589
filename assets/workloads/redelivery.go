package workloadconfig

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Redelivery configures the relay between the collector and the stores, which
// acknowledge data before they have written it, and the one between the nodes and Pyroscope, which
// lets profiles through and nothing else: `observatory redeliver`. Both refuse what is beyond a
// cluster's limits.
func Redelivery(r platform.WorkloadRecord, s Settings) (Config, error) {
	pyroscope, err := s.Workloads.Get(platform.WorkloadPyroscope)
	if err != nil {
		return Config{}, fmt.Errorf("find what takes profiles: %w", err)
	}
	c := Config{
		Args: []string{
			"redeliver", "--listen=" + listen(r.EndpointPort()),
			"--profiles=" + pyroscope.URL(), "--profiles-listen=" + listen(pyroscope.Door.Port),
		},
		Env: goMemoryLimit(r, goMemoryPercent),
	}
	for _, store := range s.Workloads.Stores() {
		c.Args = append(c.Args, fmt.Sprintf("--store=%s=http://%s", store.Name, store.Address(store.Intake.Port)))
	}
	c.Args = append(c.Args,
		fmt.Sprintf("--limit=%s=%d", platform.SignalMetrics, s.Limits.SeriesPerHour),
		fmt.Sprintf("--limit=%s=%d", platform.SignalLogs, s.Limits.LogMiBPerHour<<20),
		fmt.Sprintf("--limit=%s=%d", platform.SignalTraces, s.Limits.SpansPerHour),
		fmt.Sprintf("--limit=%s=%d", platform.SignalProfiles, s.Limits.ProfilesPerHour))
	return c, nil
}
