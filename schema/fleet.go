package schema

import (
	"fmt"
	"math"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Limits of fleets (EMR Management Guide, "Configure instance fleets").
const (
	maxFleetTypes    = 5
	maxStrategyTypes = 30 // with an allocation strategy
	minSpotMinutes   = 5
	maxSpotMinutes   = 1440
	maxWeight        = 999
	maxBidPercent    = 1000
)

// SwitchToOnDemand is the spotTimeoutAction by which EMR buys on demand what it does not get
// on spot.
const SwitchToOnDemand = "SWITCH_TO_ON_DEMAND"

// wholePrice is the price on demand, in percent of itself.
const wholePrice = 100

// Fleets are the instances of a cluster by role.
type Fleets struct {
	Master Fleet  `json:"master"`
	Core   *Fleet `json:"core"`
	Task   *Fleet `json:"task"`
}

// Help describes the keys, for documents.
func (Fleets) Help() map[string]string {
	return map[string]string{
		"master": "Primary node or nodes.",
		"core":   "Core nodes. Left out: the primary node is the only one.",
		"task": "Task nodes. Left out: none. EMR adds a first fleet to the running cluster, and keeps it as it was added: " +
			"editing anything but onDemand and spot replaces the cluster.",
	}
}

// SetDefaults sets a primary node on demand.
func (f *Fleets) SetDefaults() {
	f.Master.SetDefaults()
	f.Master.OnDemand = 1
}

// Fleet describes the instances of one role. Targets count units, of which an instance
// has as many as its type weighs.
type Fleet struct {
	Types              []FleetType `json:"types" rule:"fleetTypes"`
	OnDemand           int         `json:"onDemand" rule:"fleetTarget"`
	Spot               int         `json:"spot" rule:"fleetTarget"`
	OnDemandStrategy   string      `json:"onDemandStrategy" rule:"onDemandStrategy"`
	SpotStrategy       string      `json:"spotStrategy" rule:"spotStrategy"`
	SpotTimeoutMinutes int         `json:"spotTimeoutMinutes" rule:"spotTimeout"`
	SpotTimeoutAction  string      `json:"spotTimeoutAction" rule:"spotTimeoutAction"`
}

// Help describes the keys, for documents.
func (Fleet) Help() map[string]string {
	return map[string]string{
		"types":              "Instance types to choose from.",
		"onDemand":           "Units on demand. At the cluster, an edit replaces it: EMR resizes fleets through its API only.",
		"spot":               "Units on spot.",
		"onDemandStrategy":   "How EMR chooses the type on demand. Empty: EMR's own choice, among five types at most.",
		"spotStrategy":       "How EMR chooses the type on spot. Empty: EMR's own choice, among five types at most.",
		"spotTimeoutMinutes": "How long EMR waits for spot instances when the cluster starts.",
		"spotTimeoutAction":  "What EMR does then.",
	}
}

// SetDefaults sets strategies that lose few instances.
func (f *Fleet) SetDefaults() {
	*f = Fleet{
		Types: []FleetType{}, OnDemandStrategy: "lowest-price", SpotStrategy: "price-capacity-optimized", SpotTimeoutMinutes: 20,
		SpotTimeoutAction: SwitchToOnDemand,
	}
}

// Refused says of keys that EMR's fleets have why these have not.
func (Fleet) Refused() map[string]decode.Refusal {
	return map[string]decode.Refusal{
		"resizeSpecifications": absent("leave it out: EMR then waits without end when it resizes"),
		"context":              absent("remove it"),
		"blockDurationMinutes": {Rule: "is no key: EC2 sells no more spot instances of a defined duration", Remedy: "remove it"},
	}
}

// FleetType is an instance type that a fleet may use.
type FleetType struct {
	InstanceType string   `json:"instanceType" rule:"emrInstanceType"`
	Weight       int      `json:"weight" rule:"weight"`
	BidPrice     string   `json:"bidPrice" rule:"price"`
	BidPercent   int      `json:"bidPercent" rule:"bidPercent"`
	EBS          []Volume `json:"ebs" rule:"fleetVolumes"`
}

// Help describes the keys, for documents.
func (FleetType) Help() map[string]string {
	return map[string]string{
		"instanceType": "EC2 instance type.",
		"weight":       "Units that one instance counts for.",
		"bidPrice":     "Highest spot price in USD per hour. Empty: bidPercent.",
		"bidPercent":   "Highest spot price in percent of that on demand. 0: bidPrice.",
		"ebs":          "Volumes of each instance, of one kind. Empty: EMR's own choice for the type.",
	}
}

// SetDefaults sets a type of one unit, for at most its price on demand.
func (t *FleetType) SetDefaults() {
	*t = FleetType{InstanceType: defaultInstanceType, Weight: 1, BidPercent: wholePrice, EBS: []Volume{}}
}

// Refused says of keys that EMR's types have why these have not.
func (FleetType) Refused() map[string]decode.Refusal {
	return map[string]decode.Refusal{
		"configurations": {Rule: "is no key: the provider does not read them back, and would replace the cluster after each refresh",
			Remedy: "write them into the configurations of the cluster"},
		"priority":    absent("use a strategy that needs none"),
		"customAmiId": absent("use customAmiId of the cluster, and types of one architecture"),
	}
}

func fleetRules() map[string]Rule {
	return map[string]Rule{
		"fleetTypes": textOnly(fmt.Sprintf("must be 1 to %d different types, or %d if each fleet has a strategy for each market that it uses",
			maxFleetTypes, maxStrategyTypes)),
		"fleetTarget": textOnly("must be 0 or more, with one of onDemand and spot above 0; for master 1 of either, or 3 on demand"),
		"onDemandStrategy": oneOf("lowest-price").optional().with(
			", or empty; prioritized needs priorities, which the AWS provider's version 6 cannot say", "use lowest-price"),
		"spotStrategy": oneOf("price-capacity-optimized", "capacity-optimized", "lowest-price", "diversified").optional().with(
			", or empty; capacity-optimized-prioritized needs priorities, which the AWS provider's version 6 cannot say", "use capacity-optimized"),
		"spotTimeout":       intRange(minSpotMinutes, maxSpotMinutes),
		"spotTimeoutAction": oneOf(SwitchToOnDemand, "TERMINATE_CLUSTER"),
		"weight":            intRange(1, maxWeight),
		"bidPercent":        intRange(0, maxBidPercent),
		"fleetVolumes":      textOnly("must be volumes of one kind, without throughput: the provider drops both of two"),
	}
}

// groups returns the types of all fleets. Each stands for the instances that its fleet
// would have of it alone.
func (f Fleets) groups(path string) []Group {
	var out []Group
	add := func(role string, fleet *Fleet) {
		if fleet == nil {
			return
		}
		at := path + "." + role
		for i, t := range fleet.Types {
			units := fleet.OnDemand + fleet.Spot
			g := Group{Path: pathOf(at+".types", i), Role: role, InstanceGroup: InstanceGroup{
				InstanceType: t.InstanceType, EBS: t.EBS, Count: (units + max(1, t.Weight) - 1) / max(1, t.Weight),
			}}
			if fleet.Spot > 0 {
				g.OnSpot, g.Asked = at+".spot", fleet.Spot
			}
			out = append(out, g)
		}
	}
	add(platform.RoleMaster, &f.Master)
	add(platform.RoleCore, f.Core)
	add(platform.RoleTask, f.Task)
	return out
}

// pathOf returns the path of an entry of a list.
func pathOf(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// maxUnits is the largest number in EMR's API. Larger ones would turn negative there.
const maxUnits = math.MaxInt32

const atMostUnits = "must be at most 2147483647, the largest number in EMR's API"

// checkTypes checks the types of a fleet.
func (f Fleet) checkTypes(l *violation.List, path string) {
	most := maxFleetTypes
	if len(f.marketsWithoutStrategy()) == 0 {
		most = maxStrategyTypes
	}
	l.Require(inRange(len(f.Types), 1, most), path+".types", len(f.Types), rules["fleetTypes"].Text, "name fewer types, or a strategy")
	seen := map[string]bool{}
	for i, t := range f.Types {
		at := pathOf(path+".types", i)
		checkFields(l, at, t)
		l.Require(!seen[t.InstanceType], at+".instanceType", t.InstanceType, "must differ from the other types", "remove it")
		seen[t.InstanceType] = true
		l.Require(t.BidPrice != "" || t.BidPercent != 0, at+".bidPrice", t.BidPrice, "must be given where bidPercent is 0",
			"set it, or remove bidPercent")
		l.Require(t.BidPrice == "" || t.BidPercent == 0, at+".bidPercent", t.BidPercent,
			fmt.Sprintf("must be 0 with a bidPrice, here %s: EMR takes one of both, and left out it is %d", t.BidPrice, wholePrice),
			"set it to 0, or remove bidPrice")
		l.Require(len(t.EBS) <= 1, at+".ebs", len(t.EBS), rules["fleetVolumes"].Text, "use one kind, with perInstance")
		for j, v := range t.EBS {
			volume := pathOf(at+".ebs", j)
			v.Validate(l, volume)
			l.Require(v.Throughput == 0, volume+".throughput", v.Throughput, "must be 0: the provider cannot set it on fleets", "remove it")
		}
	}
}
