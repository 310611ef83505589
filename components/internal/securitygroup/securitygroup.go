// Package securitygroup creates security groups whose rules are resources of their
// own, for the components that have some. It decides nothing: descriptions and rules
// are its caller's.
package securitygroup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
)

const (
	anyPort  = -1 // EC2's value for all ICMP types
	lastPort = 65535
	http     = 80
	dns      = 53
)

// Rule allows one kind of traffic between a group and one peer: another group, an
// address range, or S3 in the region.
type Rule struct {
	Name        string // unique in the component
	Group       string // one of Groups.Descriptions
	Egress      bool
	Protocol    string // tcp, udp, icmp
	From, To    int
	Peer        string // a group: of Descriptions or Others
	CIDR        string
	S3          bool
	Description string // EC2 allows letters, digits and ._-:/()#,@[]+=&;{}!$*
}

// TCP returns an inbound rule for one port.
func TCP(name, group string, port int, description string) Rule {
	return Rule{Name: name, Group: group, Protocol: "tcp", From: port, To: port, Description: description}
}

// Toward returns the rule as an outbound one.
func (r Rule) Toward() Rule {
	r.Egress = true
	return r
}

// Between returns the rule with a group as its peer.
func (r Rule) Between(peer string) Rule {
	r.Peer = peer
	return r
}

// Of returns the rule with an address range as its peer.
func (r Rule) Of(cidr string) Rule {
	r.CIDR = cidr
	return r
}

// AllTraffic returns the rules that allow all traffic from one group to another, in
// both directions of the connection.
func AllTraffic(from, to, description string) []Rule {
	var out []Rule
	for _, p := range []struct {
		protocol  string
		low, high int
	}{{"tcp", 0, lastPort}, {"udp", 0, lastPort}, {"icmp", anyPort, anyPort}} {
		r := Rule{Group: to, Protocol: p.protocol, From: p.low, To: p.high, Peer: from, Description: description}
		r.Name = to + "-" + p.protocol + "-from-" + from
		out = append(out, r)
		r = r.Toward().Between(to)
		r.Group, r.Name = from, from+"-"+p.protocol+"-to-"+to
		out = append(out, r)
	}
	return out
}

// Outbound allows what every machine of a group connects to. dnsServers are a VPC's own;
// AmazonProvidedDNS needs no rule.
//
// It allows HTTPS to any address, deliberately: AWS APIs, image registries
// and package mirrors have no stable addresses. Routes (NAT or endpoints) decide
// which of them are reachable. Plain HTTP is allowed only to S3, which serves Amazon
// Linux's package repositories over it. Name resolution by AmazonProvidedDNS, time and
// instance metadata are not subject to security groups (VPC User Guide, "Security groups").
func Outbound(group string, dnsServers []string) []Rule {
	toS3 := TCP(group+"-http-to-s3", group, http, "Package repositories in S3").Toward()
	toS3.S3 = true
	out := []Rule{
		TCP(group+"-https-out", group, int(platform.HTTPS), "AWS APIs, images and packages").Toward().Of("0.0.0.0/0"),
		toS3,
	}
	for _, server := range dnsServers {
		for _, protocol := range []string{"udp", "tcp"} { // TCP for answers that do not fit (RFC 7766)
			r := Rule{Group: group, Protocol: protocol, From: dns, To: dns, Description: "DNS servers of the VPC"}
			r.Name = group + "-dns-" + protocol + "-to-" + server
			out = append(out, r.Toward().Of(server+"/32"))
		}
	}
	return out
}

// Group is a security group; Ready is its id once its rules exist.
type Group struct{ ID, Ready pulumi.StringOutput }

// Groups describes the groups of a component.
type Groups struct {
	VPCID        pulumi.StringInput
	S3PrefixList pulumi.StringInput            // addresses of S3 in the region
	Descriptions map[string]string             // by role. EC2 never changes one: an edit replaces the group
	Tags         map[string]pulumi.StringInput // of each group, beside its name
	Rules        []Rule
	Others       map[string]pulumi.StringInput // ids of groups that are peers only
}

// Create creates the groups and their rules.
func Create(b child.Builder, g Groups) (map[string]*Group, error) {
	groups := map[string]*Group{}
	peers := maps.Clone(g.Others)
	if peers == nil {
		peers = map[string]pulumi.StringInput{}
	}
	for _, role := range slices.Sorted(maps.Keys(g.Descriptions)) {
		tags := b.Tags(role)
		maps.Copy(tags, g.Tags)
		created, err := ec2.NewSecurityGroup(b.Ctx, b.Name(role), &ec2.SecurityGroupArgs{
			VpcId: g.VPCID.ToStringOutput(), Description: pulumi.String(g.Descriptions[role]),
			// Groups that name each other cannot be deleted before their rules.
			RevokeRulesOnDelete: pulumi.Bool(true),
			Tags:                tags,
		}, b.Options()...)
		if err != nil {
			return nil, fmt.Errorf("create security group %s: %w", role, err)
		}
		groups[role] = &Group{ID: created.ID().ToStringOutput()}
		peers[role] = groups[role].ID
	}
	rules := map[string][]pulumi.Resource{} // by group
	for _, r := range g.Rules {
		resource, err := r.create(b, groups[r.Group].ID, peers[r.Peer], g.S3PrefixList)
		if err != nil {
			return nil, fmt.Errorf("create rule %s: %w", r.Name, err)
		}
		rules[r.Group] = append(rules[r.Group], resource)
	}
	for role, group := range groups {
		group.Ready = output.After(b.Ctx.Context(), group.ID, rules[role]...)
	}
	return groups, nil
}

// ruleNames replaces the characters of a network address that have a meaning in a
// URN: "2001:db8::/32" becomes "2001-db8--_32".
var ruleNames = strings.NewReplacer("/", "_", ":", "-")

// create creates the resource of a rule.
func (r Rule) create(b child.Builder, group pulumi.StringInput, peerID, s3 pulumi.StringInput) (pulumi.Resource, error) {
	name := b.Name(ruleNames.Replace(r.Name))
	var peer, cidr4, cidr6, prefixList pulumi.StringPtrInput
	switch {
	case r.Peer != "":
		peer = peerID.ToStringOutput()
	case r.S3:
		prefixList = s3.ToStringOutput()
	case strings.Contains(r.CIDR, ":"):
		cidr6 = pulumi.String(r.CIDR)
	default:
		cidr4 = pulumi.String(r.CIDR)
	}
	if r.Egress {
		return vpc.NewSecurityGroupEgressRule(b.Ctx, name, &vpc.SecurityGroupEgressRuleArgs{
			SecurityGroupId: group, Description: pulumi.String(r.Description), IpProtocol: pulumi.String(r.Protocol),
			FromPort: pulumi.Int(r.From), ToPort: pulumi.Int(r.To), ReferencedSecurityGroupId: peer, CidrIpv4: cidr4, CidrIpv6: cidr6,
			PrefixListId: prefixList, Tags: b.Tags(r.Name),
		}, b.Options()...)
	}
	return vpc.NewSecurityGroupIngressRule(b.Ctx, name, &vpc.SecurityGroupIngressRuleArgs{
		SecurityGroupId: group, Description: pulumi.String(r.Description), IpProtocol: pulumi.String(r.Protocol),
		FromPort: pulumi.Int(r.From), ToPort: pulumi.Int(r.To), ReferencedSecurityGroupId: peer, CidrIpv4: cidr4, CidrIpv6: cidr6,
		PrefixListId: prefixList, Tags: b.Tags(r.Name),
	}, b.Options()...)
}
