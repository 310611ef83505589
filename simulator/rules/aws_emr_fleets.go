package rules

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/simulator/emrlimits"
)

const emrTaskFleet = "aws:emr/instanceFleet:InstanceFleet"

// fleetRules cover the fleets of a cluster and task fleets.
func fleetRules() []Rule {
	const source = "EMR API, InstanceTypeConfig and FleetProvisioningSpecifications"
	var out []Rule
	for _, at := range []struct{ typ, prefix string }{
		{emrCluster, "masterInstanceFleet."}, {emrCluster, "coreInstanceFleet."}, {emrTaskFleet, ""},
	} {
		config := at.prefix + "instanceTypeConfigs[*]"
		spot := at.prefix + "launchSpecifications.spotSpecifications[*]"
		out = append(out,
			Rule{Type: at.typ, Path: config + ".ebsConfigs", Rule: "must be one: the provider drops both of two",
				Remedy: "use volumesPerInstance", Source: "terraform-provider-aws emr/cluster.go", Holds: maxItems(1), Pass: []any{object{}},
				Fail: []any{object{}, object{}}},
			Rule{Type: at.typ, Path: config,
				Rule:   "bidPrice excludes bidPriceAsPercentageOfOnDemandPrice, which the provider sends as 100 unless it is 0",
				Source: source + "; terraform-provider-aws emr/cluster.go",
				Holds:  onObject(func(o object) bool { return !isSet(o, "bidPrice") || o["bidPriceAsPercentageOfOnDemandPrice"] == 0.0 }),
				Pass:   object{"bidPrice": "0.1", "bidPriceAsPercentageOfOnDemandPrice": 0.0}, Fail: object{"bidPrice": "0.1"}},
			limits(at.typ, spot+".timeoutDurationMinutes", source, "", 5, 1440, 20, 4),
			enum(at.typ, spot+".timeoutAction", source, "TERMINATE_CLUSTER", "WAIT", "SWITCH_TO_ON_DEMAND", "TERMINATE_CLUSTER"),
			Rule{Type: at.typ, Path: spot + ".allocationStrategy", Rule: "must be an allocation strategy for spot", Source: source,
				Holds: oneOf("capacity-optimized", "price-capacity-optimized", "lowest-price", "diversified", "capacity-optimized-prioritized"),
				Pass:  "diversified", Fail: "cheapest"},
		)
	}
	return append(out, fleetTypeRules()...)
}

// fleetTypeRules cover the number of types. A task fleet is a resource of its own, which
// does not tell the strategies of the cluster's other fleets.
func fleetTypeRules() []Rule {
	const rule = "must name at most 5 types, or 30 if each fleet has an allocation strategy for each market in which it has a target"
	const source = "EMR API, InstanceTypeConfig; terraform-provider-aws#25132"
	fleet := func(types int, strategy object) object {
		return object{"targetOnDemandCapacity": 1.0, "instanceTypeConfigs": make([]any, types), "launchSpecifications": strategy}
	}
	given := object{"onDemandSpecifications": []any{object{"allocationStrategy": "lowest-price"}}}
	return []Rule{
		{Type: emrCluster, Rule: "fleets " + rule, Source: source, Holds: onObject(typesFitFleets),
			Pass: object{"masterInstanceFleet": fleet(1, given), "coreInstanceFleet": fleet(30, given)},
			Fail: object{"masterInstanceFleet": fleet(1, object{}), "coreInstanceFleet": fleet(6, given)}},
		{Type: emrTaskFleet, Rule: rule, Source: source,
			Holds: onObject(func(o object) bool { return typesFitFleets(object{"coreInstanceFleet": o}) }), Pass: fleet(30, given),
			Fail: fleet(6, object{})},
	}
}

// typesFitFleets accepts a cluster whose fleets name no more types than EMR takes.
func typesFitFleets(cluster object) bool {
	var fleets []emrlimits.Fleet
	named := 0
	for _, key := range []string{"masterInstanceFleet", "coreInstanceFleet"} {
		o, ok := cluster[key].(object)
		if !ok {
			continue
		}
		if !isKnown(o) {
			return true
		}
		types, _ := o["instanceTypeConfigs"].([]any)
		named = max(named, len(types))
		onDemand, _ := numberField(o, "targetOnDemandCapacity")
		spot, _ := numberField(o, "targetSpotCapacity")
		fleets = append(fleets, emrlimits.Fleet{
			OnDemand: int(onDemand), OnDemandStrategy: hasStrategy(o, "onDemandSpecifications"), Spot: int(spot),
			SpotStrategy: hasStrategy(o, "spotSpecifications"),
		})
	}
	return named <= emrlimits.MaxTypesOf(fleets...)
}

// hasStrategy reports whether a fleet has an allocation strategy for a market.
func hasStrategy(fleet object, specifications string) bool {
	launch, _ := fleet["launchSpecifications"].(object)
	list, _ := launch[specifications].([]any)
	return slices.ContainsFunc(list, func(e any) bool {
		o, ok := e.(object)
		return ok && isSet(o, "allocationStrategy")
	})
}
