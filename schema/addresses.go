package schema

import (
	"fmt"
	"net/netip"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkAddresses requires that the private subnets of a VPC that the stack creates have an
// address for each node: EC2 starts no instance in a subnet without one
// (InsufficientFreeAddressesInSubnet). It warns of clusters that fit one by one, and do not
// when all are at their largest.
func (c Config) checkAddresses(l *violation.List) {
	if c.Network.VPCID != "" || !isPrivateNetwork(c.Network.CIDR) {
		return
	}
	for i, subnet := range SubnetsOf(netip.MustParsePrefix(c.Network.CIDR)).Private {
		free := freeAddresses(subnet) - c.otherAddresses(i)
		first, most := 0, 0
		for _, key := range c.ClusterKeys() {
			cluster := c.Clusters[key]
			if len(cluster.Subnets) == 0 || cluster.Subnets[0] != i || !cluster.checkRoom(l, ClusterPath(key), free) {
				continue
			}
			if len(cluster.Subnets) == 1 { // of several, EMR chooses one that has room for all
				first, most = first+cluster.firstNodes(), most+cluster.maxNodes()
			}
		}
		const remedy = "choose a larger network, or move a cluster to the other subnet or into another stack"
		l.Require(first <= free, "network.cidr", c.Network.CIDR, fmt.Sprintf(
			"must have an address for each node: the clusters in subnet %d start with %d, and it has %d addresses for them", i, first, free), remedy)
		l.Warn(most <= free || first > free, "network.cidr", c.Network.CIDR, fmt.Sprintf(
			"should have an address for each node: the clusters in subnet %d may have %d together, and it has %d addresses for them", i, most, free),
			remedy)
	}
}

// otherAddresses returns how many addresses of a private subnet are no node's: the control
// node has one, unless it is public, and so does each interface endpoint.
func (c Config) otherAddresses(subnet int) int {
	n := len(c.Network.InterfaceEndpoints)
	if subnet == 0 && c.ControlNode.Access != AccessPublic {
		n++
	}
	return n
}

// demand is a key that asks for nodes: at least how many, when all that it allows are there.
type demand struct {
	path  string
	value int
	nodes int
}

// checkRoom requires that a subnet has room for the cluster at its largest, and reports
// whether it has. The violation is the largest demand's.
func (c Cluster) checkRoom(l *violation.List, path string, free int) bool {
	total, largest := c.Masters(), demand{}
	for _, d := range c.demands(path) {
		total += d.nodes
		if d.nodes > largest.nodes {
			largest = d
		}
	}
	l.Require(total <= free || largest.nodes == 0, largest.path, largest.value, fmt.Sprintf(
		"must leave the cluster room in its subnet: it may have %d nodes, and there are %d addresses for them", total, free),
		"decrease it, or choose a larger network.cidr, of which a private subnet is a quarter")
	return total <= free
}

// demands returns what asks for core and task nodes.
func (c Cluster) demands(path string) []demand {
	if m := c.ManagedScaling; m != nil {
		return []demand{{path + ".managedScaling.max", m.Max, m.leastNodes(c)}}
	}
	var out []demand
	if c.Fleets != nil {
		for role, f := range c.Fleets.workers() {
			d := demand{path + ".fleets." + role + ".onDemand", f.OnDemand, nodesOf(f.OnDemand+f.Spot, f.mostWeight())}
			if f.Spot > f.OnDemand {
				d.path, d.value = path+".fleets."+role+".spot", f.Spot
			}
			out = append(out, d)
		}
		return out
	}
	for _, g := range c.GroupsAt(path) {
		switch {
		case g.Role == platform.RoleMaster:
		case g.AutoScaling != nil:
			out = append(out, demand{g.Path + ".autoScaling.max", g.AutoScaling.Max, g.MaxCount()})
		default:
			out = append(out, demand{g.Path + ".count", g.Count, g.Count})
		}
	}
	return out
}

// firstNodes returns how many nodes the cluster starts with, at least.
func (c Cluster) firstNodes() int {
	nodes := c.Masters()
	if c.Fleets != nil {
		for _, f := range c.Fleets.workers() {
			nodes += nodesOf(f.OnDemand+f.Spot, f.mostWeight())
		}
		return nodes
	}
	for _, g := range c.GroupsAt("") {
		if g.Role != platform.RoleMaster {
			nodes += g.Count
		}
	}
	return nodes
}

// mostWeight returns the units of the fleet's largest instance.
func (f Fleet) mostWeight() int {
	most := 0
	for _, t := range f.Types {
		most = max(most, t.Weight)
	}
	return most
}
