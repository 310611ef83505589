package fold

import (
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// hosts are the tasks of a stage's attempt by host.
type hosts map[string]*ofHost

// ofHost are the tasks of one host.
type ofHost struct{ tasks, duration int64 } // duration in milliseconds, of all together

func (h *hosts) add(host string, duration int64) {
	if *h == nil {
		*h = hosts{}
	}
	of := (*h)[host]
	if of == nil {
		of = &ofHost{}
		(*h)[host] = of
	}
	of.tasks++
	of.duration += duration
}

func (h *ofHost) mean() float64 { return float64(h.duration) / float64(h.tasks) }

// spread returns the median host's mean, and the host whose tasks took most longer than that.
func (h hosts) spread() tables.HostSpread {
	if len(h) == 0 {
		return tables.HostSpread{}
	}
	var means []float64
	for _, of := range h {
		means = append(means, of.mean())
	}
	slices.Sort(means)
	median := means[(len(means)-1)/2]
	excess := func(of *ofHost) float64 { return float64(of.duration) - median*float64(of.tasks) }
	worst := ""
	for _, host := range slices.Sorted(maps.Keys(h)) {
		if worst == "" || excess(h[host]) > excess(h[worst]) {
			worst = host
		}
	}
	n, tasks, mean := int64(len(h)), h[worst].tasks, h[worst].mean()
	return tables.HostSpread{Hosts: &n, HostsMean: &median, WorstHost: &worst, WorstHostTasks: &tasks, WorstHostMean: &mean}
}
