package doctor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

// existingVPC answers as EC2 does (EC2 API reference, the examples of each action).
func existingVPC() map[string]string {
	return map[string]string{
		"DescribeVpcs ": `<vpcSet><item><vpcId>vpc-1</vpcId><dhcpOptionsId>dopt-1</dhcpOptionsId><cidrBlockAssociationSet>` +
			`<item><cidrBlock>10.0.0.0/16</cidrBlock></item><item><cidrBlock>10.1.0.0/16</cidrBlock></item></cidrBlockAssociationSet>` +
			`</item></vpcSet>`,
		"enableDnsSupport":   `<enableDnsSupport><value>true</value></enableDnsSupport>`,
		"enableDnsHostnames": `<enableDnsHostnames><value>false</value></enableDnsHostnames>`,
		"DescribeDhcpOptions ": `<dhcpOptionsSet><item><dhcpConfigurationSet><item><key>domain-name</key><valueSet><item>` +
			`<value>corp</value></item></valueSet></item><item><key>domain-name-servers</key>` +
			`<valueSet><item><value>10.0.0.5</value></item></valueSet></item>` +
			`</dhcpConfigurationSet></item></dhcpOptionsSet>`,
		"DescribeSubnets ": `<subnetSet><item><subnetId>subnet-1</subnetId><vpcId>vpc-1</vpcId><cidrBlock>10.0.1.0/24</cidrBlock>` +
			`<availabilityZone>eu-south-1a</availabilityZone></item><item><subnetId>subnet-2</subnetId><vpcId>vpc-1</vpcId>` +
			`<cidrBlock>10.0.2.0/24</cidrBlock><availabilityZone>eu-south-1b</availabilityZone></item></subnetSet>`,
		"DescribeRouteTables ": `<routeTableSet><item><routeTableId>rtb-main</routeTableId><associationSet><item><main>true</main></item>` +
			`</associationSet>` +
			`<routeSet><item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock><natGatewayId>nat-1</natGatewayId>` +
			`<state>blackhole</state></item>` +
			`</routeSet></item><item><routeTableId>rtb-1</routeTableId><associationSet><item><subnetId>subnet-1</subnetId></item></associationSet>` +
			`<routeSet><item><destinationCidrBlock>10.0.0.0/16</destinationCidrBlock><gatewayId>local</gatewayId><state>active</state></item>` +
			`<item><destinationPrefixListId>pl-1</destinationPrefixListId><gatewayId>vpce-1</gatewayId><state>active</state></item>` +
			`</routeSet></item>` +
			`</routeTableSet>`,
		"DescribeVpcEndpoints ": `<vpcEndpointSet><item><serviceName>com.amazonaws.eu-south-1.s3</serviceName></item>` +
			`<item><serviceName>com.amazonaws.eu-south-1.ecr.api</serviceName></item></vpcEndpointSet>`,
	}
}

// What is judged is what EC2 has answered; the rules are package schema's.
func TestExistingVPCIsReadAndJudged(t *testing.T) {
	s, n := fitAccount(), needs()
	s.network, n.VPCs = existingVPC(), 0
	var read platform.VPC
	n.Network = &doctor.Network{VPC: "vpc-1", Subnets: []string{"subnet-1", "subnet-2"}, Judge: func(v platform.VPC) []doctor.Check {
		read = v
		return nil
	}}
	r := examineAccount(t, s, n)
	require.NoError(t, r.Err())
	require.Equal(t, "vpc-1 10.0.0.0/16, 10.1.0.0/16", findCheck(t, r, "network").Found)
	require.Equal(t, platform.VPC{
		ID: "vpc-1", CIDRs: []string{"10.0.0.0/16", "10.1.0.0/16"}, DNSSupport: true, DNSServers: []string{"10.0.0.5"},
		Endpoints: []string{"s3", "ecr.api"},
		Subnets: map[string]platform.VPCSubnet{
			"subnet-1": {VPC: "vpc-1", CIDR: "10.0.1.0/24", Zone: "eu-south-1a", RouteTable: "rtb-1",
				Routes: []platform.VPCRoute{{To: "10.0.0.0/16", By: "local"}, {To: "pl-1", By: "vpce-1"}}},
			"subnet-2": {VPC: "vpc-1", CIDR: "10.0.2.0/24", Zone: "eu-south-1b", RouteTable: "rtb-main",
				Routes: []platform.VPCRoute{{To: "0.0.0.0/0", By: "nat-1", Blackhole: true}}},
		},
	}, read)

	n.Network.Judge = func(platform.VPC) []doctor.Check {
		return []doctor.Check{{Name: "network.dnsServers", Found: "[]", Remedy: "set it"}}
	}
	r = examineAccount(t, s, n)
	require.ErrorContains(t, r.Err(), "network.dnsServers: found []")
	s.hidden, s.network = true, nil
	require.Contains(t, findCheck(t, examineAccount(t, s, n), "network").Remedy, "ec2:DescribeDhcpOptions")
}
