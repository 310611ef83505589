package simulator

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"github.com/emr-observatory/emr-observatory/simulator/autoname"
	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/diff"
	"github.com/emr-observatory/emr-observatory/simulator/property"
	"github.com/emr-observatory/emr-observatory/simulator/record"
)

// server is the provider of one package. plugin.NewProviderServer translates
// between it and gRPC.
type server struct {
	plugin.UnimplementedProvider

	pkg              catalog.Package
	version          semver.Version
	account          *record.Account
	handlers         map[string]Handler
	invokes          map[string]Invoke
	connectTo        Connect
	checks           *checkLog
	acceptViolations bool
	log              *slog.Logger

	mu          sync.Mutex
	config      resource.PropertyMap
	unreachable string // why the Kubernetes cluster cannot be reached; "" if it can
}

// Handshake states that secrets and resource references are kept intact.
// Output values are not needed: unknowns suffice.
func (s *server) Handshake(context.Context, plugin.ProviderHandshakeRequest) (*plugin.ProviderHandshakeResponse, error) {
	return &plugin.ProviderHandshakeResponse{AcceptSecrets: true, AcceptResources: true, SupportsAutonamingConfiguration: true}, nil
}

// Attach implements plugin.GrpcProvider. The engine's address is not used.
func (s *server) Attach(string) error { return nil }

// Close does nothing: Servers closes the listener.
func (s *server) Close() error { return nil }

// SignalCancellation does nothing: running calls end with their contexts.
func (s *server) SignalCancellation(context.Context) error { return nil }

// GetPluginInfo returns the version of the SDK that the program is built with.
func (s *server) GetPluginInfo(context.Context) (plugin.PluginInfo, error) {
	return plugin.PluginInfo{Version: &s.version}, nil
}

// Check fills in a generated name and checks the inputs.
func (s *server) Check(_ context.Context, r plugin.CheckRequest) (plugin.CheckResponse, error) {
	typ, known := s.pkg.Resources[string(r.Type)]
	if !known {
		violations := []property.Violation{unknownType(string(r.Type), s.pkg.Name)}
		return plugin.CheckResponse{Properties: r.News, Failures: s.report(r.URN, violations)}, nil
	}
	inputs := r.News.Copy()
	var violations []property.Violation
	if v := autoname.Fill(string(r.Type), typ, r, inputs); v != nil {
		violations = append(violations, *v)
	}
	violations = append(violations, checkInputs(string(r.Type), typ, inputs)...)
	s.log.Debug("checked", "urn", r.URN, "violations", len(violations))
	return plugin.CheckResponse{Properties: inputs, Failures: s.report(r.URN, violations)}, nil
}

// report logs the violations of a resource and returns those that the engine
// fails on.
func (s *server) report(urn resource.URN, violations []property.Violation) []plugin.CheckFailure {
	s.checks.record(string(urn), violations)
	if s.acceptViolations {
		return nil
	}
	return failures(violations)
}

// failures writes the path into the reason: given as the failure's property,
// the engine would print the property's value, which may be secret.
func failures(violations []property.Violation) []plugin.CheckFailure {
	out := make([]plugin.CheckFailure, 0, len(violations))
	for _, v := range violations {
		out = append(out, plugin.CheckFailure{Reason: v.String()})
	}
	return out
}

// Diff classifies a change. It also adds the resource to the account, since the
// engine requests a diff for every resource in its state.
func (s *server) Diff(_ context.Context, r plugin.DiffRequest) (plugin.DiffResult, error) {
	s.account.Add(record.Resource{URN: string(r.URN), Type: string(r.Type), ID: string(r.ID), Outputs: r.OldOutputs})
	result := diff.Compute(string(r.Type), s.diffSettings(), r.OldInputs, r.OldOutputs, r.NewInputs)
	s.diffDefaultTags(r, &result)
	return result, nil
}

// diffDefaultTags adds the difference in tagsAll that an edit of the provider's
// default tags causes.
func (s *server) diffDefaultTags(r plugin.DiffRequest, result *plugin.DiffResult) {
	before, ok := property.Plain(r.OldOutputs)["tagsAll"].(map[string]any)
	after := record.AllTags(property.Plain(r.NewInputs), s.account.DefaultTags())
	if s.pkg.Name != "aws" || !ok || fmt.Sprint(before) == fmt.Sprint(after) {
		return
	}
	result.Changes = plugin.DiffSome
	result.ChangedKeys = append(result.ChangedKeys, "tagsAll")
	result.DetailedDiff["tagsAll"] = plugin.PropertyDiff{Kind: plugin.DiffUpdate}
}

func (s *server) diffSettings() diff.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	isOn := func(key resource.PropertyKey) bool { v := s.config[key]; return v.IsBool() && v.BoolValue() }
	return diff.Settings{MutableConfigMaps: isOn("enableConfigMapMutable"), MutableSecrets: isOn("enableSecretMutable")}
}

// Invoke calls the registered Invoke of a function; without one, the account's.
func (s *server) Invoke(ctx context.Context, r plugin.InvokeRequest) (plugin.InvokeResponse, error) {
	token := string(r.Tok)
	f, known := s.pkg.Functions[token]
	if !known {
		return plugin.InvokeResponse{}, fmt.Errorf("unknown function %s of package %s;"+
			" correct the token, or add the function to the catalog if the platform needs it", r.Tok, s.pkg.Name)
	}
	if violations := catalog.CheckShape(f.Args, r.Args); len(violations) > 0 {
		return plugin.InvokeResponse{Failures: failures(violations)}, nil
	}
	var out resource.PropertyMap
	var err error
	if invoke, registered := s.invokes[token]; registered {
		if out, err = invoke(ctx, r.Args); err != nil {
			err = fmt.Errorf("call %s: %w", token, err)
		}
	} else {
		out, err = s.account.Call(token, r.Args)
	}
	if err != nil {
		return plugin.InvokeResponse{}, err
	}
	return plugin.InvokeResponse{Properties: out}, checkReadable(token, f.Result, out)
}

// checkReadable reports outputs that the SDK cannot decode: a bug in a handler.
// Outputs may be missing.
func checkReadable(token string, t reflect.Type, outputs resource.PropertyMap) error {
	var lines []string
	for _, v := range catalog.CheckShape(t, outputs) {
		if v.Rule != property.Missing {
			lines = append(lines, v.String())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("%s: the SDK cannot decode the outputs: %s", token, strings.Join(lines, "; "))
}
