// Package catalog knows what the resource types, functions and provider
// configurations of the served Pulumi packages look like. It takes every shape
// from the SDKs' own Go types by reflection, so that it accepts exactly what
// the SDK of that version can say.
//
// It knows nothing of values beyond their shape: limits, patterns and enums
// are in package rules.
package catalog

import (
	"reflect"

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
	State reflect.Type // outputs; nil where the outputs are the inputs plus what a server adds (Kubernetes)
	// Required names the inputs that the SDK's constructor insists on but
	// whose Go type (slice, map, interface) cannot say so.
	Required []string
}

// Function is a function of a package (getAmi…).
type Function struct {
	Args, Result reflect.Type
}

// Package is one Pulumi package.
type Package struct {
	Name      string
	Module    string       // Go module of its SDK
	Version   string       // of that module as go.mod has it; a test compares
	Config    reflect.Type // arguments of its provider resource
	Resources map[string]Type
	Functions map[string]Function
}

// Packages gives every package that the local cloud serves, by name.
func Packages() map[string]Package {
	all := []Package{
		{
			Name: "aws", Module: "github.com/pulumi/pulumi-aws/sdk/v6", Version: "6.83.2",
			Config:    aws.ProviderArgs{}.ElementType(),
			Resources: join(awsNetwork(), awsEMR(), awsStorage()),
			Functions: awsFunctions(),
		},
		{
			Name: "kubernetes", Module: "github.com/pulumi/pulumi-kubernetes/sdk/v4", Version: "4.30.0",
			Config: kubernetes.ProviderArgs{}.ElementType(), Resources: kubernetesKinds(),
		},
		{
			Name: "grafana", Module: "github.com/pulumiverse/pulumi-grafana/sdk/v2", Version: "2.19.0",
			Config: grafana.ProviderArgs{}.ElementType(), Resources: grafanaTypes(),
		},
		{
			Name: "tls", Module: "github.com/pulumi/pulumi-tls/sdk/v5", Version: "5.2.0",
			Config: tls.ProviderArgs{}.ElementType(), Resources: tlsTypes(),
		},
		{
			Name: "random", Module: "github.com/pulumi/pulumi-random/sdk/v4", Version: "4.18.0",
			Config: random.ProviderArgs{}.ElementType(), Resources: randomTypes(),
		},
		{
			Name: "command", Module: "github.com/pulumi/pulumi-command/sdk", Version: "1.1.0",
			Config: command.ProviderArgs{}.ElementType(), Resources: commandTypes(),
		},
	}
	out := map[string]Package{}
	for _, p := range all {
		out[p.Name] = p
	}
	return out
}

// element is what every generated Args and State type offers: the plain type
// behind its inputs.
type element interface{ ElementType() reflect.Type }

func typ(args, state element, required ...string) Type {
	t := Type{Args: args.ElementType(), Required: required}
	if state != nil {
		t.State = state.ElementType()
	}
	return t
}

func function[A, R any]() Function {
	return Function{Args: reflect.TypeFor[A](), Result: reflect.TypeFor[R]()}
}

func join(parts ...map[string]Type) map[string]Type {
	out := map[string]Type{}
	for _, p := range parts {
		for k, v := range p {
			out[k] = v
		}
	}
	return out
}
