package network

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// group is a security group; ready is its id once its rules exist.
type group struct {
	id    pulumi.IDOutput
	ready pulumi.StringOutput
}

func (b *builder) createSecurityGroups(v vpcInfo) (map[string]*group, error) {
	endpoints := len(b.args.InterfaceEndpoints) > 0
	groups := map[string]*group{}
	descriptions := groupDescriptions(endpoints)
	for _, role := range slices.Sorted(maps.Keys(descriptions)) {
		g, err := ec2.NewSecurityGroup(b.Ctx, b.Name(role), &ec2.SecurityGroupArgs{
			VpcId: v.vpcID, Description: pulumi.String(descriptions[role]),
			// Groups that name each other cannot be deleted before their rules.
			RevokeRulesOnDelete: pulumi.Bool(true),
			Tags:                b.emrTags(role),
		}, b.Options()...)
		if err != nil {
			return nil, fmt.Errorf("create security group %s: %w", role, err)
		}
		groups[role] = &group{id: g.ID()}
	}
	created := map[string][]pulumi.Resource{} // rules by group
	for _, r := range rules(b.args.OperatorCIDRs, b.args.Outbound, endpoints) {
		resource, err := b.createRule(r, groups, v)
		if err != nil {
			return nil, fmt.Errorf("create rule %s: %w", r.name, err)
		}
		created[r.group] = append(created[r.group], resource)
	}
	for role, g := range groups {
		g.ready = withDependencies(b.Ctx, g.id.ToStringOutput(), created[role]...)
	}
	return groups, nil
}

// ruleNames replaces the characters of a network address that have a meaning in a
// URN: "2001:db8::/32" becomes "2001-db8--_32".
var ruleNames = strings.NewReplacer("/", "_", ":", "-")

// createRule creates the resource of a rule.
func (b *builder) createRule(r rule, groups map[string]*group, v vpcInfo) (pulumi.Resource, error) {
	name := b.Name(ruleNames.Replace(r.name))
	var peer, cidr4, cidr6, prefixList pulumi.StringPtrInput
	switch {
	case r.peer != "":
		peer = groups[r.peer].id.ToStringOutput()
	case r.s3:
		prefixList = v.s3PrefixList
	case strings.Contains(r.cidr, ":"):
		cidr6 = pulumi.String(r.cidr)
	default:
		cidr4 = pulumi.String(r.cidr)
	}
	if r.egress {
		return vpc.NewSecurityGroupEgressRule(b.Ctx, name, &vpc.SecurityGroupEgressRuleArgs{
			SecurityGroupId: groups[r.group].id, Description: pulumi.String(r.description), IpProtocol: pulumi.String(r.protocol),
			FromPort: pulumi.Int(r.from), ToPort: pulumi.Int(r.to), ReferencedSecurityGroupId: peer, CidrIpv4: cidr4, CidrIpv6: cidr6,
			PrefixListId: prefixList,
			Tags:         b.Tags(r.name),
		}, b.Options()...)
	}
	return vpc.NewSecurityGroupIngressRule(b.Ctx, name, &vpc.SecurityGroupIngressRuleArgs{
		SecurityGroupId: groups[r.group].id, Description: pulumi.String(r.description), IpProtocol: pulumi.String(r.protocol),
		FromPort: pulumi.Int(r.from), ToPort: pulumi.Int(r.to), ReferencedSecurityGroupId: peer, CidrIpv4: cidr4, CidrIpv6: cidr6,
		PrefixListId: prefixList,
		Tags:         b.Tags(r.name),
	}, b.Options()...)
}
