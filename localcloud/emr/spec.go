package emr

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/platform"
)

// clusterSpec is what a cluster's request says of all of its nodes.
type clusterSpec struct {
	id, releaseLabel, subnetID string
	profile                    string // instance profile, by name or ARN
	actions                    []types.BootstrapActionConfig
	configurations             []hadoop.Configuration
}

// spec returns what the request of a cluster says of its nodes.
func (s *Service) spec(id string) (clusterSpec, error) {
	request, err := s.Store.Request(id)
	if err != nil {
		return clusterSpec{}, err
	}
	c, err := s.Store.Cluster(id)
	if err != nil {
		return clusterSpec{}, err
	}
	return clusterSpec{
		id: id, releaseLabel: aws.ToString(request.ReleaseLabel), subnetID: aws.ToString(c.Ec2InstanceAttributes.Ec2SubnetId),
		profile: aws.ToString(request.JobFlowRole), actions: request.BootstrapActions, configurations: classifications(request.Configurations),
	}, nil
}

// classifications returns a configuration list of EMR's API for package hadoop.
func classifications(list []types.Configuration) []hadoop.Configuration {
	var out []hadoop.Configuration
	for _, c := range list {
		out = append(out, hadoop.Configuration{
			Classification: aws.ToString(c.Classification), Properties: c.Properties, Configurations: classifications(c.Configurations),
		})
	}
	return out
}

// pool is a set of equal nodes: an instance group, or the on-demand or the spot part of
// a fleet.
type pool struct {
	id           string // ig-… or if-…
	fleet        bool
	role         string // platform.Role*
	instanceType string
	market       types.MarketType
	count        int
	weight       int                    // of a node, in a fleet's capacity units
	own          []hadoop.Configuration // of the group, over the cluster's
	version      int64                  // of own
	shrink       *types.ShrinkPolicy
}

// pools returns a cluster's pools, that of the primary node first, or only those of the
// group or fleet only, if it is not "".
func (s *Service) pools(id, only string) ([]pool, error) {
	groups, err := s.Store.InstanceGroups(id)
	if err != nil {
		return nil, err
	}
	fleets, err := s.Store.InstanceFleets(id)
	if err != nil {
		return nil, err
	}
	var out []pool
	for _, g := range groups {
		out = append(out, pool{
			id: aws.ToString(g.Id), role: strings.ToLower(string(g.InstanceGroupType)), instanceType: aws.ToString(g.InstanceType),
			market: g.Market, count: int(aws.ToInt32(g.RequestedInstanceCount)), own: classifications(g.Configurations), shrink: g.ShrinkPolicy,
			version: aws.ToInt64(g.ConfigurationsVersion),
		})
	}
	for _, f := range fleets {
		out = append(out, fleetPools(f)...)
	}
	out = slices.DeleteFunc(out, func(p pool) bool { return only != "" && p.id != only })
	roles := []string{platform.RoleMaster, platform.RoleCore, platform.RoleTask}
	slices.SortStableFunc(out, func(a, b pool) int { return slices.Index(roles, a.role) - slices.Index(roles, b.role) })
	return out, nil
}

// fleetPools returns the pools of a fleet. EMR chooses among a fleet's types by price
// and capacity, of which this machine has neither: the first type is taken.
func fleetPools(f types.InstanceFleet) []pool {
	first := f.InstanceTypeSpecifications[0]
	weight := int(aws.ToInt32(first.WeightedCapacity))
	var out []pool
	for _, part := range []struct {
		market types.MarketType
		target *int32
	}{{types.MarketTypeOnDemand, f.TargetOnDemandCapacity}, {types.MarketTypeSpot, f.TargetSpotCapacity}} {
		out = append(out, pool{
			id: aws.ToString(f.Id), fleet: true, role: strings.ToLower(string(f.InstanceFleetType)), market: part.market, weight: weight,
			count: (int(aws.ToInt32(part.target)) + weight - 1) / weight, instanceType: aws.ToString(first.InstanceType),
			own: classifications(first.Configurations),
		})
	}
	return out
}

// coreNodes returns how many core nodes pools have.
func coreNodes(pools []pool) int {
	cores := 0
	for _, p := range pools {
		if p.role == platform.RoleCore {
			cores += p.count
		}
	}
	return cores
}

// instance returns a node's instance as ListInstances shows it.
func (p pool) instance(n *node) types.Instance {
	i := types.Instance{
		Id: &n.memberID, Ec2InstanceId: &n.instanceID, InstanceType: &n.instanceType, Market: n.market,
		PrivateIpAddress: aws.String(n.ip()), PrivateDnsName: aws.String(n.fqdn()),
	}
	if p.fleet {
		i.InstanceFleetId = &n.groupID
	} else {
		i.InstanceGroupId = &n.groupID
	}
	return i
}

// merged returns a cluster's classifications, overridden key by key by a pool's own
// (Release Guide, "Reconfigure an instance group").
func merged(base, over []hadoop.Configuration) []hadoop.Configuration {
	out := slices.Clone(base)
	for _, o := range over {
		i := slices.IndexFunc(out, func(c hadoop.Configuration) bool { return c.Classification == o.Classification })
		if i < 0 {
			out = append(out, o)
			continue
		}
		properties := map[string]string{}
		maps.Copy(properties, out[i].Properties)
		maps.Copy(properties, o.Properties)
		out[i] = hadoop.Configuration{
			Classification: o.Classification, Properties: properties, Configurations: merged(out[i].Configurations, o.Configurations),
		}
	}
	return out
}
