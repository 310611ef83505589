// Package network is the place where the platform's machines live: a VPC with
// two private subnets, or an existing VPC and its subnets, and in either case
// the security groups of the control node and of EMR with every rule as a
// resource of its own.
//
// Own VPC: default security group emptied, S3 gateway endpoint, interface
// endpoints and one NAT gateway on request. One NAT gateway for both zones: an
// EMR cluster lives in one zone anyway, and the second gateway would double
// the price of a way out.
//
// Existing VPC: nothing of it is changed but the tag that EMR's managed policy
// demands on its subnets. Routes, endpoints and the way out are its owner's.
//
// It never opens anything to the world, never puts a machine on a public
// address and protects nothing: all of it can be made again.
package network
