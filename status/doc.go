// Package status answers what of the platform is up: the S3 layout, the
// control node, the nodes that report telemetry and the workloads that answer
// their probes. It serves this as /status on the control node, fetches it and
// renders it for people.
//
// It keeps no state and stores no metrics: nodes are read from VictoriaMetrics
// and workloads from their own readiness URLs, at the time of asking.
package status
