package schema

import (
	"reflect"

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
	single := f.OnDemand+f.Spot == 1
	l.Require(single || f.Spot == 0 && f.OnDemand == threeMasters, path+".onDemand", f.OnDemand, rules["fleetTarget"].Text,
		"set it to 1 or 3, and spot to 0")
	l.Require(f.Spot == 0 || ephemeral, path+".spot", f.Spot,
		"must be 0 unless the stack is ephemeral: losing the primary node loses the cluster",
		"run the primary node on demand")
	for i, t := range f.Types {
		l.Require(t.Weight == 1, pathOf(path+".types", i)+".weight", t.Weight, "must be 1 for primary nodes", "remove it")
	}
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
