// Package check runs every query of every panel and variable of rendered
// dashboards against the stores, as Grafana would, and reports which returned
// data, which were empty and which failed. Data is a sample, row, trace or
// profile that was measured within the checked time; data of older runs does not
// count.
//
// It needs no Grafana and reads only JSON, so it works on hand-made dashboards
// as well. It judges queries, not thresholds or looks.
package check
