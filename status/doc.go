// Package status reports the state of the platform: the S3 layout, the control node,
// the nodes that send telemetry, and which workloads are ready. It serves this as
// /status on the control node, fetches it and renders it for people.
//
// It keeps no state and stores no metrics: for each request, nodes are read from
// VictoriaMetrics and workloads from their own readiness URLs.
package status
