package network

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkNamedZones requires that the zones of new subnets exist and offer the types of what
// runs in them. Of zones that the configuration names this is known before anything is
// registered, so that all violations are reported at once and by themselves.
func (b *builder) checkNamedZones() error {
	if b.args.VPCID != "" || len(b.args.AvailabilityZones) == 0 {
		return nil
	}
	// Without the filter by which zones are chosen: a named one may need opting in.
	all, err := aws.GetAvailabilityZones(b.Ctx, nil, pulumi.Parent(b.Parent))
	if err != nil {
		return fmt.Errorf("look up the zones of %s: %w", b.args.Region, err)
	}
	found, err := ec2.GetInstanceTypeOfferings(b.Ctx, &ec2.GetInstanceTypeOfferingsArgs{
		LocationType: pulumi.StringRef(byZone),
		Filters:      []ec2.GetInstanceTypeOfferingsFilter{{Name: byType, Values: b.instanceTypes()}},
	}, pulumi.Parent(b.Parent))
	if err != nil {
		return fmt.Errorf("look up which zones offer %s: %w", strings.Join(b.instanceTypes(), ", "), err)
	}
	offered := offeredBy(*found)
	var l violation.List
	for i, zone := range b.args.AvailabilityZones {
		path := fmt.Sprintf("network.availabilityZones[%d]", i)
		types := slices.Clone(b.args.TypesIn[i])
		if i == 0 {
			types = append(types, b.args.ControlType)
		}
		if exists := slices.Contains(all.Names, zone); exists {
			zoneUse{path: path, types: eachOnce(types)}.check(&l, zone, offered)
		} else {
			names := strings.Join(slices.Sorted(slices.Values(all.Names)), ", ")
			l.Require(false, path, zone, "must be a zone of "+b.args.Region+": the account has "+names, "name one of them")
		}
	}
	return l.Err()
}

// eachOnce returns types in their order, each once.
func eachOnce(types []string) []string { return slices.Compact(slices.Sorted(slices.Values(types))) }
