// Package machine is one machine of the local cloud: an EC2 instance or a pod,
// as a set of namespaces with its own network address, root file system, host
// name and process table.
//
// Inside a machine runs machined (package machined beside this one). It is the
// machine's init: it builds the root, answers instance metadata, supervises
// systemd units, and carries out what the region asks for over a socket. The
// programs sudo and systemctl inside a machine are machined too, so scripts
// written for a real node run unchanged.
//
// The package knows nothing of AWS resources, Kubernetes or Hadoop; those
// decide what is put on a machine and what it runs.
package machine
