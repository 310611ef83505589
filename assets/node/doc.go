// Package node renders what the observatory installs on an EMR node: the bootstrap
// action and the node collector's configuration and unit. It also has the sources of
// the artifacts that are built here (_collector, launcher, spark-plugin).
//
// It opens no connection, starts no process and does not depend on Pulumi. Names and
// paths come from package platform.
package node
