// Package emrlimits has limits of EMR that its two stand-ins share, so that both refuse the
// same: the rules of the simulated providers, and the API of the local cloud. It holds
// limits only: each of the two reads its own form of a request.
package emrlimits

// MaxVolumes is how many EBS volumes an instance takes besides its root volume (EMR
// Management Guide, "Instance storage": "There is a limit of 25 volumes per instance",
// which does not except the root volume).
const MaxVolumes = 25 - 1

// How many instance types a fleet may name (EMR API, InstanceTypeConfig).
const (
	MaxTypes         = 5
	MaxStrategyTypes = 30 // with an allocation strategy
)

// Fleet is what decides how many types the fleets of a cluster may name.
type Fleet struct {
	OnDemand, Spot                 int  // target capacities
	OnDemandStrategy, SpotStrategy bool // whether an allocation strategy is given
}

// MaxTypesOf returns how many types each fleet of a cluster may name: the larger number
// only if every one of them has a strategy for each market in which it has a target. With
// one for the task fleet alone, EMR keeps that to MaxTypes (terraform-provider-aws#25132).
func MaxTypesOf(fleets ...Fleet) int {
	for _, f := range fleets {
		if f.OnDemand > 0 && !f.OnDemandStrategy || f.Spot > 0 && !f.SpotStrategy {
			return MaxTypes
		}
	}
	return MaxStrategyTypes
}
