// Package network creates the network of the platform's machines: a VPC with two
// private subnets, unless an existing one is configured, the security group of the
// control node, and the group that opens the way to it, with every rule as a
// resource of its own. The EMR-managed groups are each cluster's own (components/emr).
//
// A VPC of its own has an empty default security group, an S3 gateway endpoint,
// one NAT gateway and, on request, interface endpoints. One gateway serves both
// zones: an EMR cluster runs in one zone anyway, and a second gateway would
// double the price. Its public subnet is the control node's too, if that is to
// have a public address.
//
// An existing VPC is looked up, in a preview too: what cannot work in it is refused
// (existing.go). Of it, only its subnets change: they get the tag that EMR's
// managed policy requires, and keep it when the stack is destroyed: clusters of
// other stacks may run in them. Routes, endpoints and internet access are its
// owner's.
//
// The zones of new subnets are those that the configuration names, or the first two
// that offer every instance type; the latter are kept from then on (zones.go).
//
// No rule admits the whole internet, no subnet assigns public addresses, and nothing
// is protected: all of it can be created again.
package network
