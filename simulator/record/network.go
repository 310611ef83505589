package record

import (
	"fmt"
	"hash/crc32"
	"strings"
)

// ec2Resource returns the filler of EC2 resources that have an id, an ARN and an owner.
func ec2Resource(prefix, kind string, more func(d *draft)) filler {
	return func(d *draft) error {
		d.setID(newEC2ID(prefix))
		d.setDefault("arn", d.regionalARN("ec2", kind+"/"+d.id))
		if d.hasOutput("ownerId") {
			d.setDefault("ownerId", d.account.ID)
		}
		if more != nil {
			more(d)
		}
		return nil
	}
}

// networkFillers covers subnets, routes, gateways and endpoints.
func networkFillers() map[string]filler {
	return map[string]filler{
		"aws:ec2/vpc:Vpc":       ec2Resource("vpc-", "vpc", vpc),
		"aws:ec2/subnet:Subnet": ec2Resource("subnet-", "subnet", subnetDefaults),
		"aws:ec2/routeTable:RouteTable": ec2Resource("rtb-", "route-table", func(d *draft) {
			d.setDefault("routes", []any{})
			d.setDefault("propagatingVgws", []any{})
		}),
		"aws:ec2/route:Route": func(d *draft) error {
			to := d.text("destinationCidrBlock") + d.text("destinationPrefixListId") + d.text("destinationIpv6CidrBlock")
			d.setID(fmt.Sprintf("r-%s%d", d.text("routeTableId"), crc32.ChecksumIEEE([]byte(to))))
			d.setDefault("origin", "CreateRoute")
			d.setDefault("state", "active")
			d.setDefault("instanceId", "")
			d.setDefault("instanceOwnerId", "")
			return nil
		},
		"aws:ec2/routeTableAssociation:RouteTableAssociation": func(d *draft) error {
			d.setID(newEC2ID("rtbassoc-"))
			return nil
		},
		"aws:ec2/internetGateway:InternetGateway": ec2Resource("igw-", "internet-gateway",
			func(d *draft) { d.setDefault("vpcId", "") }),
		"aws:ec2/natGateway:NatGateway":         natGateway,
		"aws:ec2/eip:Eip":                       elasticIP,
		"aws:ec2/eipAssociation:EipAssociation": addressAssociation,
		"aws:ec2/vpcEndpoint:VpcEndpoint":       endpoint,
	}
}

// firewallFillers covers security groups and what remains of VPC.
func firewallFillers() map[string]filler {
	return map[string]filler{
		"aws:ec2/securityGroup:SecurityGroup": ec2Resource(
			"sg-", "security-group", func(d *draft) { d.setDefault("description", "Managed by Pulumi") },
		),
		"aws:ec2/defaultSecurityGroup:DefaultSecurityGroup":         defaultSecurityGroup,
		"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": securityGroupRule,
		"aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule":   securityGroupRule,
		"aws:ec2/flowLog:FlowLog":                                   ec2Resource("fl-", "vpc-flow-log", nil),
		"aws:ec2/tag:Tag": func(d *draft) error {
			d.setID(d.text("resourceId") + "," + d.text("key"))
			return nil
		},
	}
}

func vpc(d *draft) {
	d.setDefault("defaultSecurityGroupId", newEC2ID("sg-"))
	d.setDefault("defaultNetworkAclId", newEC2ID("acl-"))
	d.setDefault("defaultRouteTableId", newEC2ID("rtb-"))
	d.setDefault("mainRouteTableId", d.text("defaultRouteTableId"))
	d.setDefault("dhcpOptionsId", newEC2ID("dopt-"))
	d.setDefault("enableDnsSupport", true)
	d.setDefault("enableDnsHostnames", false)
	d.setDefault("instanceTenancy", "default")
	for _, none := range []string{"ipv6AssociationId", "ipv6CidrBlock", "ipv6CidrBlockNetworkBorderGroup", "ipv6IpamPoolId"} {
		d.setDefault(none, "")
	}
}

func subnetDefaults(d *draft) {
	d.setDefault("availabilityZone", d.account.Region()+"a")
	d.setDefault("availabilityZoneId", zoneID(d.text("availabilityZone")))
	d.setDefault("mapPublicIpOnLaunch", false)
	d.setDefault("ipv6CidrBlockAssociationId", "")
	d.setDefault("privateDnsHostnameTypeOnLaunch", "ip-name")
}

// zoneID returns the id of a zone in this account: us-east-1b is use1-az2.
func zoneID(zone string) string {
	parts := strings.Split(zone, "-")
	if len(parts) < 3 {
		return ""
	}
	last := parts[len(parts)-1]
	short := parts[0]
	for _, p := range parts[1 : len(parts)-1] {
		short += p[:1]
	}
	return fmt.Sprintf("%s%s-az%d", short, last[:1], last[len(last)-1]-'a'+1)
}

func natGateway(d *draft) error {
	d.setID(newEC2ID("nat-"))
	d.setDefault("connectivityType", "public")
	d.setDefault("networkInterfaceId", newEC2ID("eni-"))
	d.setDefault("associationId", newEC2ID("eipassoc-"))
	d.setDefault("publicIp", fakePublicAddress(d.r.URN))
	if d.text("privateIp") != "" {
		return nil
	}
	ip, err := d.account.AllocateAddress(d.text("subnetId"), d.r.URN)
	if err != nil {
		return fmt.Errorf("create NAT gateway: %w", err)
	}
	d.setDefault("privateIp", ip.String())
	return nil
}

func elasticIP(d *draft) error {
	d.setID(newEC2ID("eipalloc-"))
	d.setDefault("allocationId", d.id)
	d.setDefault("arn", d.regionalARN("ec2", "elastic-ip/"+d.id))
	d.setDefault("domain", "vpc")
	d.setDefault("publicIp", fakePublicAddress(d.r.URN))
	d.setDefault("publicDns", "ec2-"+strings.ReplaceAll(d.text("publicIp"), ".", "-")+".compute-1.amazonaws.com")
	d.setDefault("publicIpv4Pool", "amazon")
	d.setDefault("networkBorderGroup", d.account.Region())
	for _, none := range []string{
		"associationId", "carrierIp", "customerOwnedIp", "instance", "networkInterface", "privateDns", "privateIp", "ptrRecord",
	} {
		d.setDefault(none, "")
	}
	return nil
}

// fakePublicAddress returns an address of TEST-NET-3 (RFC 5737), which is not routed.
func fakePublicAddress(owner string) string {
	return fmt.Sprintf("203.0.113.%d", 1+crc32.ChecksumIEEE([]byte(owner))%254)
}

func endpoint(d *draft) error {
	d.setDefault("vpcEndpointType", "Gateway")
	d.setDefault("privateDnsEnabled", false)
	d.setDefault("requesterManaged", false)
	d.setDefault("state", "available")
	d.setDefault("policy", `{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}`)
	d.setDefault("ipAddressType", "ipv4")
	if d.text("vpcEndpointType") == "Gateway" {
		d.setDefault("prefixListId", "pl-"+randomHex(8))
		d.setDefault("cidrBlocks", []any{"52.216.0.0/15"})
	} else {
		d.setDefault("prefixListId", "")
		d.setDefault(
			"dnsEntries",
			[]any{map[string]any{"dnsName": "vpce-" + randomHex(17) + "." + d.text("serviceName"), "hostedZoneId": "Z7HUB22UULQXV"}},
		)
		d.setDefault("networkInterfaceIds", []any{newEC2ID("eni-")})
	}
	return ec2Resource("vpce-", "vpc-endpoint", nil)(d)
}

func securityGroupRule(d *draft) error {
	d.setID(newEC2ID("sgr-"))
	d.setDefault("arn", d.regionalARN("ec2", "security-group-rule/"+d.id))
	d.setDefault("securityGroupRuleId", d.id)
	return nil
}

func defaultSecurityGroup(d *draft) error {
	if id := d.account.defaultSecurityGroup(d.text("vpcId")); id != "" {
		d.setID(id)
	}
	return ec2Resource("sg-", "security-group", func(d *draft) {
		d.setDefault("name", "default")
		d.setDefault("description", "default VPC security group")
	})(d)
}
