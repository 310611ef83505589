package localcloud

import (
	"log/slog"
	"net/netip"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/ec2"
	"github.com/emr-observatory/emr-observatory/localcloud/internet"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/record"
)

const (
	interfaceType   = "aws:ec2/networkInterface:NetworkInterface"
	ingressType     = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
	associationType = "aws:ec2/eipAssociation:EipAssociation"
)

// newReachCloud returns a cloud whose EC2 has no instance, and what its gateway maps.
func newReachCloud(t *testing.T) (*cloud, *[]internet.Address) {
	t.Helper()
	mapped := &[]internet.Address{}
	c := &cloud{ec2: &ec2.Service{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Map: func(a []internet.Address) error {
		*mapped = a
		return nil
	}}}
	require.NoError(t, c.ec2.Open(t.Context()))
	return c, mapped
}

// What the engine's requests say about addresses, routes and rules reaches the gateway,
// and what is updated or deleted too.
func TestRequestsDecideWhoReachesTheInstance(t *testing.T) {
	c, mapped := newReachCloud(t)
	account := record.NewAccount(AWSRegion, AccountID)
	account.Add(record.Resource{URN: "subnet", Type: "aws:ec2/subnet:Subnet", ID: "subnet-1", Outputs: resource.NewPropertyMapFromMap(
		map[string]any{"vpcId": "vpc-1", "cidrBlock": "10.0.3.0/24", "availabilityZone": "us-east-1a"})})
	request := func(token string, inputs map[string]any) simulator.Request {
		return simulator.Request{URN: token, Type: token, Name: token, Inputs: resource.NewPropertyMapFromMap(inputs), Account: account}
	}
	create := func(token string, inputs map[string]any) simulator.Result {
		r, err := c.handlers()[token].Create(t.Context(), request(token, inputs))
		require.NoError(t, err, token)
		return r
	}
	attached := create(interfaceType, map[string]any{
		"subnetId": "subnet-1", "privateIps": []any{"10.0.3.10"}, "securityGroups": []any{"sg-control"},
	})
	create("aws:ec2/route:Route", map[string]any{"routeTableId": "rtb-1", "destinationCidrBlock": "0.0.0.0/0", "gatewayId": "igw-1"})
	create("aws:ec2/routeTableAssociation:RouteTableAssociation", map[string]any{"routeTableId": "rtb-1", "subnetId": "subnet-1"})
	allocated := create("aws:ec2/eip:Eip", map[string]any{"domain": "vpc"})
	associated := create(associationType, map[string]any{"allocationId": allocated.ID, "networkInterfaceId": attached.ID})
	rule := map[string]any{
		"securityGroupId": "sg-control", "ipProtocol": "tcp", "fromPort": 6443.0, "toPort": 6443.0,
		"cidrIpv4": internet.WorkstationAddress + "/32",
	}
	ingress := create(ingressType, rule)
	want := internet.Address{
		Public: netip.MustParseAddr(text(allocated.Outputs, "publicIp")), Private: netip.MustParseAddr("10.0.3.10"),
		Admitted: []internet.Admission{{First: 6443, Last: 6443, Source: netip.MustParsePrefix("192.88.99.10/32")}},
	}
	require.Equal(t, []internet.Address{want}, *mapped)

	update := request(ingressType, map[string]any{
		"securityGroupId": "sg-control", "ipProtocol": "tcp", "fromPort": 6443.0, "toPort": 6443.0, "cidrIpv4": "198.51.100.0/24",
	})
	update.ID, update.OldInputs, update.Outputs = ingress.ID, resource.NewPropertyMapFromMap(rule), ingress.Outputs
	_, err := c.handlers()[ingressType].Update(t.Context(), update)
	require.NoError(t, err)
	want.Admitted[0].Source = netip.MustParsePrefix("198.51.100.0/24")
	require.Equal(t, []internet.Address{want}, *mapped)

	remove := request(associationType, nil)
	remove.ID, remove.Outputs = associated.ID, associated.Outputs
	require.NoError(t, c.handlers()[associationType].Delete(t.Context(), remove))
	require.Empty(t, *mapped)
}
