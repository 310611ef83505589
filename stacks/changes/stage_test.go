package changes_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// scene is the whole program as a stack on the real engine. Tests edit its
// configuration and materials between runs.
type scene struct {
	*rehearse.Stage
	values    map[string]string // bare keys
	materials stacks.Materials
}

// open starts the engine with a stack file's configuration and some values set.
func open(t *testing.T, stack string, sets ...set) *scene {
	t.Helper()
	return openWith(t, stack, nil, sets...)
}

// openWith has handlers behind some types of resources.
func openWith(t *testing.T, stack string, handlers map[string]simulator.Handler, sets ...set) *scene {
	t.Helper()
	s := &scene{values: map[string]string{}, materials: trial.Materials(t)}
	for k, v := range trial.Values(t, stack) {
		s.values[strings.TrimPrefix(k, platform.Project+":")] = v
	}
	s.values = s.with(t, sets...)
	program := func(ctx *pulumi.Context) error {
		cfg, err := config.Parse(s.values)
		if err != nil {
			return err
		}
		return stacks.Build(ctx, cfg, s.materials)
	}
	var err error
	s.Stage, err = rehearse.Open(t.Context(), program, rehearse.Options{
		Project: platform.Project, Stack: stack, PulumiCommand: trial.Pulumi(t), WorkDir: t.TempDir(), Config: auto.ConfigMap{},
		Providers: simulator.Options{Handlers: handlers, Invokes: map[string]simulator.Invoke{
			"aws:ec2/getSubnet:getSubnet": existingSubnet, "aws:ec2/getRouteTable:getRouteTable": existingRoutes,
			"aws:ec2/getVpc:getVpc": existingVPC, "aws:ec2/getVpcDhcpOptions:getVpcDhcpOptions": ownDNSServer,
		}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// existingSubnet serves a subnet that the stack did not create.
func existingSubnet(_ context.Context, args resource.PropertyMap) (resource.PropertyMap, error) {
	return resource.PropertyMap{
		"id": args["id"], "availabilityZone": resource.NewStringProperty("us-east-1a"), "vpcId": resource.NewStringProperty("vpc-0123abcd"),
		"cidrBlock": resource.NewStringProperty("10.0.1.0/24"),
	}, nil
}

// existingRoutes serves the route table of an existing subnet, of which one is public.
func existingRoutes(_ context.Context, args resource.PropertyMap) (resource.PropertyMap, error) {
	out := map[string]any{"cidrBlock": "0.0.0.0/0", "natGatewayId": "nat-0123abcd"}
	if args["subnetId"].StringValue() == trial.PublicSubnet {
		out = map[string]any{"cidrBlock": "0.0.0.0/0", "gatewayId": "igw-0123abcd"}
	}
	return resource.NewPropertyMapFromMap(map[string]any{"routeTableId": "rtb-0123abcd", "routes": []any{out}}), nil
}

// existingVPC serves a VPC that the stack did not create, and ownDNSServer its DHCP option
// set.
func existingVPC(context.Context, resource.PropertyMap) (resource.PropertyMap, error) {
	return resource.NewPropertyMapFromMap(map[string]any{
		"enableDnsSupport": true, "enableDnsHostnames": true, "dhcpOptionsId": "dopt-0123abcd",
		"cidrBlockAssociations": []any{map[string]any{"cidrBlock": "10.0.0.0/16"}},
	}), nil
}

func ownDNSServer(context.Context, resource.PropertyMap) (resource.PropertyMap, error) {
	return resource.NewPropertyMapFromMap(map[string]any{"domainNameServers": []any{"10.0.0.5"}}), nil
}

func (s *scene) up(t *testing.T) auto.UpResult {
	t.Helper()
	r, err := s.Stack.Up(t.Context())
	require.NoError(t, err)
	return r
}

// with returns the configuration with some values set.
func (s *scene) with(t *testing.T, sets ...set) map[string]string {
	t.Helper()
	out := maps.Clone(s.values)
	for _, e := range sets {
		var value any
		require.NoError(t, json.Unmarshal([]byte(e.value), &value), e.value)
		if e.value == certificateJSON {
			const domain = "observatory.example.com"
			issued := issuer.Issue(t, time.Now().AddDate(1, 0, 0), domain)
			value = map[string]any{"domain": domain, "chain": issued.Chain(), "key": issued.Key}
		}
		if e.value == authorityJSON {
			value = issuer.Issue(t, time.Now().AddDate(1, 0, 0), "otlp.example.com").Intermediate
		}
		top, rest, nested := strings.Cut(e.path, ".")
		if nested {
			object := map[string]any{}
			if out[top] != "" {
				require.NoError(t, json.Unmarshal([]byte(out[top]), &object))
			}
			value = put(object, strings.Split(rest, "."), value)
		}
		if bare, isText := value.(string); isText {
			out[top] = bare
			continue
		}
		b, err := json.Marshal(value)
		require.NoError(t, err)
		out[top] = string(b)
	}
	return out
}

// put sets a value in nested objects; in a list it uses the first entry.
func put(at any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	if list, ok := at.([]any); ok && len(list) > 0 {
		list[0] = put(list[0], path, value)
		return list
	}
	object, ok := at.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object[path[0]] = put(object[path[0]], path[1:], value)
	return object
}
