// Package recorder runs Pulumi code against mocks and records its resource
// registrations, so that tests assert on the complete list afterwards and never
// inside an apply. It shows what a program requests, not what the engine or a
// provider would do with it (the local cloud's tests do).
package recorder

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Resource is one registration.
type Resource struct {
	Type         string // aws:s3/bucketV2:BucketV2
	Name         string
	URN          string // carries the chain of parent types
	Parent       string // parent's logical name; "" for a root
	Provider     string // "<type>::<name>" of the explicit provider, "" where the default one was used
	ID           string
	Inputs       resource.PropertyMap
	Outputs      resource.PropertyMap // the inputs, plus what WithComputed adds; without the id
	Protect      bool
	Retain       bool
	DeletedWith  string
	Dependencies []string
	Ignored      []string // properties whose changes are ignored
	ReplacedOn   []string // properties whose changes replace the resource, whatever the provider says
	Trigger      string   // a text whose change replaces the resource
	DeletedFirst bool     // before its replacement is created
	Aliases      int
	Component    bool // no provider: a component resource
}

// Recording holds everything that one run registered.
type Recording struct {
	Resources []Resource // in order of registration
	Invokes   []string   // function tokens, in order
	Defaults  []string   // invokes and resources that used a default provider

	mu      sync.Mutex
	seen    map[string]bool
	errs    []string
	results map[string]Function
	compute func(r Resource) resource.PropertyMap
}

// Function computes the result of a provider function.
type Function func(args resource.PropertyMap) resource.PropertyMap

// Option configures Run.
type Option func(*settings)

type settings struct {
	config, secrets map[string]string
	dryRun          bool
	results         map[string]Function
	compute         func(Resource) resource.PropertyMap
}

// WithConfig sets stack configuration; keys carry their namespace
// ("emr-observatory:region").
func WithConfig(c map[string]string) Option { return func(s *settings) { s.config = c } }

// WithSecrets sets further configuration, marked as secret.
func WithSecrets(c map[string]string) Option { return func(s *settings) { s.secrets = c } }

// WithPreview runs as `pulumi preview` does.
func WithPreview() Option { return func(s *settings) { s.dryRun = true } }

// WithInvoke sets the result of a provider function. Run fails if the program
// calls a function without one.
func WithInvoke(token string, result map[string]any) Option {
	return WithFunction(token, func(resource.PropertyMap) resource.PropertyMap { return resource.NewPropertyMapFromMap(result) })
}

// WithFunction computes the result of a provider function from its arguments. The call
// fails if it is nil.
func WithFunction(token string, f Function) Option {
	return func(s *settings) { s.results[token] = f }
}

// WithComputed adds outputs to a resource. Every resource also returns its
// inputs and a distinguishable id and arn.
func WithComputed(f func(Resource) resource.PropertyMap) Option {
	return func(s *settings) { s.compute = f }
}

// Run executes program and returns what it registered. It fails on the
// program's own error, on a duplicate URN, on an invoke without a result, and if
// a successful program registered nothing.
func Run(program pulumi.RunFunc, opts ...Option) (*Recording, error) {
	s := settings{config: map[string]string{}, results: map[string]Function{}}
	for _, o := range opts {
		o(&s)
	}
	rec := &Recording{seen: map[string]bool{}, results: s.results, compute: s.compute}
	err := pulumi.RunErr(program, pulumi.WithMocks("emr-observatory", "test", rec), func(i *pulumi.RunInfo) {
		i.DryRun = s.dryRun
		i.Config = map[string]string{}
		maps.Copy(i.Config, s.config)
		maps.Copy(i.Config, s.secrets)
		i.ConfigSecretKeys = slices.Collect(maps.Keys(s.secrets))
	})
	if err != nil {
		return rec, err
	}
	if len(rec.errs) > 0 {
		slices.Sort(rec.errs)
		return rec, fmt.Errorf("recorder: %s", strings.Join(rec.errs, "; "))
	}
	if len(rec.Resources) == 0 {
		return rec, fmt.Errorf("recorder: the program registered nothing")
	}
	return rec, nil
}

// NewResource implements pulumi.MockResourceMonitor.
func (rec *Recording) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	r := Resource{Type: args.TypeToken, Name: args.Name, Inputs: args.Inputs, Component: !args.Custom}
	if rpc := args.RegisterRPC; rpc != nil {
		r.Parent = nameOf(rpc.GetParent())
		r.Provider = providerOf(rpc.GetProvider())
		r.Protect, r.Retain = rpc.GetProtect(), rpc.GetRetainOnDelete()
		r.DeletedWith = nameOf(rpc.GetDeletedWith())
		r.Ignored, r.ReplacedOn = rpc.GetIgnoreChanges(), rpc.GetReplaceOnChanges()
		r.Trigger, r.DeletedFirst = rpc.GetReplacementTrigger().GetStringValue(), rpc.GetDeleteBeforeReplace()
		r.Aliases = len(rpc.GetAliases())
		for _, d := range rpc.GetDependencies() {
			r.Dependencies = append(r.Dependencies, nameOf(d))
		}
		slices.Sort(r.Dependencies)
		r.URN = rpc.GetParent() + "$" + args.TypeToken + "::" + args.Name
	}
	if rec.seen[r.URN] {
		rec.errs = append(rec.errs, "duplicate URN "+r.URN)
	}
	rec.seen[r.URN] = true
	if args.Custom && r.Provider == "" && !strings.HasPrefix(r.Type, "pulumi:") {
		rec.Defaults = append(rec.Defaults, r.Type+" "+r.Name)
	}

	out := args.Inputs.Copy()
	id := args.Name + "-id"
	if _, set := out["arn"]; !set {
		out["arn"] = resource.NewStringProperty("arn:aws:mock:us-east-1:123456789012:" + args.Name)
	}
	if rec.compute != nil {
		for k, v := range rec.compute(r) {
			if k == "id" {
				id = v.StringValue()
				continue
			}
			out[k] = v
		}
	}
	r.ID, r.Outputs = id, out
	rec.Resources = append(rec.Resources, r)
	return id, out, nil
}

// Call implements pulumi.MockResourceMonitor.
func (rec *Recording) Call(args pulumi.MockCallArgs) (resource.PropertyMap, error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.Invokes = append(rec.Invokes, args.Token)
	if args.Provider == "" {
		rec.Defaults = append(rec.Defaults, args.Token)
	}
	result, ok := rec.results[args.Token]
	if !ok {
		return nil, fmt.Errorf("recorder: no result for function %s", args.Token)
	}
	found := result(args.Args)
	if found == nil {
		return nil, fmt.Errorf("recorder: function %s finds nothing", args.Token)
	}
	return found, nil
}

// List returns "type name" of every resource, sorted: the golden list of a
// component.
func (rec *Recording) List() []string {
	out := make([]string, 0, len(rec.Resources))
	for _, r := range rec.Resources {
		out = append(out, r.Type+" "+r.Name)
	}
	slices.Sort(out)
	return out
}

// OfType returns the resources of one type.
func (rec *Recording) OfType(token string) []Resource {
	return slices.DeleteFunc(slices.Clone(rec.Resources), func(r Resource) bool { return r.Type != token })
}

// One returns the single resource of a type and name.
func (rec *Recording) One(token, name string) (Resource, error) {
	i := slices.IndexFunc(rec.Resources, func(r Resource) bool { return r.Type == token && r.Name == name })
	if i < 0 {
		return Resource{}, fmt.Errorf("no %s named %q among:\n%s", token, name, strings.Join(rec.List(), "\n"))
	}
	return rec.Resources[i], nil
}

// Protected returns the sorted names of the protected resources.
func (rec *Recording) Protected() []string {
	var out []string
	for _, r := range rec.Resources {
		if r.Protect {
			out = append(out, r.Name)
		}
	}
	slices.Sort(out)
	return out
}

// nameOf returns the logical name in a URN.
func nameOf(urn string) string {
	if i := strings.LastIndex(urn, "::"); i >= 0 {
		return urn[i+2:]
	}
	return urn
}

// providerOf shortens "urn:…::pulumi:providers:aws::main::id" to "aws::main".
func providerOf(ref string) string {
	parts := strings.Split(ref, "::")
	if len(parts) < 4 {
		return ""
	}
	return strings.TrimPrefix(parts[2], "pulumi:providers:") + "::" + parts[3]
}
