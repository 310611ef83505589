// Package workloadconfig holds what the control node's servers are told: their
// command lines, environment and configuration files, rendered from the
// platform's facts. It is pure: it starts nothing, reads no environment and
// knows neither Kubernetes nor Pulumi. components/workloads turns a Config into
// Kubernetes objects; the tests give the same Config to the real servers.
package workloadconfig
