package workloadconfig

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Configure renders the configuration of a workload's server.
type Configure func(r platform.WorkloadRecord, s Settings) (Config, error)

// Server is a workload's record and the function that configures its server.
type Server struct {
	platform.WorkloadRecord
	Configure Configure
}

// Servers returns the platform's workloads with the functions that configure them.
func Servers() []Server {
	functions := map[platform.Workload]Configure{
		platform.WorkloadCollector:       Collector,
		platform.WorkloadVictoriaMetrics: VictoriaMetrics,
		platform.WorkloadVictoriaLogs:    VictoriaLogs,
		platform.WorkloadTempo:           Tempo,
		platform.WorkloadPyroscope:       Pyroscope,
		platform.WorkloadYACE:            YACE,
		platform.WorkloadGrafana:         Grafana,
		platform.WorkloadStatus:          Status,
		platform.WorkloadRedelivery:      Redelivery,
		platform.WorkloadProfiler:        Profiler,
		platform.WorkloadTools:           Tools,
	}
	var servers []Server
	for _, r := range platform.Workloads() {
		servers = append(servers, Server{r, functions[r.Name]})
	}
	return servers
}

// Table returns the servers' records.
func Table(servers []Server) platform.WorkloadTable {
	table := make(platform.WorkloadTable, len(servers))
	for i, s := range servers {
		table[i] = s.WorkloadRecord
	}
	return table
}

// Config returns the server's configuration.
func (s Server) Config(settings Settings) (Config, error) {
	if s.Configure == nil {
		return Config{}, fmt.Errorf("configure %s: no function: add one to workloadconfig.Servers", s.Name)
	}
	c, err := s.Configure(s.WorkloadRecord, settings)
	if err != nil {
		return Config{}, fmt.Errorf("configure %s: %w", s.Name, err)
	}
	return c, nil
}
