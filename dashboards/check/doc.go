// Package check runs every query of every panel and variable of rendered
// dashboards against the stores, as Grafana would, and tells which gave data,
// which were empty and which failed. Data is a sample, row, trace or profile
// that was measured within the checked time; what an older run left behind
// does not count.
//
// It needs no Grafana, reads only JSON and so works on dashboards made by hand
// as well. It judges queries, not thresholds or looks.
package check
