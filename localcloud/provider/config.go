package provider

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sort"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
	"github.com/emr-observatory/emr-observatory/localcloud/provider/rules"
)

// CheckConfig judges the arguments of a provider resource.
func (s *server) CheckConfig(_ context.Context, r plugin.CheckConfigRequest) (plugin.CheckConfigResponse, error) {
	values := s.typed(r.News)
	faults := catalog.Shape(s.pkg.Config, values)
	faults = append(faults, rules.Check("pulumi:providers:"+s.pkg.Name, values)...)
	catalog.Sort(faults)
	return plugin.CheckConfigResponse{Properties: r.News, Failures: failures(s.journal.note(string(r.URN), faults))}, nil
}

// typed decodes a provider's arguments: SDKs send everything but strings as
// JSON text.
func (s *server) typed(values resource.PropertyMap) resource.PropertyMap {
	fields := catalog.Fields(s.pkg.Config)
	out := resource.PropertyMap{}
	for k, v := range values {
		if k == "version" || k == "pluginDownloadURL" {
			continue // the engine's
		}
		out[k] = v
		t, known := fields[string(k)]
		plain, unknown := catalog.Reveal(v)
		if !known || unknown || !plain.IsString() || text(t) {
			continue
		}
		var decoded any
		if json.Unmarshal([]byte(plain.StringValue()), &decoded) != nil {
			continue
		}
		out[k] = resource.NewPropertyValue(decoded)
		if v.ContainsSecrets() {
			out[k] = resource.MakeSecret(out[k])
		}
	}
	return out
}

func text(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.String
}

// DiffConfig judges a change of a provider's arguments: another region or
// another cluster is another place, so everything in it is replaced.
func (s *server) DiffConfig(_ context.Context, r plugin.DiffConfigRequest) (plugin.DiffConfigResponse, error) {
	before, after := catalog.Plain(s.typed(r.OldInputs)), catalog.Plain(s.typed(r.NewInputs))
	result := plugin.DiffResult{Changes: plugin.DiffNone}
	keys := map[string]bool{}
	for k := range before {
		keys[k] = true
	}
	for k := range after {
		keys[k] = true
	}
	for k := range keys {
		if !reflect.DeepEqual(before[k], after[k]) {
			result.Changes = plugin.DiffSome
			result.ChangedKeys = append(result.ChangedKeys, resource.PropertyKey(k))
		}
	}
	sort.Slice(result.ChangedKeys, func(i, j int) bool { return result.ChangedKeys[i] < result.ChangedKeys[j] })
	if place := s.place(); place != "" && before[place] != nil && after[place] != nil && !reflect.DeepEqual(before[place], after[place]) {
		result.ReplaceKeys = []resource.PropertyKey{resource.PropertyKey(place)}
	}
	return result, nil
}

// place is the argument that says where a provider's resources are. Without a
// clusterIdentifier the real Kubernetes provider compares kubeconfigs; a
// program that lets certificates rotate must set it, and this one insists.
func (s *server) place() string {
	switch s.pkg.Name {
	case "aws":
		return "region"
	case "kubernetes":
		return "clusterIdentifier"
	default:
		return ""
	}
}

// Configure takes the arguments over.
func (s *server) Configure(_ context.Context, r plugin.ConfigureRequest) (plugin.ConfigureResponse, error) {
	values := s.typed(r.Inputs)
	plain := catalog.Plain(values)
	s.mu.Lock()
	s.config = values
	s.mu.Unlock()
	str := func(key string) string { v, _ := plain[key].(string); return v }
	switch s.pkg.Name {
	case "aws":
		tags := map[string]string{}
		defaults, _ := plain["defaultTags"].(map[string]any)
		own, _ := defaults["tags"].(map[string]any)
		for k, v := range own {
			tags[k], _ = v.(string)
		}
		s.account.Configure(str("region"), tags)
	case "grafana":
		s.account.ConfigureGrafana(str("url"))
	case "kubernetes":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unreachable = ""
		if !rules.Kubeconfig(str("kubeconfig")) {
			s.unreachable = "unable to load Kubernetes client configuration from kubeconfig"
		}
	}
	s.log.Debug("configured", "package", s.pkg.Name)
	return plugin.ConfigureResponse{}, nil
}

// ready refuses work on a cluster whose kubeconfig says nothing, in the real
// provider's words.
func (s *server) ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unreachable == "" {
		return nil
	}
	return errors.New("configured Kubernetes cluster is unreachable: " + s.unreachable + "; pass the kubeconfig's content to the provider")
}
