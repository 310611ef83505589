package schema_test

import (
	"maps"
	"net/netip"
	"regexp"
	"slices"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/facts"
)

// consistent makes what several sections share consistent: the partition of the region, the
// addresses of the subnets, the architecture of an image.
func (g generator) consistent(c *schema.Config) {
	if c.ControlNode.Access == schema.AccessVPC && len(c.OperatorCIDRs) > 0 && !slices.ContainsFunc(c.OperatorCIDRs, isIPv4) {
		c.OperatorCIDRs = append(c.OperatorCIDRs, "10.0.0.0/8")
	}
	for _, key := range slices.Sorted(maps.Keys(c.Clusters)) {
		e := c.Clusters[key]
		fitARNs(&e, c.Region)
		if e.Masters() == 3 {
			e.Master.BidPrice = ""
		}
		if c.Network.VPCID == "" {
			fitSubnet(&e)
		}
		architectures := map[string]bool{}
		for _, group := range e.Groups() {
			architectures[schema.Arch(group.InstanceType)] = true
		}
		if len(architectures) > 1 {
			e.CustomAMIID = ""
		}
		for name, task := range e.Tasks {
			t, _ := facts.InstanceTypeNamed(task.InstanceType)
			task.EBSOptimized = task.EBSOptimized && t.EBS != nil && t.EBS.BaselineMbps > 0
			e.Tasks[name] = task
		}
		c.Clusters[key] = e
	}
}

func isIPv4(cidr string) bool {
	p, err := netip.ParsePrefix(cidr)
	return err == nil && p.Addr().Is4()
}

var arnStart = regexp.MustCompile(`^arn:[^:]*:([a-z]+):([^:]*):`)

// fitARNs moves what a cluster names into the region's partition, and into the region.
func fitARNs(e *schema.Cluster, region string) {
	move := func(arn string) string {
		return arnStart.ReplaceAllStringFunc(arn, func(start string) string {
			parts := arnStart.FindStringSubmatch(start)
			if parts[2] != "" {
				parts[2] = region
			}
			return "arn:" + schema.Partition(region) + ":" + parts[1] + ":" + parts[2] + ":"
		})
	}
	e.ServiceRoleARN, e.InstanceProfileARN = move(e.ServiceRoleARN), move(e.InstanceProfileARN)
	for _, list := range [][]string{e.Access.KMSKeys, e.Access.Secrets, e.RuntimeRoles.ARNs} {
		for i := range list {
			list[i] = move(list[i])
		}
	}
}

// fitSubnet gives a cluster no more nodes than the smallest private subnet has room for,
// beside two others.
func fitSubnet(e *schema.Cluster) {
	const most = 4
	fit := func(group *schema.InstanceGroup) {
		group.Count = min(group.Count, most)
		if group.AutoScaling != nil {
			group.AutoScaling.Max = min(group.AutoScaling.Max, most)
		}
	}
	fit(&e.Core)
	for name, task := range e.Tasks {
		fit(&task)
		e.Tasks[name] = task
	}
	if m := e.ManagedScaling; m != nil {
		m.Min, m.Max = min(m.Min, most), min(m.Max, most)
		for _, part := range []*int{m.MaxCore, m.MaxOnDemand} {
			if part != nil {
				*part = min(*part, most)
			}
		}
	}
	if e.Fleets == nil {
		return
	}
	for _, fleet := range []*schema.Fleet{e.Fleets.Core, e.Fleets.Task} {
		if fleet != nil {
			fleet.OnDemand, fleet.Spot = min(fleet.OnDemand, most), min(fleet.Spot, most)
		}
	}
}
