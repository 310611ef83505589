// Package node holds what the observatory puts on an EMR node: the bootstrap
// action, the node collector's configuration and unit, the JMX rules, and the
// sources of the two artifacts that are built here (_collector, launcher).
//
// It renders; it never opens a connection, never starts a process and knows
// nothing of Pulumi. Names and paths come from package platform.
package node
