// Package status reports the state of the platform: the S3 layout, the control node,
// the nodes that send telemetry, the last steps of their clusters, which workloads are
// ready, and how the profiler's last run went. It serves this as /status on the control node, fetches it and renders it
// for people.
//
// It stores nothing: for each request, nodes are read from VictoriaMetrics, workloads
// from their own readiness URLs, and steps from EMR, whose answer is kept for seconds.
package status
