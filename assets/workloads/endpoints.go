package workloadconfig

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/platform"
)

// endpoint is where a server answers and how it says that it is ready.
type endpoint struct {
	scheme string
	port   platform.Port
	ready  platform.Port // where it says so, if not at port
	path   string
}

func endpoints() map[platform.Workload]endpoint {
	return map[platform.Workload]endpoint{
		platform.WorkloadCollector:       {"http", platform.OTLPHTTP, platform.CollectorHealth, "/"},
		platform.WorkloadVictoriaMetrics: {"http", platform.VictoriaMetrics, 0, "/health"},
		platform.WorkloadVictoriaLogs:    {"http", platform.VictoriaLogs, 0, "/health"},
		platform.WorkloadTempo:           {"http", platform.Tempo, 0, "/ready"},
		platform.WorkloadPyroscope:       {"http", platform.Pyroscope, 0, "/ready"},
		platform.WorkloadYACE:            {"http", platform.YACE, 0, "/healthz"},
		platform.WorkloadGrafana:         {"https", platform.Grafana, 0, "/api/health"},
		platform.WorkloadStatus:          {"http", platform.Status, 0, "/healthz"},
		platform.WorkloadRedelivery:      {"http", platform.Redelivery, 0, "/healthz"},
	}
}

// Probe is where a server says whether it is ready.
type Probe struct {
	Scheme string // http or https
	Port   platform.Port
	Path   string
}

// ProbeOf gives the readiness endpoint of a workload's server.
func ProbeOf(w platform.Workload) Probe {
	e := endpoints()[w]
	p := Probe{e.scheme, e.port, e.path}
	if e.ready != 0 {
		p.Port = e.ready
	}
	return p
}

// URLs gives where each workload answers inside the cluster.
func URLs() map[platform.Workload]string {
	out := map[platform.Workload]string{}
	for w, e := range endpoints() {
		out[w] = e.scheme + "://" + address(w, e.port)
	}
	return out
}

// URLAt gives where a workload with a host port answers the VPC: ip is the
// control node's.
func URLAt(ip string, w platform.Workload) string {
	e := endpoints()[w]
	return fmt.Sprintf("%s://%s:%d", e.scheme, ip, e.port)
}

// ReadyURLs gives where each workload says inside the cluster that it is ready.
func ReadyURLs() map[platform.Workload]string {
	out := map[platform.Workload]string{}
	for w := range endpoints() {
		p := ProbeOf(w)
		out[w] = fmt.Sprintf("%s://%s%s", p.Scheme, address(w, p.Port), p.Path)
	}
	return out
}
