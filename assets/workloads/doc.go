// Package workloadconfig renders the configuration of the control node's
// servers: command lines, environment and files, from the platform's workload
// records. It is pure: it starts nothing, reads no environment, and depends neither
// on Kubernetes nor on Pulumi. components/workloads turns a Config into Kubernetes
// objects; the tests run the real servers with the same Config.
package workloadconfig
