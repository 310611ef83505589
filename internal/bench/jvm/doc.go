// Package jvm measures what telemetry costs at the start of a Spark JVM: CPU
// time, and the delay of its main method.
//
// The JVM is an executor in name only: it runs an empty main method, so that
// what differs between a run with and one without the launcher is telemetry
// alone. The launcher, the profiler, paths, ports and addresses are those of a
// node; a small HTTP server takes what they send. What telemetry costs a job
// as it runs is not measured here.
package jvm
