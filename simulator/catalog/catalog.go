// Package catalog describes the resource types, functions and provider
// configurations of the simulated Pulumi packages. It reads every shape from
// the SDKs' own Go types by reflection, so it accepts exactly what this version
// of the SDK can express.
//
// It checks only shapes. Limits, patterns and enums are in package rules.
package catalog

import (
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-command/sdk/go/command"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana"
)

// Type is a resource type.
type Type struct {
	Args  reflect.Type // inputs
	State reflect.Type // outputs; nil if they are the inputs plus what a server adds (Kubernetes)
	// Required lists the inputs that the SDK's constructor requires although
	// their Go type (slice, map, interface) does not show it.
	Required []string
}

// Function is a function of a package, such as getAmi.
type Function struct {
	Args, Result reflect.Type
}

// Package is a Pulumi package. Resources and Functions are keyed by token.
type Package struct {
	Name      string
	Module    string       // Go module of its SDK
	Version   string       // of the module; a test compares it with go.mod
	Config    reflect.Type // arguments of its provider resource
	Resources map[string]Type
	Functions map[string]Function
}

// Packages returns the simulated packages by name. Callers must not change them.
func Packages() map[string]Package { return packages() }

// packages caches them: every check reads them, and loading reflects on all of their types.
var packages = sync.OnceValue(loadPackages)

func loadPackages() map[string]Package {
	awsTypes := byToken("aws", slices.Concat(awsNetwork(), awsEMR(), awsStorage(), awsSchedules(), awsLake()))
	others := otherTypes()
	const pulumi = "github.com/pulumi/pulumi-"
	out := map[string]Package{}
	for _, p := range []Package{
		{"aws", pulumi + "aws/sdk/v6", "6.83.2", aws.ProviderArgs{}.ElementType(), awsTypes, functionsByToken("aws", awsFunctions())},
		{"kubernetes", pulumi + "kubernetes/sdk/v4", "4.30.0", kubernetes.ProviderArgs{}.ElementType(), kubernetesKinds(), nil},
		{"grafana", "github.com/pulumiverse/pulumi-grafana/sdk/v2", "2.19.0", grafana.ProviderArgs{}.ElementType(), others["grafana"], nil},
		{"tls", pulumi + "tls/sdk/v5", "5.2.0", tls.ProviderArgs{}.ElementType(), others["tls"], nil},
		{"random", pulumi + "random/sdk/v4", "4.18.0", random.ProviderArgs{}.ElementType(), others["random"], nil},
		{"command", pulumi + "command/sdk", "1.1.0", command.ProviderArgs{}.ElementType(), others["command"], nil},
	} {
		out[p.Name] = p
	}
	return out
}

// plainType is implemented by every generated Args and State type. ElementType is the
// struct with the same fields as plain values.
type plainType interface{ ElementType() reflect.Type }

// typ describes a resource type by the SDK's Args and State (nil as in Type).
func typ(args, state plainType, required ...string) Type {
	t := Type{Args: args.ElementType(), Required: required}
	if state != nil {
		t.State = state.ElementType()
	}
	return t
}

// function describes a function by the SDK's Args and Result.
func function[A, R any]() Function {
	return Function{Args: reflect.TypeFor[A](), Result: reflect.TypeFor[R]()}
}

// byToken keys types by the tokens that the Terraform bridge derives from their
// names: subnetArgs of package ec2 is "aws:ec2/subnet:Subnet". A test compares
// them with the SDKs' sources.
func byToken(pkg string, types []Type) map[string]Type {
	out := map[string]Type{}
	for _, t := range types {
		name := strings.TrimSuffix(t.Args.Name(), "Args")
		out[token(pkg, t.Args, name, strings.ToUpper(name[:1])+name[1:])] = t
	}
	return out
}

// functionsByToken does the same for functions: LookupAmiResult of package ec2
// is the result of "aws:ec2/getAmi:getAmi".
func functionsByToken(pkg string, functions []Function) map[string]Function {
	out := map[string]Function{}
	for _, f := range functions {
		name := strings.TrimSuffix(f.Result.Name(), "Result")
		name = "get" + strings.TrimPrefix(strings.TrimPrefix(name, "Lookup"), "Get")
		out[token(pkg, f.Result, name, name)] = f
	}
	return out
}

// token joins package, module and names. The module is the Go package that
// declares t; the SDK's root package is called index.
func token(pkg string, t reflect.Type, file, name string) string {
	module := path.Base(t.PkgPath())
	if module == pkg {
		module = "index"
	}
	return pkg + ":" + module + "/" + file + ":" + name
}
