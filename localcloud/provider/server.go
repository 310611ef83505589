package provider

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
	"github.com/emr-observatory/emr-observatory/localcloud/provider/change"
	"github.com/emr-observatory/emr-observatory/localcloud/provider/record"
)

// server is the provider of one package. The wire is plugin.NewProviderServer's.
type server struct {
	plugin.UnimplementedProvider

	pkg      catalog.Package
	version  semver.Version
	account  *record.Account
	handlers map[string]Handler
	invokes  map[string]Invoke
	journal  *journal
	log      *slog.Logger

	mu          sync.Mutex
	config      resource.PropertyMap
	unreachable string // why the Kubernetes cluster cannot be used; "" if it can
}

// Handshake states what the server keeps intact: secrets and resource
// references. Output values are not needed, unknowns suffice.
func (s *server) Handshake(context.Context, plugin.ProviderHandshakeRequest) (*plugin.ProviderHandshakeResponse, error) {
	return &plugin.ProviderHandshakeResponse{AcceptSecrets: true, AcceptResources: true, SupportsAutonamingConfiguration: true}, nil
}

// Attach implements plugin.GrpcProvider. The engine's address is not needed.
func (s *server) Attach(string) error { return nil }

// Close has nothing to close: the listener is Servers'.
func (s *server) Close() error { return nil }

// SignalCancellation lets running calls end by their own contexts.
func (s *server) SignalCancellation(context.Context) error { return nil }

// GetPluginInfo gives the version of the SDK that the program was built with.
func (s *server) GetPluginInfo(context.Context) (plugin.PluginInfo, error) {
	return plugin.PluginInfo{Version: &s.version}, nil
}

// Check judges inputs: their shape, the service's rules, and the name that
// the service's provider would make up.
func (s *server) Check(_ context.Context, r plugin.CheckRequest) (plugin.CheckResponse, error) {
	typ, known := s.pkg.Resources[string(r.Type)]
	if !known {
		return plugin.CheckResponse{Properties: r.News, Failures: failures(s.journal.note(string(r.URN), []catalog.Fault{{
			Path: string(r.Type), Value: "unknown", Rule: "unknown resource type of package " + s.pkg.Name,
			Remedy: "correct the token, or add the type to the catalog if the platform needs it",
		}}))}, nil
	}
	inputs := r.News.Copy()
	var faults []catalog.Fault
	if f := autoname(string(r.Type), typ, r, inputs); f != nil {
		faults = append(faults, *f)
	}
	faults = append(faults, inspect(string(r.Type), typ, inputs)...)
	s.log.Debug("checked", "urn", r.URN, "faults", len(faults))
	return plugin.CheckResponse{Properties: inputs, Failures: failures(s.journal.note(string(r.URN), faults))}, nil
}

// failures puts the path into the reason: as a property the engine would print
// the property's value with it, which may be secret.
func failures(faults []catalog.Fault) []plugin.CheckFailure {
	out := make([]plugin.CheckFailure, 0, len(faults))
	for _, f := range faults {
		out = append(out, plugin.CheckFailure{Reason: f.String()})
	}
	return out
}

// Diff judges a change, and learns of a resource that exists.
func (s *server) Diff(_ context.Context, r plugin.DiffRequest) (plugin.DiffResult, error) {
	s.account.Learn(record.Resource{URN: string(r.URN), Type: string(r.Type), ID: string(r.ID), Outputs: r.OldOutputs})
	result := change.Of(string(r.Type), s.settings(), r.OldInputs, r.OldOutputs, r.NewInputs)
	s.diffTags(r, &result)
	return result, nil
}

// diffTags adds the change of tagsAll that a change of the provider's default
// tags makes.
func (s *server) diffTags(r plugin.DiffRequest, result *plugin.DiffResult) {
	before, ok := catalog.Plain(r.OldOutputs)["tagsAll"].(map[string]any)
	after := record.AllTags(catalog.Plain(r.NewInputs), s.account.DefaultTags())
	if s.pkg.Name != "aws" || !ok || fmt.Sprint(before) == fmt.Sprint(after) {
		return
	}
	result.Changes = plugin.DiffSome
	result.ChangedKeys = append(result.ChangedKeys, "tagsAll")
	result.DetailedDiff["tagsAll"] = plugin.PropertyDiff{Kind: plugin.DiffUpdate}
}

func (s *server) settings() change.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	flag := func(key resource.PropertyKey) bool { v := s.config[key]; return v.IsBool() && v.BoolValue() }
	return change.Settings{MutableConfigMaps: flag("enableConfigMapMutable"), MutableSecrets: flag("enableSecretMutable")}
}

// Invoke answers a function: a registered one, else from the record.
func (s *server) Invoke(ctx context.Context, r plugin.InvokeRequest) (plugin.InvokeResponse, error) {
	f, known := s.pkg.Functions[string(r.Tok)]
	if !known {
		return plugin.InvokeResponse{}, fmt.Errorf("unknown function %s of package %s; correct the token, or add the function to the catalog if the platform needs it", r.Tok, s.pkg.Name)
	}
	if faults := catalog.Shape(structOf(f.Args), r.Args); len(faults) > 0 {
		return plugin.InvokeResponse{Failures: failures(faults)}, nil
	}
	answer, registered := s.invokes[string(r.Tok)]
	if !registered {
		answer = func(_ context.Context, args resource.PropertyMap) (resource.PropertyMap, error) {
			return s.account.Call(string(r.Tok), args)
		}
	}
	out, err := answer(ctx, r.Args)
	if err != nil {
		return plugin.InvokeResponse{}, err
	}
	return plugin.InvokeResponse{Properties: out}, misshapen(string(r.Tok), catalog.Shape(f.Result, out))
}

// misshapen reports outputs that the SDK could not read: the handler's fault.
func misshapen(what string, faults []catalog.Fault) error {
	var lines []string
	for _, f := range faults {
		if f.Rule != catalog.Missing {
			lines = append(lines, f.String())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("%s: outputs that the SDK cannot read: %s", what, strings.Join(lines, "; "))
}
