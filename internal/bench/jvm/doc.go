// Package jvm measures what telemetry costs a Spark JVM: CPU time and the delay
// of its application (Measure), and the CPU time of sampling (MeasureSampling).
//
// The JVMs are drivers of EMR's Spark in local mode. Spark's own launcher builds
// their command lines, so main class, class path, JVM options and log4j are those
// of a driver on a node. The telemetry launcher, the profiler, their paths, ports
// and addresses are a node's too; a small HTTP server accepts what they send.
package jvm
