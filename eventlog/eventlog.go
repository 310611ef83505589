// Package eventlog reads the event logs of Spark: plain or compressed, one file or a
// folder of rolled files, complete or cut off, as Spark, EMR and Databricks lay them out.
// It hands over one typed event at a time and keeps none; its memory does not grow with
// the log, nor with the longest line.
//
// It leaves out what this project does not use, and judges nothing: packages phases and
// fold do.
package eventlog
