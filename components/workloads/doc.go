// Package workloads deploys the observatory's servers to the control node's
// Kubernetes: the collector, the stores for metrics, logs, traces and profiles, the
// redelivery, the CloudWatch exporter, Grafana and the status server, with their
// configuration, storage, secrets and services. Each is rendered from its record
// (platform.Workloads) and its configuration (assets/workloads).
//
// The package creates no cluster and no Grafana content, grants no pod rights on
// the Kubernetes API, and keeps no traces or profiles on the node: those are in S3.
//
// Only pods that use AWS reach the instance metadata, and with it the node's role.
// All other egress is open.
//
// The namespace enforces the "restricted" pod security standard. Ports on the
// control node's address are opened by Services, not as host ports.
//
// A changed configuration restarts exactly the workload that reads it: its pod
// template has the configuration's hash.
package workloads
