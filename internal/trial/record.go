package trial

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Record runs the real program with a stack file's configuration against the
// recorder, with the options of Answers and then more.
func Record(t testing.TB, stack string, more ...recorder.Option) *recorder.Recording {
	t.Helper()
	options := append(Answers(), recorder.WithConfig(Values(t, stack)))
	rec, err := recorder.Run(Program(Materials(t)), append(options, more...)...)
	require.NoError(t, err)
	return rec
}

// Answers returns recorder options: results of the AWS functions that the
// components call, and Computed.
func Answers() []recorder.Option {
	var vpc atomic.Value // the existing one that is looked up
	return []recorder.Option{
		recorder.WithInvoke("aws:index/getPartition:getPartition", map[string]any{"partition": "aws", "dnsSuffix": "amazonaws.com", "id": "aws"}),
		recorder.WithInvoke("aws:index/getCallerIdentity:getCallerIdentity",
			map[string]any{"accountId": "123456789012", "arn": "arn:aws:iam::123456789012:user/x", "userId": "x", "id": "x"}),
		recorder.WithInvoke("aws:index/getAvailabilityZones:getAvailabilityZones",
			map[string]any{"names": []any{"us-east-1a", "us-east-1b"}, "zoneIds": []any{"use1-az1", "use1-az2"}, "id": "us-east-1"}),
		recorder.WithFunction(OfferingsFunction, OfferedIn("us-east-1")),
		recorder.WithInvoke("aws:ec2/getPrefixList:getPrefixList", map[string]any{"id": "pl-0123", "name": "s3", "cidrBlocks": []any{}}),
		recorder.WithFunction("aws:ec2/getVpc:getVpc", func(args resource.PropertyMap) resource.PropertyMap {
			vpc.Store(args["id"].StringValue())
			return resource.NewPropertyMapFromMap(map[string]any{"enableDnsSupport": true, "enableDnsHostnames": true,
				"dhcpOptionsId": "dopt-0123abcd", "cidrBlockAssociations": []any{map[string]any{"cidrBlock": "10.0.0.0/16"}}})
		}),
		recorder.WithInvoke("aws:ec2/getVpcDhcpOptions:getVpcDhcpOptions", map[string]any{"domainNameServers": []any{"AmazonProvidedDNS"}}),
		recorder.WithFunction("aws:ec2/getSubnet:getSubnet", func(resource.PropertyMap) resource.PropertyMap {
			return resource.NewPropertyMapFromMap(map[string]any{
				"availabilityZone": "us-east-1a", "id": "subnet-0123", "vpcId": vpc.Load(), "cidrBlock": "10.0.1.0/24",
			})
		}),
		RoutesOf(PublicSubnet),
		recorder.WithInvoke("aws:iam/getRoles:getRoles", map[string]any{"id": "us-east-1",
			"names": []any{platform.SpotRole}, "arns": []any{"arn:aws:iam::123456789012:role/" + platform.SpotRole}}),
		recorder.WithInvoke("aws:iam/getInstanceProfile:getInstanceProfile", map[string]any{"id": "nodes", "name": "nodes",
			"roleArn": "arn:aws:iam::123456789012:role/nodes", "roleName": "nodes"}),
		recorder.WithInvoke("aws:ssm/getParameter:getParameter", map[string]any{"value": "ami-0123456789abcdef0",
			"insecureValue": "ami-0123456789abcdef0", "arn": "x", "id": "x", "name": "x", "type": "String", "version": 1}),
		recorder.WithComputed(Computed),
	}
}

// PublicSubnet is the only existing subnet in which Answers has a route to an internet
// gateway.
const PublicSubnet = "subnet-0123abce"

// RoutesOf answers that every subnet leads out by a NAT gateway, but for one, which does by
// an internet gateway.
func RoutesOf(public string) recorder.Option {
	return recorder.WithFunction("aws:ec2/getRouteTable:getRouteTable", func(args resource.PropertyMap) resource.PropertyMap {
		out := map[string]any{"cidrBlock": "0.0.0.0/0", "natGatewayId": "nat-0123abcd"}
		if args["subnetId"].StringValue() == public {
			out = map[string]any{"cidrBlock": "0.0.0.0/0", "gatewayId": "igw-0123abcd"}
		}
		return resource.NewPropertyMapFromMap(map[string]any{"routeTableId": "rtb-0123abcd", "routes": []any{out}})
	})
}

// OfferingsFunction is EC2's function that says where it offers instance types.
const OfferingsFunction = "aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings"

// OfferedIn answers OfferingsFunction: every zone of these regions offers each
// requested instance type. A function is not told its region.
func OfferedIn(regions ...string) recorder.Function {
	return func(args resource.PropertyMap) resource.PropertyMap {
		var types, zones []resource.PropertyValue
		for _, t := range args["filters"].ArrayValue()[0].ObjectValue()["values"].ArrayValue() {
			for _, region := range regions {
				for letter := 'a'; letter <= 'z'; letter++ {
					types, zones = append(types, t), append(zones, resource.NewStringProperty(region+string(letter)))
				}
			}
		}
		return resource.PropertyMap{"instanceTypes": resource.NewArrayProperty(types), "locations": resource.NewArrayProperty(zones)}
	}
}

// EveryZone answers that a region has the zones a to z.
func EveryZone(region string) recorder.Option {
	var names []any
	for letter := 'a'; letter <= 'z'; letter++ {
		names = append(names, region+string(letter))
	}
	return recorder.WithInvoke("aws:index/getAvailabilityZones:getAvailabilityZones", map[string]any{"names": names, "id": region})
}

// PublicAddress is every Elastic IP of a recording.
const PublicAddress = "203.0.113.50"

// Computed returns the provider-computed outputs that the components read.
func Computed(r recorder.Resource) resource.PropertyMap {
	text := resource.NewStringProperty
	switch r.Type {
	case "aws:ec2/networkInterface:NetworkInterface":
		return resource.PropertyMap{"privateIp": text("10.0.0.50")}
	case "aws:ec2/eip:Eip":
		return resource.PropertyMap{"publicIp": text(PublicAddress)}
	case "aws:ebs/volume:Volume":
		return resource.PropertyMap{"id": text("vol-0123456789abcdef0")}
	case "aws:s3/bucketV2:BucketV2":
		return resource.PropertyMap{"bucket": text(r.Name + "-4f2a")}
	case "aws:emr/cluster:Cluster":
		return resource.PropertyMap{"masterPublicDns": text("ip-10-0-0-9.ec2.internal")}
	case "random:index/randomPassword:RandomPassword":
		return resource.PropertyMap{"result": resource.MakeSecret(text("hunter2 of " + r.Name))}
	case "tls:index/privateKey:PrivateKey":
		return resource.PropertyMap{"privateKeyPem": resource.MakeSecret(text("key of " + r.Name)),
			"privateKeyPemPkcs8": resource.MakeSecret(text("key of " + r.Name))}
	case "tls:index/selfSignedCert:SelfSignedCert", "tls:index/locallySignedCert:LocallySignedCert":
		return resource.PropertyMap{"certPem": text("certificate of " + r.Name), "validityStartTime": text("2026-12-01T18:00:00Z")}
	case "tls:index/certRequest:CertRequest":
		return resource.PropertyMap{"certRequestPem": text("request of " + r.Name)}
	case "command:local:Command":
		return resource.PropertyMap{"stdout": text("ok")}
	}
	if strings.HasPrefix(r.Type, "aws:iam/") || r.Type == "aws:emr/securityConfiguration:SecurityConfiguration" {
		return resource.PropertyMap{"name": text(r.Name + "-4f2a")}
	}
	return nil
}
