// Package fold turns the history of a Spark application into the rows of package tables:
// from event logs (Log), or from the REST API of a Spark UI or history server (REST).
// Both produce the same rows.
//
// The rules are Spark's own: those of org.apache.spark.status.AppStatusListener and
// AppStatusStore, of org.apache.spark.sql.execution.ui.SQLAppStatusListener and
// SparkPlanGraph, as of Spark 3.5. Unlike a history server, Log has no retention limits,
// and keeps jobs, stages and executions whose start is missing: events that Spark dropped
// are no reason to drop the others.
//
// It reads no files (package eventlog does) and writes none (package lake does).
package fold
