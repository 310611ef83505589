// Package contract is the one table of what the platform emits: metrics, log
// fields, spans and profile types, each with its source. Dashboards, alerts,
// recipes and the lake may use only what is listed here, and a run of the local
// cloud proves that each entry is really emitted.
//
// testdata has the metrics of the Hadoop daemons on /prom. This command starts the
// daemons and writes it:
//
//	go test ./dashboards/contract -run TestDaemonsExposeContractMetrics -update
//
// The package does not configure the collectors. It lists the names under which
// signals arrive in the stores.
package contract
