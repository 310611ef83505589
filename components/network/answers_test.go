package network_test

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
)

// answers returns recorder options: results of the functions that the component
// calls. unoffered lists by zone the instance types that it does not offer.
func answers(unoffered map[string][]string) []recorder.Option {
	return []recorder.Option{
		recorder.WithFunction("aws:index/getAvailabilityZones:getAvailabilityZones", availableZones),
		recorder.WithFunction("aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings", offeringsWithout(unoffered)),
		recorder.WithInvoke("aws:ec2/getVpc:getVpc", map[string]any{"enableDnsSupport": true, "enableDnsHostnames": true,
			"dhcpOptionsId": "dopt-1", "cidrBlockAssociations": []any{map[string]any{"cidrBlock": "10.0.0.0/16"}}}),
		recorder.WithInvoke("aws:ec2/getVpcDhcpOptions:getVpcDhcpOptions", map[string]any{"domainNameServers": []any{"AmazonProvidedDNS"}}),
		recorder.WithFunction("aws:ec2/getSubnet:getSubnet", existingSubnet),
		recorder.WithFunction("aws:ec2/getRouteTable:getRouteTable", func(args resource.PropertyMap) resource.PropertyMap {
			if args["subnetId"].StringValue() == publicSubnet {
				return resource.NewPropertyMapFromMap(routesTo("igw-0123456789abcdef0"))
			}
			return resource.NewPropertyMapFromMap(routesTo("nat-0123456789abcdef0"))
		}),
		recorder.WithInvoke("aws:ec2/getPrefixList:getPrefixList", map[string]any{"id": "pl-63a5400a"}),
		recorder.WithComputed(func(r recorder.Resource) resource.PropertyMap {
			if r.Type == "aws:ec2/vpcEndpoint:VpcEndpoint" {
				return resource.PropertyMap{"prefixListId": resource.NewStringProperty("pl-of-" + r.Name)}
			}
			return nil
		}),
	}
}

const publicSubnet = "subnet-0123456789abcdefa"

// existingSubnet answers getSubnet.
func existingSubnet(args resource.PropertyMap) resource.PropertyMap {
	zone := map[string]string{"subnet-0123456789abcdef0": "us-east-1d", "subnet-0123456789abcdef1": "us-east-1b"}[args["id"].StringValue()]
	if zone == "" {
		zone = "us-east-1c"
	}
	return resource.PropertyMap{
		"id": args["id"], "availabilityZone": resource.NewStringProperty(zone), "cidrBlock": resource.NewStringProperty("10.0.1.0/24"),
		"vpcId": resource.NewStringProperty(existingVPCArgs().VPCID),
	}
}

// routesTo is a route table with a default route.
func routesTo(gateway string) map[string]any {
	key := "gatewayId"
	if strings.HasPrefix(gateway, "nat-") {
		key = "natGatewayId"
	}
	return map[string]any{"routeTableId": "rtb-0123456789abcdef0", "routes": []any{
		map[string]any{"cidrBlock": "10.0.0.0/16", "gatewayId": "local"}, map[string]any{"cidrBlock": "0.0.0.0/0", key: gateway},
	}}
}
