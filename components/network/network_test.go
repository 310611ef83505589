package network_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/network"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

const (
	ingressType = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
	egressType  = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
	groupType   = "aws:ec2/securityGroup:SecurityGroup"
	subnetType  = "aws:ec2/subnet:Subnet"
	witnessType = "aws:test/witness:Witness" // of package aws, so that the explicit provider serves it
)

func validArgs() *network.Args {
	return &network.Args{
		Region:  "us-east-1",
		Network: schema.Network{CIDR: "10.0.0.0/16", AvailabilityZones: []string{"us-east-1a", "us-east-1b"}, NAT: true},

		InstanceTypes: []string{"m5.xlarge", "r7g.large", "m5.xlarge"},
		TypesIn:       map[int][]string{0: {"m5.xlarge", "r7g.large"}}, ControlType: "m5.xlarge",
		OperatorCIDRs: []string{"203.0.113.0/24", "2001:db8::/32"}, Profiler: true,
	}
}

func existingVPCArgs() *network.Args {
	return &network.Args{
		Region: "us-east-1",
		Network: schema.Network{
			CIDR: "10.0.0.0/16", VPCID: "vpc-0123456789abcdef0",
			SubnetIDs: []string{"subnet-0123456789abcdef0", "subnet-0123456789abcdef1"},
		},
		InstanceTypes: []string{"m5.xlarge", "r7g.large"}, TypesIn: map[int][]string{0: {"r7g.large"}}, ControlType: "m5.xlarge",
		OperatorCIDRs: []string{"203.0.113.0/24"}, Use: schema.NetworkUse{Clusters: true},
	}
}

// run records the network and a witness of its outputs, where every zone offers
// every type.
func run(t *testing.T, args *network.Args) *recorder.Recording {
	t.Helper()
	rec, err := recorder.Run(program(args), answers(nil)...)
	require.NoError(t, err)
	return rec
}

func program(args *network.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		p, err := aws.NewProvider(ctx, "main", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		n, err := network.New(ctx, "network", args, pulumi.Provider(p))
		if err != nil {
			return err
		}
		_, err = newWitness(ctx, pulumi.Map{
			"vpcId": n.VPCID, "subnetIds": n.SubnetIDs, "control": n.ControlSecurityGroupID, "observed": n.ObservedSecurityGroupID,
			"controlSubnet": n.ControlSubnetID, "controlZone": n.ControlZone, "s3PrefixListId": n.S3PrefixListID,
		}, p)
		return err
	}
}

// witness is a resource whose inputs are the component's outputs, so that the
// recorder sees their values and dependencies.
type witness struct{ pulumi.CustomResourceState }

func newWitness(ctx *pulumi.Context, inputs pulumi.Map, p pulumi.ProviderResource) (*witness, error) {
	w := &witness{}
	return w, ctx.RegisterResource(witnessType, "witness", inputs, w, pulumi.Provider(p))
}

// componentResources lists the recorded resources without provider and witness.
func componentResources(rec *recorder.Recording) []string {
	return slices.DeleteFunc(rec.List(), func(s string) bool {
		return strings.HasPrefix(s, "pulumi:providers:") || strings.HasPrefix(s, witnessType)
	})
}

func withoutTypes(list []string, types ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool {
		return slices.Contains(types, strings.Fields(s)[0])
	})
}

func TestOwnVPCRegistersExactlyTheseResources(t *testing.T) {
	rec := run(t, validArgs())
	require.Equal(t, []string{
		"aws:ec2/defaultSecurityGroup:DefaultSecurityGroup network-default-group",
		"aws:ec2/eip:Eip network-nat",
		"aws:ec2/internetGateway:InternetGateway network-internet",
		"aws:ec2/natGateway:NatGateway network-nat",
		"aws:ec2/route:Route network-private-out",
		"aws:ec2/route:Route network-public-out",
		"aws:ec2/routeTable:RouteTable network-private",
		"aws:ec2/routeTable:RouteTable network-public",
		"aws:ec2/routeTableAssociation:RouteTableAssociation network-private-a",
		"aws:ec2/routeTableAssociation:RouteTableAssociation network-private-b",
		"aws:ec2/routeTableAssociation:RouteTableAssociation network-public-a",
		groupType + " network-control",
		groupType + " network-observed",
		subnetType + " network-private-a",
		subnetType + " network-private-b",
		subnetType + " network-public-a",
		"aws:ec2/vpc:Vpc network-vpc",
		"aws:ec2/vpcEndpoint:VpcEndpoint network-s3",
		"observatory:network:Network network",
	}, withoutTypes(componentResources(rec), ingressType, egressType))
	require.Empty(t, rec.Protected())
	requireParentAndProvider(t, rec)
}

func TestExistingVPCGetsOnlyGroupsAndTags(t *testing.T) {
	rec := run(t, existingVPCArgs())
	require.Equal(t, []string{
		groupType + " network-control",
		groupType + " network-observed",
		"aws:ec2/tag:Tag network-emr-tag-subnet-0123456789abcdef0",
		"aws:ec2/tag:Tag network-emr-tag-subnet-0123456789abcdef1",
		"observatory:network:Network network",
	}, withoutTypes(componentResources(rec), ingressType, egressType))
	requireParentAndProvider(t, rec)
	w, err := rec.One(witnessType, "witness")
	require.NoError(t, err)
	require.Equal(t, "vpc-0123456789abcdef0", w.Inputs["vpcId"].StringValue())
	out, err := rec.One(egressType, "network-control-http-to-s3")
	require.NoError(t, err)
	require.Equal(t, "pl-63a5400a", out.Inputs["prefixListId"].StringValue())
}

// A stack that is destroyed, or no longer uses a subnet, must leave its tag to the
// other stacks there. Everything else of the network goes.
func TestOnlyTagsOfExistingSubnetsAreKept(t *testing.T) {
	for _, args := range []*network.Args{validArgs(), existingVPCArgs()} {
		var kept []string
		for _, r := range run(t, args).Resources {
			if r.Retain {
				kept = append(kept, r.Name)
			}
		}
		var want []string
		for _, id := range args.SubnetIDs {
			want = append(want, "network-emr-tag-"+id)
		}
		require.ElementsMatch(t, want, kept)
	}
}

// requireParentAndProvider requires that every child belongs to the component and
// to the explicit provider.
func requireParentAndProvider(t *testing.T, rec *recorder.Recording) {
	t.Helper()
	require.Empty(t, rec.Defaults)
	children := 0
	for _, r := range rec.Resources {
		if !strings.HasPrefix(r.Type, "aws:") || r.Type == witnessType {
			continue
		}
		children++
		require.Equal(t, "network", r.Parent, r.Name)
		require.Equal(t, "aws::main", r.Provider, r.Name)
	}
	require.Greater(t, children, 10)
}

func TestInterfaceEndpointsOnRequest(t *testing.T) {
	require.Len(t, run(t, validArgs()).OfType("aws:ec2/vpcEndpoint:VpcEndpoint"), 1, "S3's gateway")
	a := validArgs()
	a.InterfaceEndpoints = []string{"kms", "ssm", "ecr.api"}
	rec := run(t, a)
	require.Len(t, rec.OfType("aws:ec2/vpcEndpoint:VpcEndpoint"), 4)
	endpoint, err := rec.One("aws:ec2/vpcEndpoint:VpcEndpoint", "network-endpoint-ecr.api")
	require.NoError(t, err)
	require.Equal(t, "com.amazonaws.us-east-1.ecr.api", endpoint.Inputs["serviceName"].StringValue())
	require.True(t, endpoint.Inputs["privateDnsEnabled"].BoolValue())
	require.Contains(t, endpoint.Dependencies, "network-endpoints-from-observed")
}

// A control node with a public address runs in the public subnet, whose machines
// reach the internet and S3 without the NAT gateway.
func TestPublicControlNodeHasARouteToTheInternet(t *testing.T) {
	a := validArgs()
	a.PublicControl, a.InterfaceEndpoints = true, []string{"kms", "ssm"}
	rec := run(t, a)
	w, err := rec.One(witnessType, "witness")
	require.NoError(t, err)
	require.Equal(t, "network-public-a-id", w.Inputs["controlSubnet"].StringValue())
	out, err := rec.One("aws:ec2/route:Route", "network-public-out")
	require.NoError(t, err)
	require.Equal(t, "network-internet-id", out.Inputs["gatewayId"].StringValue())
	subnet, err := rec.One("aws:ec2/routeTableAssociation:RouteTableAssociation", "network-public-a")
	require.NoError(t, err)
	require.Equal(t, out.Inputs["routeTableId"], subnet.Inputs["routeTableId"])
	for _, ready := range []string{"network-public-out", "network-s3", "network-endpoint-kms"} {
		require.Contains(t, w.Dependencies, ready)
	}
	s3, err := rec.One("aws:ec2/vpcEndpoint:VpcEndpoint", "network-s3")
	require.NoError(t, err)
	require.Len(t, s3.Inputs["routeTableIds"].ArrayValue(), 2)
	requireParentAndProvider(t, rec)
}

func TestControlNodeRunsInTheConfiguredSubnet(t *testing.T) {
	at := func(a *network.Args) string {
		w, err := run(t, a).One(witnessType, "witness")
		require.NoError(t, err)
		return w.Inputs["controlSubnet"].StringValue()
	}
	require.Equal(t, "network-private-a-id", at(validArgs()))
	a := existingVPCArgs()
	require.Equal(t, a.SubnetIDs[0], at(a))
	a.PublicControl, a.PublicSubnetID = true, publicSubnet
	require.Equal(t, publicSubnet, at(a))
	tags := run(t, a).OfType("aws:ec2/tag:Tag")
	require.Len(t, tags, 2, "EMR runs nothing in the public subnet")
}

func TestFlowLogsOnRequest(t *testing.T) {
	require.Empty(t, run(t, validArgs()).OfType("aws:ec2/flowLog:FlowLog"))
	a := validArgs()
	a.FlowLogBucketARN = pulumi.String("arn:aws:s3:::logs")
	log, err := run(t, a).One("aws:ec2/flowLog:FlowLog", "network-flow-log")
	require.NoError(t, err)
	require.Equal(t, "arn:aws:s3:::logs", log.Inputs["logDestination"].StringValue())
	require.Equal(t, "ALL", log.Inputs["trafficType"].StringValue())
}

func TestPrivateSubnetsAndGroupsHaveEMRsTag(t *testing.T) {
	rec := run(t, validArgs())
	tagged := append(rec.OfType(groupType), rec.OfType("aws:ec2/vpc:Vpc")...)
	for _, s := range rec.OfType(subnetType) {
		require.False(t, s.Inputs["mapPublicIpOnLaunch"].BoolValue(), s.Name)
		if strings.Contains(s.Name, "private") {
			tagged = append(tagged, s)
		} else {
			require.NotContains(t, s.Inputs["tags"].ObjectValue(), resource.PropertyKey(platform.EMRManagedPolicyTag))
		}
	}
	require.Len(t, tagged, 5)
	for _, r := range tagged {
		require.Equal(t, "true", r.Inputs["tags"].ObjectValue()[platform.EMRManagedPolicyTag].StringValue(), r.Name)
		require.Equal(t, r.Name, r.Inputs["tags"].ObjectValue()["Name"].StringValue())
	}
}

func TestOutputsWaitForRoutesEndpointsAndRules(t *testing.T) {
	a := validArgs()
	a.InterfaceEndpoints = []string{"kms"}
	w, err := run(t, a).One(witnessType, "witness")
	require.NoError(t, err)
	for _, route := range []string{"network-private-out", "network-s3", "network-endpoint-kms"} {
		require.Contains(t, w.Dependencies, route)
	}
	for _, rule := range []string{"network-control-otlp-grpc-from-observed", "network-observed-otlp-grpc-to-control"} {
		require.Contains(t, w.Dependencies, rule)
	}
	count := 0 // the subnet and its route table association share a name
	for _, d := range w.Dependencies {
		if d == "network-private-a" {
			count++
		}
	}
	require.Equal(t, 2, count, w.Dependencies)
	require.Len(t, w.Inputs["subnetIds"].ArrayValue(), 2)
}
