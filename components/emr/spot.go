package emr

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// requireSpotRole refuses groups on spot in an account without EC2's service-linked
// role for spot: EMR's service role may not create it, and the cluster would fail
// after minutes (EC2 User Guide, "Service-linked role for Spot Instance requests").
// The program does not create it either: an account has it once, and the stack that
// owned it would delete it for all.
//
// It lists roles, because looking up a single role fails if the role is absent.
func (b *builder) requireSpotRole() error {
	onSpot := b.args.groupsOnSpot()
	if len(onSpot) == 0 {
		return nil
	}
	found, err := iam.GetRoles(b.Ctx, &iam.GetRolesArgs{PathPrefix: pulumi.StringRef("/aws-service-role/" + platform.SpotService + "/")},
		pulumi.Parent(b.Parent))
	if err != nil {
		return fmt.Errorf("look up role %s, which spot instances need: %w", platform.SpotRole, err)
	}
	var l violation.List
	for _, g := range onSpot {
		without := "empty"
		if _, units := g.set.(int); units {
			without = "0"
		}
		l.Require(len(found.Names) > 0, g.path, g.set,
			"must be "+without+" in an account without the role "+platform.SpotRole+", with which EC2 requests spot instances",
			"create the role once: `aws iam create-service-linked-role --aws-service-name "+platform.SpotService+"`")
	}
	return l.Err()
}

// spotGroup is an instance group or a fleet on spot.
type spotGroup struct {
	path string // of the key that asks for spot
	set  any    // a price, or a fleet's units
}

func (a *Args) groupsOnSpot() []spotGroup {
	var out []spotGroup
	for _, g := range a.GroupsAt(schema.ClusterPath(a.Key)) {
		if found := (spotGroup{g.OnSpot, g.Asked}); g.OnSpot != "" && !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	return out
}
