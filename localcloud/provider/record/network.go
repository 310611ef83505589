package record

import (
	"fmt"
	"hash/crc32"
	"strings"
)

// simple is a filler for EC2 resources that have an id, an ARN and an owner.
func simple(prefix, kind string, more func(d *draft)) filler {
	return func(d *draft) error {
		d.identify(ec2ID(prefix))
		d.otherwise("arn", d.arn("ec2", kind+"/"+d.id))
		if d.has("ownerId") {
			d.otherwise("ownerId", d.account.ID)
		}
		if more != nil {
			more(d)
		}
		return nil
	}
}

// link is a filler for associations, which have an id and nothing else.
func link(prefix string) filler {
	return func(d *draft) error { d.identify(ec2ID(prefix)); return nil }
}

func networkFillers() map[string]filler {
	return map[string]filler{
		"aws:ec2/vpc:Vpc":       simple("vpc-", "vpc", vpc),
		"aws:ec2/subnet:Subnet": simple("subnet-", "subnet", placeSubnet),
		"aws:ec2/routeTable:RouteTable": simple("rtb-", "route-table", func(d *draft) {
			d.otherwise("routes", []any{})
			d.otherwise("propagatingVgws", []any{})
		}),
		"aws:ec2/route:Route": func(d *draft) error {
			to := d.text("destinationCidrBlock") + d.text("destinationPrefixListId") + d.text("destinationIpv6CidrBlock")
			d.identify(fmt.Sprintf("r-%s%d", d.text("routeTableId"), crc32.ChecksumIEEE([]byte(to))))
			d.otherwise("origin", "CreateRoute")
			d.otherwise("state", "active")
			d.otherwise("instanceId", "")
			d.otherwise("instanceOwnerId", "")
			return nil
		},
		"aws:ec2/routeTableAssociation:RouteTableAssociation": link("rtbassoc-"),
		"aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation": func(d *draft) error {
			d.identify(ec2ID("rtbassoc-"))
			d.otherwise("originalRouteTableId", ec2ID("rtb-"))
			return nil
		},
		"aws:ec2/defaultRouteTable:DefaultRouteTable": func(d *draft) error {
			d.identify(d.text("defaultRouteTableId"))
			d.otherwise("vpcId", d.account.vpcOf(d.id))
			return simple("", "route-table", nil)(d)
		},
		"aws:ec2/internetGateway:InternetGateway": simple("igw-", "internet-gateway", func(d *draft) { d.otherwise("vpcId", "") }),
		"aws:ec2/internetGatewayAttachment:InternetGatewayAttachment": func(d *draft) error {
			d.identify(d.text("internetGatewayId") + ":" + d.text("vpcId"))
			return nil
		},
		"aws:ec2/natGateway:NatGateway":         nat,
		"aws:ec2/eip:Eip":                       elasticIP,
		"aws:ec2/eipAssociation:EipAssociation": link("eipassoc-"),
		"aws:ec2/vpcEndpoint:VpcEndpoint":       endpoint,
		"aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation": link("a-vpce-"),
		"aws:ec2/vpcEndpointSubnetAssociation:VpcEndpointSubnetAssociation":         link("a-vpce-"),
		"aws:ec2/securityGroup:SecurityGroup":                                       simple("sg-", "security-group", func(d *draft) { d.otherwise("description", "Managed by Pulumi") }),
		"aws:ec2/defaultSecurityGroup:DefaultSecurityGroup":                         defaultGroup,
		"aws:ec2/securityGroupRule:SecurityGroupRule": func(d *draft) error {
			d.identify("sgrule-" + random("0123456789", 10))
			d.otherwise("securityGroupRuleId", ec2ID("sgr-"))
			return nil
		},
		"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": groupRule,
		"aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule":   groupRule,
		"aws:ec2/networkAcl:NetworkAcl":                             simple("acl-", "network-acl", nil),
		"aws:ec2/defaultNetworkAcl:DefaultNetworkAcl": func(d *draft) error {
			d.identify(d.text("defaultNetworkAclId"))
			d.otherwise("vpcId", d.account.vpcOf(d.id))
			return simple("", "network-acl", nil)(d)
		},
		"aws:ec2/networkAclRule:NetworkAclRule":       link("nacl-"),
		"aws:ec2/vpcDhcpOptions:VpcDhcpOptions":       simple("dopt-", "dhcp-options", nil),
		"aws:ec2/managedPrefixList:ManagedPrefixList": simple("pl-", "prefix-list", func(d *draft) { d.otherwise("version", 1) }),
		"aws:ec2/flowLog:FlowLog":                     simple("fl-", "vpc-flow-log", nil),
		"aws:ec2/tag:Tag": func(d *draft) error {
			d.identify(d.text("resourceId") + "," + d.text("key"))
			return nil
		},
	}
}

func vpc(d *draft) {
	d.otherwise("defaultSecurityGroupId", ec2ID("sg-"))
	d.otherwise("defaultNetworkAclId", ec2ID("acl-"))
	d.otherwise("defaultRouteTableId", ec2ID("rtb-"))
	d.otherwise("mainRouteTableId", d.text("defaultRouteTableId"))
	d.otherwise("dhcpOptionsId", ec2ID("dopt-"))
	d.otherwise("enableDnsSupport", true)
	d.otherwise("enableDnsHostnames", false)
	d.otherwise("instanceTenancy", "default")
	for _, none := range []string{"ipv6AssociationId", "ipv6CidrBlock", "ipv6CidrBlockNetworkBorderGroup", "ipv6IpamPoolId"} {
		d.otherwise(none, "")
	}
}

func placeSubnet(d *draft) {
	d.otherwise("availabilityZone", d.account.Region()+"a")
	d.otherwise("availabilityZoneId", zoneID(d.text("availabilityZone")))
	d.otherwise("mapPublicIpOnLaunch", false)
	d.otherwise("ipv6CidrBlockAssociationId", "")
	d.otherwise("privateDnsHostnameTypeOnLaunch", "ip-name")
}

// zoneID is the id of a zone in this account: us-east-1b is use1-az2.
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

func nat(d *draft) error {
	d.identify(ec2ID("nat-"))
	d.otherwise("connectivityType", "public")
	d.otherwise("networkInterfaceId", ec2ID("eni-"))
	d.otherwise("associationId", ec2ID("eipassoc-"))
	d.otherwise("publicIp", publicAddress(d.r.URN))
	if d.text("privateIp") != "" {
		return nil
	}
	ip, err := d.account.Address(d.text("subnetId"), d.r.URN)
	if err != nil {
		return fmt.Errorf("create NAT gateway: %w", err)
	}
	d.otherwise("privateIp", ip.String())
	return nil
}

func elasticIP(d *draft) error {
	d.identify(ec2ID("eipalloc-"))
	d.otherwise("allocationId", d.id)
	d.otherwise("arn", d.arn("ec2", "elastic-ip/"+d.id))
	d.otherwise("domain", "vpc")
	d.otherwise("publicIp", publicAddress(d.r.URN))
	d.otherwise("publicDns", "ec2-"+strings.ReplaceAll(d.text("publicIp"), ".", "-")+".compute-1.amazonaws.com")
	d.otherwise("publicIpv4Pool", "amazon")
	d.otherwise("networkBorderGroup", d.account.Region())
	for _, none := range []string{"associationId", "carrierIp", "customerOwnedIp", "instance", "networkInterface", "privateDns", "privateIp", "ptrRecord"} {
		d.otherwise(none, "")
	}
	return nil
}

// publicAddress is in TEST-NET-3 (RFC 5737), which routes nowhere.
func publicAddress(owner string) string {
	return fmt.Sprintf("203.0.113.%d", 1+crc32.ChecksumIEEE([]byte(owner))%254)
}

func endpoint(d *draft) error {
	d.otherwise("vpcEndpointType", "Gateway")
	d.otherwise("privateDnsEnabled", false)
	d.otherwise("requesterManaged", false)
	d.otherwise("state", "available")
	d.otherwise("policy", `{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}`)
	d.otherwise("ipAddressType", "ipv4")
	if d.text("vpcEndpointType") == "Gateway" {
		d.otherwise("prefixListId", "pl-"+randomHex(8))
		d.otherwise("cidrBlocks", []any{"52.216.0.0/15"})
	} else {
		d.otherwise("prefixListId", "")
		d.otherwise("dnsEntries", []any{map[string]any{"dnsName": "vpce-" + randomHex(17) + "." + d.text("serviceName"), "hostedZoneId": "Z7HUB22UULQXV"}})
		d.otherwise("networkInterfaceIds", []any{ec2ID("eni-")})
	}
	return simple("vpce-", "vpc-endpoint", nil)(d)
}

func groupRule(d *draft) error {
	d.identify(ec2ID("sgr-"))
	d.otherwise("arn", d.arn("ec2", "security-group-rule/"+d.id))
	d.otherwise("securityGroupRuleId", d.id)
	return nil
}

func defaultGroup(d *draft) error {
	if id := d.account.defaultGroup(d.text("vpcId")); id != "" {
		d.identify(id)
	}
	return simple("sg-", "security-group", func(d *draft) {
		d.otherwise("name", "default")
		d.otherwise("description", "default VPC security group")
	})(d)
}
