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
			d.setDefaults(result{"routes": []any{}, "propagatingVgws": []any{}})
		}),
		"aws:ec2/route:Route": func(d *draft) error {
			to := d.text("destinationCidrBlock") + d.text("destinationPrefixListId") + d.text("destinationIpv6CidrBlock")
			d.setID(fmt.Sprintf("r-%s%d", d.text("routeTableId"), crc32.ChecksumIEEE([]byte(to))))
			d.setDefaults(result{"origin": "CreateRoute", "state": "active", "instanceId": "", "instanceOwnerId": ""})
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
	d.setDefault("defaultRouteTableId", newEC2ID("rtb-"))
	d.setDefaults(result{
		"defaultSecurityGroupId": newEC2ID("sg-"), "defaultNetworkAclId": newEC2ID("acl-"), "dhcpOptionsId": newEC2ID("dopt-"),
		"mainRouteTableId": d.text("defaultRouteTableId"), "enableDnsSupport": true, "enableDnsHostnames": false, "instanceTenancy": "default",
	})
	d.setEmpty("ipv6AssociationId", "ipv6CidrBlock", "ipv6CidrBlockNetworkBorderGroup", "ipv6IpamPoolId")
}

func subnetDefaults(d *draft) {
	d.setDefault("availabilityZone", d.account.Region()+"a")
	d.setDefaults(result{
		"availabilityZoneId": zoneID(d.text("availabilityZone")), "mapPublicIpOnLaunch": false, "ipv6CidrBlockAssociationId": "",
		"privateDnsHostnameTypeOnLaunch": "ip-name",
	})
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
	d.setDefaults(result{
		"connectivityType": "public", "networkInterfaceId": newEC2ID("eni-"), "associationId": newEC2ID("eipassoc-"),
		"publicIp": fakePublicAddress(d.r.URN),
	})
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
	d.setDefaults(result{
		"allocationId": d.id, "arn": d.regionalARN("ec2", "elastic-ip/"+d.id), "domain": "vpc", "publicIp": fakePublicAddress(d.r.URN),
	})
	d.setDefault("publicDns", "ec2-"+strings.ReplaceAll(d.text("publicIp"), ".", "-")+".compute-1.amazonaws.com")
	d.setDefault("publicIpv4Pool", "amazon")
	d.setDefault("networkBorderGroup", d.account.Region())
	d.setEmpty("associationId", "carrierIp", "customerOwnedIp", "instance", "networkInterface", "privateDns", "privateIp", "ptrRecord")
	return nil
}

// fakePublicAddress returns an address of TEST-NET-3 (RFC 5737), which is not routed.
func fakePublicAddress(owner string) string {
	return fmt.Sprintf("203.0.113.%d", 1+crc32.ChecksumIEEE([]byte(owner))%254)
}

func endpoint(d *draft) error {
	d.setDefaults(result{
		"vpcEndpointType": "Gateway", "privateDnsEnabled": false, "requesterManaged": false, "state": "available",
		"policy":        `{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}]}`,
		"ipAddressType": "ipv4",
	})
	if d.text("vpcEndpointType") == "Gateway" {
		d.setDefaults(result{"prefixListId": "pl-" + randomHex(8), "cidrBlocks": []any{"52.216.0.0/15"}})
	} else {
		d.setDefault("prefixListId", "")
		name := "vpce-" + randomHex(17) + "." + d.text("serviceName")
		d.setDefault("dnsEntries", []any{result{"dnsName": name, "hostedZoneId": "Z7HUB22UULQXV"}})
		d.setDefault("networkInterfaceIds", []any{newEC2ID("eni-")})
	}
	return ec2Resource("vpce-", "vpc-endpoint", nil)(d)
}

func securityGroupRule(d *draft) error {
	d.setID(newEC2ID("sgr-"))
	d.setDefaults(result{"arn": d.regionalARN("ec2", "security-group-rule/"+d.id), "securityGroupRuleId": d.id})
	return nil
}

func defaultSecurityGroup(d *draft) error {
	if id := of(d.account, d.account.defaultGroups, d.text("vpcId")); id != "" {
		d.setID(id)
	}
	return ec2Resource("sg-", "security-group", func(d *draft) {
		d.setDefaults(result{"name": "default", "description": "default VPC security group"})
	})(d)
}
