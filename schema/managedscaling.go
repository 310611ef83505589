package schema

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Units of managed scaling (EMR API, ComputeLimits).
const (
	UnitInstances  = "Instances"
	UnitVCPU       = "VCPU"
	UnitFleetUnits = "InstanceFleetUnits"
)

// ManagedScaling lets EMR choose how many nodes a cluster has.
type ManagedScaling struct {
	Unit        string `json:"unit" rule:"scalingUnit"`
	Min         int    `json:"min" rule:"scalingLimit"`
	Max         int    `json:"max" rule:"scalingLimit"`
	MaxCore     *int   `json:"maxCore" rule:"scalingPart"`
	MaxOnDemand *int   `json:"maxOnDemand" rule:"scalingPart"`
}

// Help describes the keys, for documents.
func (ManagedScaling) Help() map[string]string {
	return map[string]string{
		"unit":        "What the limits count: Instances or VCPU with instance groups, InstanceFleetUnits with fleets.",
		"min":         "Least of core and task nodes together. While EMR scales the cluster, an edit of a group's count has no effect.",
		"max":         "Most of core and task nodes together.",
		"maxCore":     "Most of core nodes. Left out: max.",
		"maxOnDemand": "Most on demand; the rest is on spot. Left out: max.",
	}
}

// SetDefaults sets the unit to instances and both limits to 1.
func (m *ManagedScaling) SetDefaults() { *m = ManagedScaling{Unit: UnitInstances, Min: 1, Max: 1} }

// Refused says of keys that EMR's policy has why this one has not.
func (ManagedScaling) Refused() map[string]decode.Refusal {
	r := absent("leave it out: EMR then scales by its default strategy")
	return map[string]decode.Refusal{"scalingStrategy": r, "utilizationPerformanceIndex": r}
}

func managedScalingRules() map[string]Rule {
	return map[string]Rule{
		"scalingUnit":  oneOf(UnitInstances, UnitVCPU, UnitFleetUnits),
		"scalingLimit": textOnly("must be 1 or more, and min at most max"),
		"scalingPart":  textOnly("must be 0 to max; maxCore 1 or more, and at most maxOnDemand while the core nodes are on demand"),
	}
}

func (c Cluster) checkManagedScaling(l *violation.List, path string) {
	m, at := c.ManagedScaling, path+".managedScaling"
	if m == nil {
		return
	}
	checkFields(l, at, *m)
	if c.Fleets != nil {
		l.Require(m.Unit == UnitFleetUnits, at+".unit", m.Unit, "must be "+UnitFleetUnits+" with fleets", "")
	} else {
		l.Require(m.Unit != UnitFleetUnits, at+".unit", m.Unit, "must be "+UnitInstances+" or "+UnitVCPU+" with instance groups", "")
	}
	rule := rules["scalingLimit"].Text
	l.Require(m.Min >= 1, at+".min", m.Min, rule, "")
	l.Require(m.Max >= m.Min, at+".max", m.Max, rule, "increase it, or decrease min")
	l.Require(m.Max <= maxUnits, at+".max", m.Max, atMostUnits, "decrease it")
	if m.MaxCore != nil {
		l.Require(inRange(*m.MaxCore, 1, m.Max), at+".maxCore", *m.MaxCore, rules["scalingPart"].Text, "")
	}
	if m.MaxOnDemand != nil {
		l.Require(inRange(*m.MaxOnDemand, 0, m.Max), at+".maxOnDemand", *m.MaxOnDemand, rules["scalingPart"].Text, "")
		l.Require(*m.MaxOnDemand != 0 || m.MaxCore == nil, at+".maxOnDemand", *m.MaxOnDemand,
			"must be 1 or more with maxCore: the provider drops a 0",
			"set it to 1, or leave maxCore out")
	}
	c.checkCoreOnDemand(l, path)
	l.Require(c.HasCore(), at, m.Unit, "must not be set for a primary node alone: there is nothing to scale",
		"remove it, or set "+path+".core.count")
	warnOfFixed(l, newSettings(sparkDefaults, path+".sparkDefaults", c.SparkDefaults))
	for i, step := range c.Steps {
		warnOfFixed(l, settings{sparkDefaults: submitted(pathOf(path+".steps", i)+".args", step.Args)})
	}
	for _, g := range c.GroupsAt(path) {
		l.Require(g.AutoScaling == nil, g.Path+".autoScaling", "set", "must not be set with managedScaling: EMR takes one of both", "remove one")
	}
}

// checkCoreOnDemand requires that core nodes on demand cannot outgrow the nodes on demand.
// EMR refuses others ("If you select On-Demand market type for core nodes in a cluster with
// instance groups, MaximumCoreCapacityUnits must be less than or equal to
// MaximumOnDemandCapacityUnits", boto3#3963).
func (c Cluster) checkCoreOnDemand(l *violation.List, path string) {
	m := c.ManagedScaling
	if c.Fleets != nil || c.Core.BidPrice != "" || m.MaxCore == nil || m.MaxOnDemand == nil || *m.MaxOnDemand <= 0 {
		return
	}
	l.Require(*m.MaxCore <= *m.MaxOnDemand, path+".managedScaling.maxCore", *m.MaxCore,
		fmt.Sprintf("must be at most maxOnDemand, which is %d, while the core nodes are on demand", *m.MaxOnDemand),
		fmt.Sprintf("set it to %d at most, or put the core nodes on spot with %s.core.bidPrice", *m.MaxOnDemand, path))
}

// warnOfFixed warns of jobs without dynamic allocation (EMR Management Guide, "Using
// managed scaling", considerations).
func warnOfFixed(l *violation.List, s settings) {
	v, set := s.value(sparkDefaults, dynamicOn)
	on, ok := parseSparkBool(v.value)
	l.Warn(!set || !ok || on, v.path, v.value,
		"should be true with managedScaling: a job without it keeps its executors, and asks for all of them at once, so that EMR scales "+
			"up to max", "remove it, or the key managedScaling")
}
