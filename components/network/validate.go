package network

import (
	"errors"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Validate reports every violation of the arguments at once, without calling
// AWS.
func (a *Args) Validate() error {
	if a == nil {
		return errors.New("network: arguments are nil; pass *network.Args")
	}
	var l violation.List
	schema.CheckRegion(&l, "network.region", a.Region)
	schema.CheckOperators(&l, "network.operatorCidrs", a.OperatorCIDRs)
	l.Require(len(a.InstanceTypes) > 0, "network.instanceTypes", a.InstanceTypes, "must name the types of the machines",
		"pass the types of the control node and of EMR's groups")
	a.Network.Validate(&l, "network", a.Region)
	l.Require(!a.PublicControl || a.VPCID == "" || a.PublicSubnetID != "", "network.publicSubnetId", a.PublicSubnetID,
		"must be set for a public control node with network.vpcId", "name a subnet with a route to an internet gateway")
	l.Require(a.VPCID == "" || a.FlowLogBucketARN == nil, "network.flowLogBucketArn", "set",
		"must be empty with network.vpcId, whose owner decides", "leave it nil")
	return l.Err()
}
