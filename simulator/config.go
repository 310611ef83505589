package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/property"
	"github.com/emr-observatory/emr-observatory/simulator/rules"
)

// CheckConfig checks the arguments of a provider resource.
func (s *server) CheckConfig(_ context.Context, r plugin.CheckConfigRequest) (plugin.CheckConfigResponse, error) {
	values := s.decodeConfig(r.News)
	violations := catalog.CheckShape(s.pkg.Config, values)
	violations = append(violations, rules.Check("pulumi:providers:"+s.pkg.Name, values)...)
	property.Sort(violations)
	return plugin.CheckConfigResponse{Properties: r.News, Failures: s.report(r.URN, violations)}, nil
}

// decodeConfig decodes a provider's arguments: SDKs send all but strings as
// JSON text. The engine's own arguments are left out.
func (s *server) decodeConfig(values resource.PropertyMap) resource.PropertyMap {
	fields := catalog.Fields(s.pkg.Config)
	out := resource.PropertyMap{}
	for k, v := range values {
		if k == "version" || k == "pluginDownloadURL" {
			continue
		}
		out[k] = v
		t, known := fields[string(k)]
		unwrapped, unknown := property.Unwrap(v)
		if !known || unknown || !unwrapped.IsString() || isStringType(t) {
			continue
		}
		var decoded any
		if json.Unmarshal([]byte(unwrapped.StringValue()), &decoded) != nil {
			continue // the shape check reports it
		}
		out[k] = resource.NewPropertyValue(decoded)
		if v.ContainsSecrets() {
			out[k] = resource.MakeSecret(out[k])
		}
	}
	return out
}

func isStringType(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.String
}

// DiffConfig compares a provider's arguments. Another region or another
// cluster is another location: everything in it is replaced.
func (s *server) DiffConfig(_ context.Context, r plugin.DiffConfigRequest) (plugin.DiffConfigResponse, error) {
	before, after := property.Plain(s.decodeConfig(r.OldInputs)), property.Plain(s.decodeConfig(r.NewInputs))
	result := plugin.DiffResult{Changes: plugin.DiffNone}
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if !reflect.DeepEqual(before[k], after[k]) {
			result.Changes = plugin.DiffSome
			result.ChangedKeys = append(result.ChangedKeys, resource.PropertyKey(k))
		}
	}
	location := s.locationArgument()
	relocated := before[location] != nil && after[location] != nil && !reflect.DeepEqual(before[location], after[location])
	if location != "" && relocated {
		result.ReplaceKeys = []resource.PropertyKey{resource.PropertyKey(location)}
	}
	return result, nil
}

// locationArgument returns the provider argument that says where its resources are,
// "" if none does. Without a clusterIdentifier the real Kubernetes provider
// compares kubeconfigs; the simulator does not, so a program whose certificates
// rotate must set it.
func (s *server) locationArgument() string {
	switch s.pkg.Name {
	case "aws":
		return "region"
	case "kubernetes":
		return "clusterIdentifier"
	default:
		return ""
	}
}

// Configure applies the provider's arguments to the account.
func (s *server) Configure(_ context.Context, r plugin.ConfigureRequest) (plugin.ConfigureResponse, error) {
	values := s.decodeConfig(r.Inputs)
	plain := property.Plain(values)
	text := func(key string) string { v, _ := plain[key].(string); return v }
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config = values
	switch s.pkg.Name {
	case "aws":
		s.account.Configure(text("region"), defaultTags(plain))
	case "grafana":
		s.account.ConfigureGrafana(text("url"))
	case "kubernetes":
		s.unreachable = ""
		if !rules.IsKubeconfig(text("kubeconfig")) {
			s.unreachable = "unable to load Kubernetes client configuration from kubeconfig"
		}
	}
	s.log.Debug("configured", "package", s.pkg.Name)
	return plugin.ConfigureResponse{}, nil
}

// defaultTags returns the tags in an aws provider's argument defaultTags.
func defaultTags(config map[string]any) map[string]string {
	out := map[string]string{}
	block, _ := config["defaultTags"].(map[string]any)
	tags, _ := block["tags"].(map[string]any)
	for k, v := range tags {
		out[k], _ = v.(string)
	}
	return out
}

// connect connects to the provider's server, if it has one.
func (s *server) connect(ctx context.Context) error {
	if err := s.checkReachable(); err != nil || s.connectTo == nil {
		return err
	}
	s.mu.Lock()
	arguments := property.Plain(s.config)
	s.mu.Unlock()
	return s.connectTo(ctx, s.pkg.Name, arguments)
}

// checkReachable fails, with the real provider's words, while the kubeconfig
// names no server.
func (s *server) checkReachable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unreachable == "" {
		return nil
	}
	return errors.New("configured Kubernetes cluster is unreachable: " + s.unreachable + "; pass the kubeconfig's content to the provider")
}
