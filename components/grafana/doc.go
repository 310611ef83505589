// Package grafana fills a running Grafana: one datasource per signal with links
// from each to the others, folders, and the dashboards it is given. It does not
// run Grafana (components/workloads does) and draws no dashboards (dashboards
// does).
package grafana
