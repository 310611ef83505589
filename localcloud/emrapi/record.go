package emrapi

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// ErrNotFound reports an id that the Store does not have.
var ErrNotFound = errors.New("not found")

// clusterID matches EMR's cluster ids, which are file names here.
var clusterID = regexp.MustCompile(`^j-[0-9A-Z]{1,40}$`)

// record is a cluster with everything that belongs to it. A record in the Store is
// immutable: a changed copy replaces it.
type record struct {
	Request         *emr.RunJobFlowInput // without passwords; nil in a record of an earlier version
	Cluster         types.Cluster
	Groups          []types.InstanceGroup
	Fleets          []types.InstanceFleet
	Actions         []types.Command
	Instances       []types.Instance
	Steps           []types.Step // oldest first
	AutoTermination *types.AutoTerminationPolicy
	ManagedScaling  *types.ManagedScalingPolicy
}

func (r *record) state() types.ClusterState { return r.Cluster.Status.State }

func (r *record) step(id string) (*types.Step, error) {
	return find(r, "step", id, r.Steps, func(s types.Step) *string { return s.Id })
}

func (r *record) instance(id string) (*types.Instance, error) {
	return find(r, "instance", id, r.Instances, func(i types.Instance) *string { return i.Id })
}

func (r *record) group(id string) (*types.InstanceGroup, error) {
	return find(r, "instance group", id, r.Groups, func(g types.InstanceGroup) *string { return g.Id })
}

func (r *record) fleet(id string) (*types.InstanceFleet, error) {
	return find(r, "instance fleet", id, r.Fleets, func(f types.InstanceFleet) *string { return f.Id })
}

// find returns the part of a cluster with an id. what names it in the error.
func find[T any](r *record, what, id string, parts []T, idOf func(T) *string) (*T, error) {
	i := slices.IndexFunc(parts, func(p T) bool { return aws.ToString(idOf(p)) == id })
	if i < 0 {
		return nil, fmt.Errorf("%s %q of cluster %s: %w", what, id, aws.ToString(r.Cluster.Id), ErrNotFound)
	}
	return &parts[i], nil
}

// countRunning sets each group's running count and each fleet's provisioned
// capacities from their instances.
func (r *record) countRunning() {
	for g := range r.Groups {
		var running int32
		for _, instance := range r.Instances {
			if aws.ToString(instance.InstanceGroupId) == aws.ToString(r.Groups[g].Id) &&
				instance.Status.State == types.InstanceStateRunning {
				running++
			}
		}
		r.Groups[g].RunningInstanceCount = aws.Int32(running)
	}
	for f := range r.Fleets {
		r.countProvisioned(&r.Fleets[f])
	}
}

// countProvisioned sets a fleet's provisioned capacities: the weights of its running
// instances.
func (r *record) countProvisioned(fleet *types.InstanceFleet) {
	var onDemand, spot int32
	for _, instance := range r.Instances {
		if aws.ToString(instance.InstanceFleetId) != aws.ToString(fleet.Id) || instance.Status.State != types.InstanceStateRunning {
			continue
		}
		weight := int32(1)
		for _, t := range fleet.InstanceTypeSpecifications {
			if aws.ToString(t.InstanceType) == aws.ToString(instance.InstanceType) {
				weight = aws.ToInt32(t.WeightedCapacity)
			}
		}
		if instance.Market == types.MarketTypeSpot {
			spot += weight
		} else {
			onDemand += weight
		}
	}
	fleet.ProvisionedOnDemandCapacity, fleet.ProvisionedSpotCapacity = aws.Int32(onDemand), aws.Int32(spot)
}

// stepsIn counts the steps that are in one of the states.
func (r *record) stepsIn(states ...types.StepState) int {
	var count int
	for _, step := range r.Steps {
		if slices.Contains(states, step.Status.State) {
			count++
		}
	}
	return count
}

func (r *record) groupAndFleetIDs() []string {
	var ids []string
	for _, g := range r.Groups {
		ids = append(ids, aws.ToString(g.Id))
	}
	for _, f := range r.Fleets {
		ids = append(ids, aws.ToString(f.Id))
	}
	return ids
}

// validate reports every violation of a record that is to be stored.
func (r *record) validate() error {
	var v violations
	id := aws.ToString(r.Cluster.Id)
	v.require(clusterID.MatchString(id), "Cluster.Id: %q: must match %s; make one with NewID", id, clusterID)
	v.require(aws.ToString(r.Cluster.Name) != "", `Cluster.Name: "": must not be empty; give the cluster a name`)
	groups := map[string]bool{}
	for i, id := range r.groupAndFleetIDs() {
		v.require(id != "" && !groups[id], "Groups[%d].Id: %q: must be present and unique; make one with NewID", i, id)
		groups[id] = true
	}
	for i, instance := range r.Instances {
		id := aws.ToString(instance.InstanceGroupId) + aws.ToString(instance.InstanceFleetId)
		v.require(groups[id], "Instances[%d].InstanceGroupId: %q: no such group; put the group first", i, id)
	}
	return errors.Join(v...)
}

// now returns the current time in milliseconds, EMR's precision.
func now() *time.Time { return aws.Time(time.Now().UTC().Truncate(time.Millisecond)) }
