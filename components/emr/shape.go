package emr

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// fleetShapeName is the role of the record of the task fleet.
const fleetShapeName = "fleet-shape"

// replacementTrigger returns the value whose change replaces the cluster. EMR adds a
// first task fleet to a running cluster, but can neither edit nor remove it afterwards. What
// tells the two apart is the record of the fleet, whose id changes with an edit only. The
// cluster keeps the id that it was created with, so that it is replaced even if the first
// attempt to do so fails.
func (b *builder) replacementTrigger() (pulumi.StringInput, error) {
	if b.args.Fleets == nil {
		return pulumi.String(b.shape()), nil
	}
	record, err := b.recordTaskFleet()
	if err != nil {
		return nil, err
	}
	return pulumi.Sprintf("%s; task fleet %s", b.shape(), record.ID()), nil
}

// recordTaskFleet keeps in the stack's state what EMR cannot edit of the task fleet, ""
// if there is none. The engine updates the record of a first fleet in place: it replaces
// by a trigger only if there was one before. It handles this type itself and makes no API
// calls. If EMR refuses a first fleet, the state has its record all the same, so that
// another edit of the fleet replaces the cluster, and the same one does not. The record
// cannot wait for the fleet, which waits for the cluster, which needs the record's id.
func (b *builder) recordTaskFleet() (*pulumi.Stash, error) {
	fixed, replaced := "", pulumi.ReplaceOnChanges([]string{"input"}) // by the removal of a fleet
	if f := b.args.Fleets.Task; f != nil {
		fixed = fixedParts(*f)
		replaced = pulumi.ReplacementTrigger(pulumi.String(fixed))
	}
	record, err := pulumi.NewStash(b.Ctx, b.Name(fleetShapeName), &pulumi.StashArgs{Input: pulumi.String(fixed)}, b.Options(replaced)...)
	if err != nil {
		return nil, fmt.Errorf("record the task fleet: %w", err)
	}
	return record, nil
}

// shape names what only a new cluster can change although the provider does not replace
// it then: which groups or fleets the cluster has, and which of them have volumes of their
// own.
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
