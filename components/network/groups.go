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

func (b *builder) securityGroups(p place) (map[string]*group, error) {
	endpoints := len(b.args.InterfaceEndpoints) > 0
	groups := map[string]*group{}
	descriptions := groupDescriptions(endpoints)
	for _, role := range slices.Sorted(maps.Keys(descriptions)) {
		g, err := ec2.NewSecurityGroup(b.ctx, b.name(role), &ec2.SecurityGroupArgs{
			VpcId: p.vpcID, Description: pulumi.String(descriptions[role]),
			// Groups that name each other cannot be deleted before their rules.
			RevokeRulesOnDelete: pulumi.Bool(true),
			Tags:                b.tags(role, true),
		}, b.child()...)
		if err != nil {
			return nil, fmt.Errorf("create security group %s: %w", role, err)
		}
		groups[role] = &group{id: g.ID()}
	}
	made := map[string][]pulumi.Resource{}
	for _, r := range rules(b.args.OperatorCIDRs, endpoints) {
		resource, err := b.rule(r, groups, p)
		if err != nil {
			return nil, fmt.Errorf("create rule %s: %w", r.name, err)
		}
		made[r.group] = append(made[r.group], resource)
	}
	for role, g := range groups {
		g.ready = pulumi.OutputWithDependencies(b.ctx.Context(), g.id.ToStringOutput(), made[role]...).(pulumi.StringOutput)
	}
	return groups, nil
}

// inName keeps a network's address out of the URN's own syntax:
// "2001:db8::/32" becomes "2001-db8--_32".
var inName = strings.NewReplacer("/", "_", ":", "-")

// rule makes one rule.
func (b *builder) rule(r rule, groups map[string]*group, p place) (pulumi.Resource, error) {
	name := b.name(inName.Replace(r.name))
	var peer, cidr4, cidr6, list pulumi.StringPtrInput
	switch {
	case r.peer != "":
		peer = groups[r.peer].id.ToStringOutput()
	case r.s3:
		list = p.s3PrefixList
	case strings.Contains(r.cidr, ":"):
		cidr6 = pulumi.String(r.cidr)
	default:
		cidr4 = pulumi.String(r.cidr)
	}
	if r.egress {
		return vpc.NewSecurityGroupEgressRule(b.ctx, name, &vpc.SecurityGroupEgressRuleArgs{
			SecurityGroupId: groups[r.group].id, Description: pulumi.String(r.why), IpProtocol: pulumi.String(r.protocol),
			FromPort: pulumi.Int(r.from), ToPort: pulumi.Int(r.to), ReferencedSecurityGroupId: peer, CidrIpv4: cidr4, CidrIpv6: cidr6, PrefixListId: list,
			Tags: b.tags(r.name, false),
		}, b.child()...)
	}
	return vpc.NewSecurityGroupIngressRule(b.ctx, name, &vpc.SecurityGroupIngressRuleArgs{
		SecurityGroupId: groups[r.group].id, Description: pulumi.String(r.why), IpProtocol: pulumi.String(r.protocol),
		FromPort: pulumi.Int(r.from), ToPort: pulumi.Int(r.to), ReferencedSecurityGroupId: peer, CidrIpv4: cidr4, CidrIpv6: cidr6, PrefixListId: list,
		Tags: b.tags(r.name, false),
	}, b.child()...)
}
