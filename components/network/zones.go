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
//   - In both cases a subnet's zone must offer the instance types of what runs in it.
//     An edit that it does not offer is refused; it moves nothing. So is an edit of the
//     region, until zones of the new one are named.

// instanceTypes are the configured types, each once.
func (b *builder) instanceTypes() []string { return eachOnce(b.args.InstanceTypes) }

// EC2's words for offerings by zone, of some types (EC2 API, DescribeInstanceTypeOfferings).
const byZone, byType = "availability-zone", "instance-type"

// findOfferings looks up which of the configured instance types each zone offers. An
// account's zone letters are its own: us-east-1a of one account is another's us-east-1c.
func (b *builder) findOfferings() pulumi.StringArrayMapOutput {
	found := ec2.GetInstanceTypeOfferingsOutput(b.Ctx, ec2.GetInstanceTypeOfferingsOutputArgs{
		LocationType: pulumi.String(byZone),
		Filters: ec2.GetInstanceTypeOfferingsFilterArray{ec2.GetInstanceTypeOfferingsFilterArgs{
			Name: pulumi.String(byType), Values: pulumi.ToStringArray(b.instanceTypes()),
		}},
	}, pulumi.Parent(b.Parent))
	return found.ApplyT(offeredBy).(pulumi.StringArrayMapOutput)
}

// offeredBy returns the types that each zone offers.
func offeredBy(r ec2.GetInstanceTypeOfferingsResult) map[string][]string {
	offered := map[string][]string{}
	for i := range min(len(r.Locations), len(r.InstanceTypes)) {
		offered[r.Locations[i]] = append(offered[r.Locations[i]], r.InstanceTypes[i])
	}
	return offered
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
		"choose other types, or name two zones that offer those of what runs in each")
	return nil, l.Err()
}

// used reports whether the zone of a private subnet matters: the first one's is an output.
func (b *builder) used(subnet int) bool { return subnet == 0 || len(b.args.TypesIn[subnet]) > 0 }

// zoneUse is what runs in the zone of a subnet.
type zoneUse struct {
	path  string // of the configuration
	value string // the existing subnet; "" in a VPC of the stack, where it is the zone
	zone  pulumi.StringOutput
	types []string
}

// zoneUses are the first private subnet's, those of other private subnets that have nodes
// of their own, and last the control node's.
func (b *builder) zoneUses(v vpcInfo) []zoneUse {
	private := func(i int, types []string) zoneUse {
		u := zoneUse{zone: v.zones[i], types: types}
		if u.path = fmt.Sprintf("network.availabilityZones[%d]", i); b.args.VPCID != "" {
			u.path, u.value = fmt.Sprintf("network.subnetIds[%d]", i), b.args.SubnetIDs[i]
		}
		return u
	}
	var uses []zoneUse
	for _, i := range slices.Sorted(maps.Keys(v.zones)) {
		if b.used(i) {
			uses = append(uses, private(i, b.args.TypesIn[i]))
		}
	}
	control := private(0, []string{b.args.ControlType})
	if b.args.PublicControl && b.args.VPCID != "" {
		control.path, control.value, control.zone = "network.publicSubnetId", b.args.PublicSubnetID, v.publicZone
	} else { // one violation for one subnet
		control.types, uses[0].types = eachOnce(append(control.types, uses[0].types...)), nil
	}
	return append(uses, control)
}

// checkedZones are the first private subnet's zone and the control node's, if each zone
// offers the types of what runs in it; otherwise they fail, in a preview too.
func (b *builder) checkedZones(v vpcInfo, offerings pulumi.StringArrayMapOutput) (first, control pulumi.StringOutput) {
	uses := b.zoneUses(v)
	names := pulumi.StringArray{}
	for _, u := range uses {
		names = append(names, u.zone)
	}
	checked := offerings.ApplyT(func(offered map[string][]string) pulumi.StringArrayOutput {
		return names.ToStringArrayOutput().ApplyT(func(names []string) ([]string, error) {
			var l violation.List
			for i, u := range uses {
				u.check(&l, names[i], offered)
			}
			return names, l.Err()
		}).(pulumi.StringArrayOutput)
	}).(pulumi.StringArrayOutput)
	return checked.Index(pulumi.Int(0)), checked.Index(pulumi.Int(len(uses) - 1))
}

func (u zoneUse) check(l *violation.List, zone string, offered map[string][]string) {
	lacks := missing(u.types, offered[zone])
	var others []string
	for _, other := range slices.Sorted(maps.Keys(offered)) {
		if len(missing(u.types, offered[other])) == 0 {
			others = append(others, other)
		}
	}
	value, remedy := zone, "choose types that it offers, or name another zone: that replaces the subnet and what runs in it"
	if u.value != "" {
		value, remedy = u.value, "choose types that it offers, or name a subnet of another zone: that replaces what runs in the subnet"
	}
	if len(others) > 0 {
		remedy += "; zones that offer all: " + strings.Join(others, ", ")
	}
	l.Require(len(lacks) == 0, u.path, value, fmt.Sprintf("must be in a zone that offers the instance types of what runs there; "+
		"%s does not offer %s", zone, strings.Join(lacks, ", ")), remedy)
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
