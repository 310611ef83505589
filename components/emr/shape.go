package emr

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// shape names what only a new cluster can change although the provider does not replace
// it then: which groups or fleets the cluster has, which of them have volumes of their
// own, and what EMR cannot edit of its task fleet.
func (b *builder) shape() string {
	shape := "groups"
	if b.args.Fleets != nil {
		shape = "fleets"
	}
	shape += " of primary"
	if b.args.HasCore() {
		shape += " and core"
	}
	shape += " nodes"
	for _, role := range []string{platform.RoleMaster, platform.RoleCore} {
		if n := b.withVolumes(role); n > 0 {
			shape += fmt.Sprintf("; %d of %s with volumes", n, role)
		}
	}
	if f := b.args.Fleets; f != nil && f.Task != nil {
		shape += "; task fleet " + fixedParts(*f.Task)
	}
	return shape
}

// withVolumes counts the groups or types of a role whose volumes the program says. Where
// it says none any more, the provider keeps those that are there.
func (b *builder) withVolumes(role string) (n int) {
	for _, g := range b.args.GroupsAt("") {
		if g.Role == role && len(g.EBS) > 0 {
			n++
		}
	}
	return n
}

// fixedParts renders what the provider replaces a task fleet for. EMR has one task fleet
// in a cluster, which it neither removes nor creates again, so that the cluster must be
// new. The order of the types says nothing.
func fixedParts(f schema.Fleet) string {
	// What is not sent differs in nothing, see onDemandSpecification and spotSpecification.
	if f.OnDemand == 0 {
		f.OnDemandStrategy = ""
	}
	if f.Spot == 0 {
		f.SpotStrategy, f.SpotTimeoutMinutes, f.SpotTimeoutAction = "", 0, ""
	}
	f.OnDemand, f.Spot = 0, 0
	f.Types = slices.SortedFunc(slices.Values(f.Types), func(a, b schema.FleetType) int { return cmp.Compare(a.InstanceType, b.InstanceType) })
	text, err := json.Marshal(f)
	if err != nil {
		return "" // only numbers that JSON lacks, which no configuration can hold
	}
	return string(text)
}
