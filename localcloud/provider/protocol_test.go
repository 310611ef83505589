package provider_test

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

	"github.com/emr-observatory/emr-observatory/localcloud/provider"
)

// client speaks the raw protocol to a served package: what typed Go refuses to
// say can be said here.
type client struct {
	t *testing.T
	pulumirpc.ResourceProviderClient
}

func dial(t *testing.T, pkg string, o provider.Options) client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	servers, err := provider.Serve(map[string]net.Listener{pkg: l}, o)
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

var keep = plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}

func (c client) wire(v values) *structpb.Struct {
	c.t.Helper()
	s, err := plugin.MarshalProperties(resource.NewPropertyMapFromMap(v), keep)
	require.NoError(c.t, err)
	return s
}

func (c client) properties(s *structpb.Struct) resource.PropertyMap {
	c.t.Helper()
	m, err := plugin.UnmarshalProperties(s, keep)
	require.NoError(c.t, err)
	return m
}

func urn(typ string) string { return "urn:pulumi:test::emr-observatory::" + typ + "::it" }

// check gives the reasons of a Check's failures.
func (c client) check(typ string, v values) []string {
	c.t.Helper()
	r, err := c.Check(c.t.Context(), &pulumirpc.CheckRequest{Urn: urn(typ), News: c.wire(v), RandomSeed: []byte("seed")})
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
	r, err := c.Create(c.t.Context(), &pulumirpc.CreateRequest{Urn: urn(typ), Properties: c.wire(v)})
	require.NoError(c.t, err)
	return r
}

const clusterType = "aws:emr/cluster:Cluster"

func goodCluster() values {
	return values{
		"releaseLabel": "emr-7.10.0", "serviceRole": "r", "name": "spark",
		"masterInstanceGroup": values{"instanceType": "m5.xlarge"},
		"coreInstanceGroup": values{"instanceType": "m5.xlarge", "ebsConfigs": []any{
			values{"size": 64.0, "type": "gp3"},
		}},
		"bootstrapActions": []any{values{"name": "observatory", "path": "s3://b/x.sh", "args": []any{"10.0.0.10"}}},
	}
}

// with sets a value deep inside a copy: with(v, "x", "a", 0, "b").
func with(v any, value any, path ...any) any {
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
			v = m[key]
		}
		inner := with(out[key], value, path[1:]...)
		out[key] = inner
		if inner == absent {
			delete(out, key)
		}
		return out
	default:
		list := append([]any{}, v.([]any)...)
		list[key.(int)] = with(list[key.(int)], value, path[1:]...)
		return list
	}
}

type nothing struct{}

var absent any = nothing{}

func TestCheckNamesThePathOfEachFault(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	require.Empty(t, c.check(clusterType, goodCluster()), "the base must be right")
	cases := map[string]struct {
		value any
		path  []any
		want  string
	}{
		"unknown key":           {true, []any{"terminationprotection"}, "terminationprotection: unknown property (known: terminationProtection)"},
		"unknown nested key":    {1.0, []any{"coreInstanceGroup", "ebsConfigs", 0, "sizeGiB"}, "coreInstanceGroup.ebsConfigs[0].sizeGiB: unknown property"},
		"missing":               {absent, []any{"releaseLabel"}, "releaseLabel: required property is missing"},
		"missing nested":        {absent, []any{"masterInstanceGroup", "instanceType"}, "masterInstanceGroup.instanceType: required property is missing"},
		"missing nested deeper": {absent, []any{"coreInstanceGroup", "ebsConfigs", 0, "size"}, "coreInstanceGroup.ebsConfigs[0].size: required property is missing"},
		"string for number":     {"two", []any{"coreInstanceGroup", "instanceCount"}, "coreInstanceGroup.instanceCount: must be a whole number, is a string"},
		"fraction for number":   {1.5, []any{"coreInstanceGroup", "instanceCount"}, "coreInstanceGroup.instanceCount: must be a whole number"},
		"number for bool":       {1.0, []any{"terminationProtection"}, "terminationProtection: must be true or false"},
		"string for list":       {"Spark", []any{"applications"}, "applications: must be a list, is a string"},
		"list for object":       {[]any{}, []any{"masterInstanceGroup"}, "masterInstanceGroup: must be an object, is a list"},
		"null in a list":        {[]any{nil}, []any{"applications"}, "applications[0]: must not be null"},
		"bad map value":         {values{"a": 1.0}, []any{"tags"}, "tags.a: must be a string, is a number"},
		"bad enum":              {"gp9", []any{"coreInstanceGroup", "ebsConfigs", 0, "type"}, "coreInstanceGroup.ebsConfigs[0].type: must be gp3"},
		"bad pattern":           {"7.10", []any{"releaseLabel"}, `releaseLabel: must be emr-x.y.z, is "7.10"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := client{t, c.ResourceProviderClient}
			got := c.check(clusterType, with(goodCluster(), tc.value, tc.path...).(values))
			require.Len(t, got, 1)
			require.Contains(t, got[0], tc.want)
		})
	}
}

func TestCheckReportsAllFaultsAtOnce(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	v := with(goodCluster(), "7.10", "releaseLabel")
	v = with(v, absent, "masterInstanceGroup", "instanceType")
	v = with(v, 1.0, "colour")
	v = with(v, 5.0, "autoTerminationPolicy", "idleTimeout")
	require.Len(t, c.check(clusterType, v.(values)), 4)
}

func TestUnknownTokensAreRefused(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	require.Contains(t, c.check("aws:emr/clster:Clster", values{})[0], "unknown resource type")
	_, err := c.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "aws:index/getPlanet:getPlanet", Args: c.wire(values{})})
	require.ErrorContains(t, err, "unknown function aws:index/getPlanet:getPlanet")
	r, err := c.Invoke(t.Context(), &pulumirpc.InvokeRequest{Tok: "aws:ec2/getAmi:getAmi", Args: c.wire(values{"planet": "x"})})
	require.NoError(t, err)
	require.Contains(t, r.GetFailures()[0].GetReason(), "planet: unknown property")
}

func TestUnknownValuesPassEverywhere(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	unknown := resource.MakeComputed(resource.NewStringProperty(""))
	for name, path := range map[string][]any{
		"top": {"releaseLabel"}, "object": {"masterInstanceGroup"}, "list": {"bootstrapActions"},
		"nested": {"coreInstanceGroup", "ebsConfigs", 0, "size"}, "item": {"bootstrapActions", 0, "args", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := client{t, c.ResourceProviderClient}
			require.Empty(t, c.check(clusterType, with(goodCluster(), unknown, path...).(values)))
		})
	}
}

func TestSecretsSurviveAndAreNeverNamed(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	const parameter = "aws:ssm/parameter:Parameter"
	secret := resource.MakeSecret(resource.NewStringProperty("hunter2"))
	r, err := c.Check(t.Context(), &pulumirpc.CheckRequest{Urn: urn(parameter), News: c.wire(values{"name": "/a/b", "type": "SecureString", "value": secret})})
	require.NoError(t, err)
	require.True(t, c.properties(r.GetInputs())["value"].IsSecret())

	made := c.create(parameter, values{"name": "/a/b", "type": "SecureString", "value": secret})
	require.Equal(t, "hunter2", c.properties(made.GetProperties())["value"].SecretValue().Element.StringValue())

	plain := c.create(parameter, values{"name": "/a/c", "type": "SecureString", "value": "clear"})
	require.True(t, c.properties(plain.GetProperties())["value"].IsSecret(), "a parameter's value is always a secret")

	bad := c.check(parameter, values{"type": resource.MakeSecret(resource.NewStringProperty("hunter2")), "value": "x"})
	require.Len(t, bad, 1)
	require.NotContains(t, bad[0], "hunter2")
}

func TestPreviewCreatesNothingAndSaysWhatIsUnknown(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	r, err := c.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn("aws:kms/key:Key"), Properties: c.wire(values{"enableKeyRotation": true}), Preview: true})
	require.NoError(t, err)
	require.Empty(t, r.GetId())
	out := c.properties(r.GetProperties())
	require.True(t, out["arn"].IsComputed())
	require.True(t, out["enableKeyRotation"].BoolValue())
}

func TestPluginReportsTheSDKsVersion(t *testing.T) {
	c := dial(t, "aws", provider.Options{})
	info, err := c.GetPluginInfo(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	require.Regexp(t, `^6\.\d+\.\d+$`, info.GetVersion())
}

func TestServeRefusesWhatItDoesNotKnow(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	_, err = provider.Serve(map[string]net.Listener{"azure": l}, provider.Options{
		Handlers: map[string]provider.Handler{"aws:emr/clster:Clster": provider.Recording{}},
		Invokes:  map[string]provider.Invoke{"aws:x:y": func(context.Context, resource.PropertyMap) (resource.PropertyMap, error) { return nil, nil }},
	})
	require.ErrorContains(t, err, `package "azure"`)
	require.ErrorContains(t, err, "clster")
	require.ErrorContains(t, err, "aws:x:y")
}
