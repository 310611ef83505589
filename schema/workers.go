package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// maxTaskGroups: a cluster has 50 instance groups, two of them primary and core. EMR
// keeps a removed group, with 0 nodes, and counts it (EMR Management Guide, "Configure
// instance groups").
const maxTaskGroups = 50 - 2

func workerRules() map[string]Rule {
	return map[string]Rule{
		"tasks": textOnly(fmt.Sprintf("must be at most %d groups, with keys of 1 to 32 lower-case letters, digits and hyphens that begin with a "+
			"letter and end with none", maxTaskGroups)),
		"subnets": textOnly("must be the number of a private subnet of the network, from 0; with fleets, several"),
	}
}

// Group is an instance group of a cluster, or one of a fleet's instance types.
type Group struct {
	Path   string // clusters.etl.tasks.spot
	Role   string // master, core or task
	OnSpot string // path of the key that asks for spot instances, "" if none does
	Asked  any    // what OnSpot is set to: a price, or a number of units
	InstanceGroup
}

// newGroup returns an instance group at a path.
func newGroup(path, role string, g InstanceGroup) Group {
	out := Group{Path: path, Role: role, InstanceGroup: g}
	if g.BidPrice != "" {
		out.OnSpot, out.Asked = path+".bidPrice", g.BidPrice
	}
	return out
}

// TaskKeys returns the keys of the task groups in their order.
func (c Cluster) TaskKeys() []string { return slices.Sorted(maps.Keys(c.Tasks)) }

// HasCore reports whether the cluster has core nodes. Without, it is its primary node
// alone.
func (c Cluster) HasCore() bool {
	if c.Fleets != nil {
		return c.Fleets.Core != nil
	}
	return c.Core.Count != 0
}

// Masters is how many primary nodes the cluster has.
func (c Cluster) Masters() int {
	if c.Fleets != nil {
		return c.Fleets.Master.OnDemand + c.Fleets.Master.Spot
	}
	return c.Master.Count
}

// GroupsAt returns the instance groups that exist: primary, core, task. path is the
// cluster's own.
func (c Cluster) GroupsAt(path string) []Group {
	if c.Fleets != nil {
		return c.Fleets.groups(path + ".fleets")
	}
	groups := []Group{newGroup(path+".master", platform.RoleMaster, c.Master)}
	if c.HasCore() {
		groups = append(groups, newGroup(path+".core", platform.RoleCore, c.Core))
	}
	for _, key := range c.TaskKeys() {
		groups = append(groups, newGroup(path+".tasks."+key, platform.RoleTask, c.Tasks[key]))
	}
	return groups
}

// Groups returns the instance groups that exist.
func (c Cluster) Groups() []InstanceGroup {
	var groups []InstanceGroup
	for _, g := range c.GroupsAt("") {
		groups = append(groups, g.InstanceGroup)
	}
	return groups
}

// checkWorkers checks core and task groups.
func (c Cluster) checkWorkers(l *violation.List, path string) {
	if c.HasCore() {
		c.Core.Validate(l, path+".core", workerCount()+", "+noCore)
	} else {
		checkFields(l, path+".core", c.Core)
	}
	c.Core.checkNotTask(l, path+".core")
	l.Require(c.HasCore() || len(c.Tasks) == 0, path+".tasks", len(c.Tasks),
		"must be empty without core nodes: EMR adds task nodes to a core group",
		"set "+path+".core.count to 1 or more")
	l.Require(c.HasCore() || c.Master.Count <= 1, path+".core.count", c.Core.Count, "must be at least 1 with three primary nodes",
		"set it to 1 or more, or "+path+".master.count to 1")
	l.Require(len(c.Tasks) <= maxTaskGroups, path+".tasks", len(c.Tasks), rules["tasks"].Text, "put more nodes into fewer groups")
	for _, key := range c.TaskKeys() {
		at := path + ".tasks." + key
		l.Require(rules["clusterKey"].Holds(key), at, key, rules["clusterKey"].Text, "rename the key")
		c.Tasks[key].Validate(l, at, workerCount())
		c.Tasks[key].checkTask(l, at)
	}
}

// checkSubnets requires Subnets to be distinct indices of the network's private subnets.
// EMR runs all nodes of a cluster in one subnet; only instance fleets may list several for
// EMR to choose from.
func (c Cluster) checkSubnets(l *violation.List, path string, n Network) {
	at, last := path+".subnets", n.privateSubnetCount()-1
	l.Require(len(c.Subnets) == 1 || c.Fleets != nil && len(c.Subnets) > 1, at, c.Subnets, rules["subnets"].Text,
		"name one subnet: only fleets choose among several")
	for i, s := range c.Subnets {
		l.Require(inRange(s, 0, last) && !slices.Contains(c.Subnets[:i], s), fmt.Sprintf("%s[%d]", at, i), s,
			fmt.Sprintf("must be 0 to %d, each only once: the network has no other private subnets", last), "")
	}
}

// privateSubnetCount returns the number of private subnets: those of a VPC that the stack
// creates, else the listed ones. An empty list is counted as one: another rule reports it.
func (n Network) privateSubnetCount() int {
	if n.VPCID == "" {
		return ZoneCount
	}
	return max(1, len(n.SubnetIDs))
}

// Refused says of keys that a cluster might have why it has not.
func (Cluster) Refused() map[string]decode.Refusal {
	out := unsupportedKeys()
	out["task"] = decode.Refusal{
		Rule:   "is no longer a key: a cluster has any number of task groups, each under a key of its own",
		Remedy: "write these lines instead (EMR keeps the old group, with 0 nodes)", Rewrite: taskLines,
	}
	return out
}

// taskLines renders a former task group under the key task.
func taskLines(value any) string {
	text, err := yaml.Marshal(map[string]any{"tasks": map[string]any{platform.RoleTask: plain(value)}})
	if err != nil {
		return "tasks: {" + platform.RoleTask + ": " + violation.JSON(value) + "}"
	}
	return "  " + strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  ")
}
