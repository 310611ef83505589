package simulator_test

import (
	"context"
	"net"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/emr-observatory/emr-observatory/simulator"
)

// client calls a provider server directly, so that tests can send what the typed SDK
// cannot express.
type client struct {
	t *testing.T
	pulumirpc.ResourceProviderClient
}

// dial serves a package and connects to it.
func dial(t *testing.T, pkg string, o simulator.Options) client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	servers, err := simulator.Serve(map[string]net.Listener{pkg: l}, o)
	require.NoError(t, err)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		require.NoError(t, servers.Close())
	})
	c := client{t, pulumirpc.NewResourceProviderClient(conn)}
	_, err = c.Handshake(t.Context(), &pulumirpc.ProviderHandshakeRequest{})
	require.NoError(t, err)
	_, err = c.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: &structpb.Struct{}, AcceptSecrets: true, AcceptResources: true})
	require.NoError(t, err)
	return c
}

type values = map[string]any

var marshalOptions = plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}

func (c client) marshal(v values) *structpb.Struct {
	c.t.Helper()
	s, err := plugin.MarshalProperties(resource.NewPropertyMapFromMap(v), marshalOptions)
	require.NoError(c.t, err)
	return s
}

func (c client) unmarshal(s *structpb.Struct) resource.PropertyMap {
	c.t.Helper()
	m, err := plugin.UnmarshalProperties(s, marshalOptions)
	require.NoError(c.t, err)
	return m
}

func urn(typ string) string { return "urn:pulumi:test::emr-observatory::" + typ + "::it" }

// check returns the reasons of the failures of Check.
func (c client) check(typ string, v values) []string {
	c.t.Helper()
	r, err := c.Check(c.t.Context(), &pulumirpc.CheckRequest{Urn: urn(typ), News: c.marshal(v), RandomSeed: []byte("seed")})
	require.NoError(c.t, err)
	var out []string
	for _, f := range r.GetFailures() {
		require.Empty(c.t, f.GetProperty(), "the engine would print the property's value")
		out = append(out, f.GetReason())
	}
	return out
}

func (c client) create(typ string, v values) *pulumirpc.CreateResponse {
	c.t.Helper()
	r, err := c.Create(c.t.Context(), &pulumirpc.CreateRequest{Urn: urn(typ), Properties: c.marshal(v)})
	require.NoError(c.t, err)
	return r
}

const clusterType = "aws:emr/cluster:Cluster"

func validCluster() values {
	return values{
		"releaseLabel": "emr-7.10.0", "serviceRole": "r", "name": "spark",
		"masterInstanceGroup": values{"instanceType": "m5.xlarge"},
		"coreInstanceGroup": values{"instanceType": "m5.xlarge", "ebsConfigs": []any{
			values{"size": 64.0, "type": "gp3"},
		}},
		"bootstrapActions": []any{values{"name": "observatory", "path": "s3://b/x.sh", "args": []any{"10.0.0.10"}}},
	}
}

// withValue sets a value deep inside a copy: withValue(v, "x", "a", 0, "b").
func withValue(v any, value any, path ...any) any {
	if len(path) == 0 {
		return value
	}
	switch key := path[0].(type) {
	case string:
		out := values{}
		if m, ok := v.(values); ok {
			for k, e := range m {
				out[k] = e
			}
		}
		inner := withValue(out[key], value, path[1:]...)
		out[key] = inner
		if inner == absent {
			delete(out, key)
		}
		return out
	default:
		list := append([]any{}, v.([]any)...)
		list[key.(int)] = withValue(list[key.(int)], value, path[1:]...)
		return list
	}
}

type absentValue struct{}

// absent makes withValue delete the key.
var absent any = absentValue{}

func TestCheckNamesThePathOfEachViolation(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	require.Empty(t, c.check(clusterType, validCluster()), "the unmodified inputs must pass")
	cases := map[string]struct {
		value any
		path  []any
		want  string
	}{
		"unknown key": {
			true, []any{"terminationprotection"}, "terminationprotection: unknown property (known: terminationProtection)",
		},
		"unknown nested key": {
			1.0, []any{"coreInstanceGroup", "ebsConfigs", 0, "sizeGiB"}, "coreInstanceGroup.ebsConfigs[0].sizeGiB: unknown property",
		},
		"missing": {absent, []any{"releaseLabel"}, "releaseLabel: required property is missing"},
		"missing nested": {
			absent, []any{"masterInstanceGroup", "instanceType"}, "masterInstanceGroup.instanceType: required property is missing",
		},
		"missing nested deeper": {
			absent, []any{"coreInstanceGroup", "ebsConfigs", 0, "size"},
			"coreInstanceGroup.ebsConfigs[0].size: required property is missing",
		},
		"string for number": {
			"two", []any{"coreInstanceGroup", "instanceCount"}, "coreInstanceGroup.instanceCount: must be a whole number, is a string",
		},
		"fraction for number": {
			1.5, []any{"coreInstanceGroup", "instanceCount"}, "coreInstanceGroup.instanceCount: must be a whole number",
		},
		"number for bool": {1.0, []any{"terminationProtection"}, "terminationProtection: must be true or false"},
		"string for list": {"Spark", []any{"applications"}, "applications: must be a list, is a string"},
		"list for object": {[]any{}, []any{"masterInstanceGroup"}, "masterInstanceGroup: must be an object, is a list"},
		"null in a list":  {[]any{nil}, []any{"applications"}, "applications[0]: must not be null"},
		"bad map value":   {values{"a": 1.0}, []any{"tags"}, "tags.a: must be a string, is a number"},
		"bad enum": {
			"gp9", []any{"coreInstanceGroup", "ebsConfigs", 0, "type"}, "coreInstanceGroup.ebsConfigs[0].type: must be gp3",
		},
		"bad pattern": {"7.10", []any{"releaseLabel"}, `releaseLabel: must be emr-x.y.z, is "7.10"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := client{t, c.ResourceProviderClient}
			got := c.check(clusterType, withValue(validCluster(), tc.value, tc.path...).(values))
			require.Len(t, got, 1)
			require.Contains(t, got[0], tc.want)
		})
	}
}

func TestCheckReportsAllViolations(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	v := withValue(validCluster(), "7.10", "releaseLabel")
	v = withValue(v, absent, "masterInstanceGroup", "instanceType")
	v = withValue(v, 1.0, "colour")
	v = withValue(v, 5.0, "autoTerminationPolicy", "idleTimeout")
	require.Len(t, c.check(clusterType, v.(values)), 4)
}

func TestUnknownTokensAreRejected(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	require.Contains(t, c.check("aws:emr/clster:Clster", values{})[0], "unknown resource type")
	_, err := c.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "aws:index/getPlanet:getPlanet", Args: c.marshal(values{})})
	require.ErrorContains(t, err, "unknown function aws:index/getPlanet:getPlanet")
	r, err := c.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "aws:ec2/getSubnet:getSubnet", Args: c.marshal(values{"planet": "x"})})
	require.NoError(t, err)
	require.Contains(t, r.GetFailures()[0].GetReason(), "planet: unknown property")
}

func TestAcceptsUnknownValuesEverywhere(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	unknown := resource.MakeComputed(resource.NewStringProperty(""))
	for name, path := range map[string][]any{
		"top": {"releaseLabel"}, "object": {"masterInstanceGroup"}, "list": {"bootstrapActions"},
		"nested": {"coreInstanceGroup", "ebsConfigs", 0, "size"}, "item": {"bootstrapActions", 0, "args", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := client{t, c.ResourceProviderClient}
			require.Empty(t, c.check(clusterType, withValue(validCluster(), unknown, path...).(values)))
		})
	}
}

func TestKeepsSecretsAndNeverQuotesThem(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	const parameter = "aws:ssm/parameter:Parameter"
	secret := resource.MakeSecret(resource.NewStringProperty("hunter2"))
	r, err := c.Check(
		t.Context(),
		&pulumirpc.CheckRequest{Urn: urn(parameter), News: c.marshal(values{"name": "/a/b", "type": "SecureString", "value": secret})},
	)
	require.NoError(t, err)
	require.True(t, c.unmarshal(r.GetInputs())["value"].IsSecret())

	made := c.create(parameter, values{"name": "/a/b", "type": "SecureString", "value": secret})
	require.Equal(t, "hunter2", c.unmarshal(made.GetProperties())["value"].SecretValue().Element.StringValue())

	plain := c.create(parameter, values{"name": "/a/c", "type": "SecureString", "value": "clear"})
	require.True(t, c.unmarshal(plain.GetProperties())["value"].IsSecret(), "a parameter's value is always a secret")

	bad := c.check(parameter, values{"type": resource.MakeSecret(resource.NewStringProperty("hunter2")), "value": "x"})
	require.Len(t, bad, 1)
	require.NotContains(t, bad[0], "hunter2")
}

func TestPreviewReturnsUnknownOutputs(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	r, err := c.Create(
		t.Context(),
		&pulumirpc.CreateRequest{Urn: urn("aws:kms/key:Key"), Properties: c.marshal(values{"enableKeyRotation": true}), Preview: true},
	)
	require.NoError(t, err)
	require.Empty(t, r.GetId())
	out := c.unmarshal(r.GetProperties())
	require.True(t, out["arn"].IsComputed())
	require.True(t, out["enableKeyRotation"].BoolValue())
}

func TestReportsVersionOfTheSDK(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	info, err := c.GetPluginInfo(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	require.Regexp(t, `^6\.\d+\.\d+$`, info.GetVersion())
}

func TestServeRefusesInvalidOptions(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	_, err = simulator.Serve(map[string]net.Listener{"azure": l}, simulator.Options{
		Handlers: map[string]simulator.Handler{"aws:emr/clster:Clster": simulator.Recording{}},
		Invokes: map[string]simulator.Invoke{
			"aws:x:y": func(context.Context, resource.PropertyMap) (resource.PropertyMap, error) { return nil, nil },
		},
	})
	require.ErrorContains(t, err, `package "azure"`)
	require.ErrorContains(t, err, "clster")
	require.ErrorContains(t, err, "aws:x:y")
}
