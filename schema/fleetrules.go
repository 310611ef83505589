package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkFleets checks the fleets, and that nothing is said about groups, which they
// replace.
func (c Cluster) checkFleets(l *violation.List, path string, ephemeral bool) {
	var defaults Cluster
	defaults.SetDefaults()
	for _, g := range []struct {
		key            string
		group, nothing InstanceGroup
	}{{"master", c.Master, defaults.Master}, {"core", c.Core, defaults.Core}} {
		l.Require(reflect.DeepEqual(g.group, g.nothing) || reflect.DeepEqual(g.group, InstanceGroup{}), path+"."+g.key, g.group,
			"must not be given with fleets, which take its place", "move it to "+path+".fleets."+g.key+", or remove fleets")
	}
	l.Require(len(c.Tasks) == 0, path+".tasks", len(c.Tasks), "must be empty with fleets, which take their place",
		"move them to "+path+".fleets.task")
	c.checkMasterFleet(l, path+".fleets.master", ephemeral)
	f := *c.Fleets
	l.Require(f.Core != nil || f.Task == nil, path+".fleets.task", "set",
		"must not be set without a core fleet: EMR adds task nodes to core nodes",
		"add fleets.core")
	l.Require(f.Core != nil || c.Masters() <= 1, path+".fleets.core", nil, "must be set with three primary nodes", "add it")
	f.checkStrategies(l, path+".fleets")
	for key, fleet := range map[string]*Fleet{"core": f.Core, "task": f.Task} {
		if fleet == nil {
			continue
		}
		at := path + ".fleets." + key
		fleet.check(l, at)
		l.Require(fleet.OnDemand+fleet.Spot > 0, at+".onDemand", fleet.OnDemand, rules["fleetTarget"].Text, "set onDemand, spot or both")
	}
}

func (c Cluster) checkMasterFleet(l *violation.List, path string, ephemeral bool) {
	f := c.Fleets.Master
	f.check(l, path)
	total, asked, value := f.OnDemand+f.Spot, ".onDemand", f.OnDemand
	if f.OnDemand == 0 && f.Spot != 0 {
		asked, value = ".spot", f.Spot
	}
	l.Require(total == 1 || total == threeMasters, path+asked, value, rules["fleetTarget"].Text, "set onDemand to 1 or 3, and spot to 0")
	l.Require(total != threeMasters || f.Spot == 0, path+".spot", f.Spot, "must be 0 with three primary nodes: "+onDemandMasters,
		"set it to 0, and onDemand to 3")
	l.Require(f.Spot == 0 || ephemeral || total == threeMasters, path+".spot", f.Spot,
		"must be 0 unless the stack is ephemeral: losing the primary node loses the cluster",
		"run the primary node on demand")
	for i, t := range f.Types {
		l.Require(t.Weight == 1, pathOf(path+".types", i)+".weight", t.Weight, "must be 1 for primary nodes", "remove it")
	}
}

// checkStrategies requires strategies of all other fleets, too, where one has more types
// than EMR takes without: it refuses them otherwise (terraform-provider-aws#25132).
func (f Fleets) checkStrategies(l *violation.List, path string) {
	large := ""
	fleets := f.workers()
	fleets[platform.RoleMaster] = f.Master
	for _, role := range slices.Sorted(maps.Keys(fleets)) {
		if n := len(fleets[role].Types); n > maxFleetTypes {
			large = fmt.Sprintf("%s names %d", role, n)
		}
	}
	if large == "" {
		return
	}
	for role, fleet := range fleets {
		for _, market := range fleet.marketsWithoutStrategy() {
			l.Require(len(fleet.Types) > maxFleetTypes, path+"."+role+"."+market, "", // else checkTypes refuses it
				fmt.Sprintf("must be given where any fleet of the cluster names more than %d types: %s", maxFleetTypes, large),
				fmt.Sprintf("name a strategy, such as %s, or %d types there at most", rules[market].Values[0], maxFleetTypes))
		}
	}
}

// marketsWithoutStrategy returns the keys of the strategies that are missing: of the markets
// in which the fleet has a target.
func (f Fleet) marketsWithoutStrategy() []string {
	var out []string
	if f.OnDemand > 0 && f.OnDemandStrategy == "" {
		out = append(out, "onDemandStrategy")
	}
	if f.Spot > 0 && f.SpotStrategy == "" {
		out = append(out, "spotStrategy")
	}
	return out
}

func (f Fleet) check(l *violation.List, path string) {
	checkFields(l, path, f)
	l.Require(inRange(f.OnDemand, 0, maxUnits), path+".onDemand", f.OnDemand, rules["fleetTarget"].Text, "")
	l.Require(inRange(f.Spot, 0, maxUnits), path+".spot", f.Spot, rules["fleetTarget"].Text, "")
	var unset Fleet
	unset.SetDefaults()
	l.Require(f.SpotStrategy != "" || f.SpotTimeoutMinutes == unset.SpotTimeoutMinutes && f.SpotTimeoutAction == unset.SpotTimeoutAction,
		path+".spotStrategy", f.SpotStrategy, "must be given with spotTimeoutMinutes or spotTimeoutAction: the provider sends all three or none",
		"name a strategy")
	f.checkTypes(l, path)
}
