package network

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// The rule of zones, which a subnet cannot change without being replaced, and with
// it everything that runs in it:
//
//   - Named zones are used as they are.
//   - Otherwise the first two of the region, by name, that offer every instance type
//     of the configuration are chosen when the subnets are created, and kept from
//     then on, whatever is offered where.
//   - In both cases the first subnet's zone, in which everything runs, must offer
//     every instance type. An edit that it does not offer is refused; it moves
//     nothing. So is an edit of the region, until zones of the new one are named.

// instanceTypes are the configured types, each once.
func (b *builder) instanceTypes() []string {
	return slices.Compact(slices.Sorted(slices.Values(b.args.InstanceTypes)))
}

// findOfferings looks up which of the configured instance types each zone offers. An
// account's zone letters are its own: us-east-1a of one account is another's us-east-1c.
func (b *builder) findOfferings() pulumi.StringArrayMapOutput {
	found := ec2.GetInstanceTypeOfferingsOutput(b.Ctx, ec2.GetInstanceTypeOfferingsOutputArgs{
		LocationType: pulumi.String("availability-zone"),
		Filters: ec2.GetInstanceTypeOfferingsFilterArray{ec2.GetInstanceTypeOfferingsFilterArgs{
			Name: pulumi.String("instance-type"), Values: pulumi.ToStringArray(b.instanceTypes()),
		}},
	}, pulumi.Parent(b.Parent))
	return found.ApplyT(func(r ec2.GetInstanceTypeOfferingsResult) map[string][]string {
		offered := map[string][]string{}
		for i := range min(len(r.Locations), len(r.InstanceTypes)) {
			offered[r.Locations[i]] = append(offered[r.Locations[i]], r.InstanceTypes[i])
		}
		return offered
	}).(pulumi.StringArrayMapOutput)
}

// zones are the zones of new subnets.
func (b *builder) zones(offerings pulumi.StringArrayMapOutput) pulumi.StringArrayOutput {
	if len(b.args.AvailabilityZones) > 0 {
		return pulumi.ToStringArray(b.args.AvailabilityZones).ToStringArrayOutput()
	}
	available := aws.GetAvailabilityZonesOutput(b.Ctx, aws.GetAvailabilityZonesOutputArgs{
		State: pulumi.String("available"),
		// Leaves out local and wavelength zones, which EMR does not serve.
		Filters: aws.GetAvailabilityZonesFilterArray{aws.GetAvailabilityZonesFilterArgs{
			Name: pulumi.String("opt-in-status"), Values: pulumi.StringArray{pulumi.String("opt-in-not-required")},
		}},
	}, pulumi.Parent(b.Parent)).Names()
	return offerings.ApplyT(func(offered map[string][]string) pulumi.StringArrayOutput {
		return available.ApplyT(func(names []string) ([]string, error) {
			return chooseZones(names, offered, b.instanceTypes())
		}).(pulumi.StringArrayOutput)
	}).(pulumi.StringArrayOutput)
}

// chooseZones returns the first of the available zones, by name, that offer every
// type: as many as there are private subnets.
func chooseZones(available []string, offered map[string][]string, types []string) ([]string, error) {
	suitable := slices.DeleteFunc(slices.Sorted(slices.Values(available)), func(zone string) bool {
		return len(missing(types, offered[zone])) > 0
	})
	if len(suitable) >= schema.ZoneCount {
		return suitable[:schema.ZoneCount], nil
	}
	var l violation.List
	l.Require(false, "network.availabilityZones", suitable,
		fmt.Sprintf("must be two zones: only these of the region offer every instance type (%s)", strings.Join(types, ", ")),
		"choose other types, or name two zones of which the first offers them all")
	return nil, l.Err()
}

// checkedZone is the first subnet's zone if it offers every type; otherwise it fails,
// in a preview too.
func (b *builder) checkedZone(zone pulumi.StringOutput, offerings pulumi.StringArrayMapOutput) pulumi.StringOutput {
	return offerings.ApplyT(func(offered map[string][]string) pulumi.StringOutput {
		return zone.ApplyT(func(name string) (string, error) {
			return name, b.checkZone(name, offered)
		}).(pulumi.StringOutput)
	}).(pulumi.StringOutput)
}

func (b *builder) checkZone(zone string, offered map[string][]string) error {
	lacks := missing(b.instanceTypes(), offered[zone])
	var others []string
	for _, other := range slices.Sorted(maps.Keys(offered)) {
		if len(missing(b.instanceTypes(), offered[other])) == 0 {
			others = append(others, other)
		}
	}
	path, value := "network.availabilityZones", zone
	remedy := "choose types that it offers, or name zones of which the first offers all: that replaces the subnets and what runs in them"
	if b.args.VPCID != "" {
		path, value = "network.subnetIds[0]", b.args.SubnetIDs[0]
		remedy = "choose types that it offers, or name a subnet of another zone first: that replaces what runs in the subnet"
	}
	if len(others) > 0 {
		remedy += "; zones that offer all: " + strings.Join(others, ", ")
	}
	var l violation.List
	l.Require(len(lacks) == 0, path, value, fmt.Sprintf("must be in a zone that offers every instance type; %s does not offer %s",
		zone, strings.Join(lacks, ", ")), remedy)
	return l.Err()
}

// after returns the subnets once their zone is checked, so that nothing starts in one
// that does not offer its type.
func after[O pulumi.Output](zone pulumi.StringOutput, subnets O) O {
	return zone.ApplyT(func(string) O { return subnets }).(O)
}

// missing are the types that are not offered.
func missing(types, offered []string) []string {
	return slices.DeleteFunc(slices.Clone(types), func(t string) bool { return slices.Contains(offered, t) })
}

// subnetOptions are the options of a subnet. A chosen zone is kept: see the rule.
func (b *builder) subnetOptions() []pulumi.ResourceOption {
	if len(b.args.AvailabilityZones) > 0 {
		return b.Options()
	}
	return b.Options(pulumi.IgnoreChanges([]string{"availabilityZone"}))
}
