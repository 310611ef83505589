// Package internet is what lies outside a region's VPC: the workstation of an
// operator, in a network namespace of its own, and the internet gateway, which
// maps Elastic IPs to instances.
//
// The workstation's only route leads to Elastic IPs. What the Pulumi program and
// its providers send to the control node begins there, as where the program runs
// outside the VPC. All else in the region's process acts for AWS (EC2, EMR, the
// kubelet) and connects inside the VPC.
//
// The gateway is a TCP relay: an instance sees the region's address in place of
// the sender's, and a port at which the instance does not listen is closed after
// the connection, not before.
package internet
