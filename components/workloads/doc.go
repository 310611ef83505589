// Package workloads puts the observatory's servers on the control node's
// Kubernetes: the collector, the stores for metrics, logs, traces and profiles,
// the CloudWatch exporter, Grafana and the status server, with their
// configuration, storage, secrets and services.
//
// What a server is told comes from assets/workloads. The package creates no
// cluster and no Grafana content, gives no pod rights on the Kubernetes API,
// and keeps no traces or profiles on the node: those lie in S3.
//
// Of its pods only those that work with AWS reach the instance's metadata, and
// so its role; the rest of the cluster reaches everything but that.
//
// The namespace enforces the "restricted" pod security standard. What is open
// on the control node's address is opened by Services, not by host ports.
//
// A configuration that changes restarts exactly the workload that reads it: its
// pod template carries the configuration's hash.
package workloads
