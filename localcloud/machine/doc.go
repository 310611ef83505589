// Package machine is one machine of the local cloud: an EC2 instance or a pod,
// as a set of namespaces with its own network address, root file system, host
// name and process table.
//
// Inside a machine runs machined (package machined in this folder). It is the
// machine's init: it builds the root, serves instance metadata, supervises
// systemd units, and executes the region's requests, which arrive on a socket. The
// programs sudo and systemctl inside a machine are machined too, so scripts
// written for a real node run unchanged.
//
// The package knows nothing of AWS resources, Kubernetes or Hadoop: its callers
// decide what a machine holds and runs.
package machine
