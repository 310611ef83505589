package simulator

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/property"
	"github.com/emr-observatory/emr-observatory/simulator/rules"
)

// CheckInputs checks the inputs of one resource as its provider would: unknown,
// missing and mistyped properties, then the rules of the service. token is the
// resource type, e.g. "aws:emr/cluster:Cluster". Values that are not known yet
// are accepted; a value that is or contains a secret is never quoted. All
// violations are returned, sorted by path; none means that the inputs pass.
//
// Names that the provider would generate are not filled in: they are optional
// inputs, so leaving them out is no violation.
func CheckInputs(token string, inputs resource.PropertyMap) []property.Violation {
	pkg := catalog.Packages()[packageOf(token)]
	typ, known := pkg.Resources[token]
	if !known {
		return []property.Violation{unknownType(token, packageOf(token))}
	}
	return checkInputs(token, typ, inputs)
}

func unknownType(token, pkg string) property.Violation {
	return property.Violation{
		Path: token, Value: "unknown", Rule: "unknown resource type of package " + pkg,
		Remedy: "correct the token, or add the type to the catalog if the platform needs it",
	}
}

func checkInputs(token string, typ catalog.Type, inputs resource.PropertyMap) []property.Violation {
	violations := catalog.CheckShape(typ.Args, inputs, typ.Required...)
	violations = append(violations, checkObjectKind(token, inputs)...)
	violations = append(violations, rules.Check(token, inputs)...)
	property.Sort(violations)
	return violations
}

// checkObjectKind requires apiVersion and kind of a Kubernetes object to match
// its token.
func checkObjectKind(token string, inputs resource.PropertyMap) []property.Violation {
	rest, ok := strings.CutPrefix(token, "kubernetes:")
	if !ok {
		return nil
	}
	version, kind, _ := strings.Cut(rest, ":")
	want := map[resource.PropertyKey]string{"apiVersion": strings.TrimPrefix(version, "core/"), "kind": kind}
	var violations []property.Violation
	for key, value := range want {
		v, unknown := property.Unwrap(inputs[key])
		if !unknown && (!v.IsString() || v.StringValue() != value) {
			violations = append(violations, property.Violation{
				Path: string(key), Value: property.Describe(inputs[key]), Rule: "must be " + value,
				Remedy: "use the SDK's constructor of " + token + ", which sets it",
			})
		}
	}
	return violations
}
