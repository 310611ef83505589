// Package collector measures the two builds of the node collector: the size of each
// binary, and its CPU time for log lines (Measure).
//
// Each run is a node's: the unit's command line, environment and configuration, at
// their real paths, ports and addresses, in namespaces of its own. A Spark
// executor's log is written where YARN writes it; a server in place of the control
// node's collector counts the lines that arrive.
package collector
