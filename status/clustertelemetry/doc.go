// Package clustertelemetry sends, from the control node, what EMR says of each cluster
// that reports: one metric whose labels are the cluster's id, name, release and state.
// Telemetry has the id alone, and a cluster that is replaced gets another one, while its
// name stays: dashboards choose clusters by name.
//
// It is not the status page, and keeps nothing: after a restart it asks EMR again, and
// the store has what it sent before.
package clustertelemetry
