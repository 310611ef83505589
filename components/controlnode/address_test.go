package controlnode_test

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	boot "github.com/emr-observatory/emr-observatory/assets/controlnode"
	"github.com/emr-observatory/emr-observatory/components/controlnode"
	"github.com/emr-observatory/emr-observatory/schema"
)

// accessArgs are valid arguments for a way to reach the node.
func accessArgs(access string) *controlnode.Args {
	args := validArgs()
	args.Access = access
	if access == schema.AccessTunnel {
		args.APIURL = "https://127.0.0.1:16443"
	}
	return args
}

// The address in the gate and in kubeconfig is the one in K3s's certificate.
func TestEachAccessHasItsAddress(t *testing.T) {
	for _, c := range []struct{ access, host, publicIP, api, hint string }{
		{schema.AccessVPC, privateIP, "", "https://" + privateIP + ":6443", "no route to the VPC"},
		{schema.AccessPublic, publicIP, publicIP, "https://" + publicIP + ":6443", "curl https://checkip.amazonaws.com"},
		{schema.AccessTunnel, "127.0.0.1", "", "https://127.0.0.1:16443", "observatory tunnel"},
	} {
		t.Run(c.access, func(t *testing.T) {
			rec := run(t, accessArgs(c.access))
			value := func(name string) string {
				return plain(one(t, rec, "random:index/randomPet:RandomPet", name).Inputs["prefix"])
			}
			require.Equal(t, c.host, value("of-host"))
			require.Equal(t, c.publicIP, value("of-public-ip"))
			require.Equal(t, privateIP, value("of-private-ip"))
			require.Contains(t, value("of-kubeconfig"), "server: "+c.api+"\n")
			gate := one(t, rec, "command:local:Command", "control-gate").Inputs["environment"].ObjectValue()
			require.Equal(t, c.api, plain(gate[boot.GateAPIServer]))
			require.Contains(t, gate[boot.GateHint].StringValue(), c.hint)
			names := []string{privateIP, "127.0.0.1"}
			if c.publicIP != "" {
				names = append(names, c.publicIP)
			}
			userData := plain(one(t, rec, "aws:ec2/instance:Instance", "control-instance").Inputs["userData"])
			_, rest, found := strings.Cut(userData, "    tls-san:\n")
			require.True(t, found)
			list, _, _ := strings.Cut(rest, "    write-kubeconfig-mode")
			require.Equal(t, "    - "+strings.Join(names, "\n    - ")+"\n", list)
		})
	}
}

// The Elastic IP is known before the instance boots and outlives it: it is on the
// interface, which the instance waits for.
func TestElasticIPIsOnTheInterfaceBeforeTheInstanceBoots(t *testing.T) {
	const addressType, associationType = "aws:ec2/eip:Eip", "aws:ec2/eipAssociation:EipAssociation"
	rec := run(t, accessArgs(schema.AccessPublic))
	require.Empty(t, one(t, rec, addressType, "control-address").Dependencies)
	association := one(t, rec, associationType, "control-address").Inputs
	require.Equal(t, "control-address-id", plain(association["allocationId"]))
	require.Equal(t, "control-interface-id", plain(association["networkInterfaceId"]))
	require.NotContains(t, association, resource.PropertyKey("instanceId"))
	require.Contains(t, one(t, rec, "aws:ec2/instance:Instance", "control-instance").Dependencies, "control-address")
	for _, access := range []string{schema.AccessVPC, schema.AccessTunnel} {
		rec := run(t, accessArgs(access))
		require.Empty(t, append(rec.OfType(addressType), rec.OfType(associationType)...), access)
	}
}

// A tunnel needs no other instance than access vpc: both have the same user data.
func TestTunnelKeepsTheInstance(t *testing.T) {
	of := func(access string) resource.PropertyMap {
		return one(t, run(t, accessArgs(access)), "aws:ec2/instance:Instance", "control-instance").Inputs
	}
	require.Equal(t, of(schema.AccessVPC), of(schema.AccessTunnel))
	require.NotEqual(t, of(schema.AccessVPC)["userData"], of(schema.AccessPublic)["userData"])
}

func TestInstanceIsFoundByItsTags(t *testing.T) {
	tags := one(t, run(t, validArgs()), "aws:ec2/instance:Instance", "control-instance").Inputs["tags"].ObjectValue()
	require.Equal(t, resource.NewPropertyMapFromMap(map[string]any{"Name": "control-instance"}), tags)
	require.Equal(t, map[string]string{"Name": "control-instance"}, controlnode.InstanceTags("control"))
}
