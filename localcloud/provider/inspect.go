package provider

import (
	"reflect"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
	"github.com/emr-observatory/emr-observatory/localcloud/provider/rules"
)

// structOf gives a struct type as it is; nil (a function without arguments)
// becomes an empty struct.
func structOf(t reflect.Type) reflect.Type {
	if t == nil {
		return reflect.TypeFor[struct{}]()
	}
	return t
}

// inspect gives all faults of a resource's inputs at once.
func inspect(token string, typ catalog.Type, inputs resource.PropertyMap) []catalog.Fault {
	faults := catalog.Shape(typ.Args, inputs, typ.Required...)
	faults = append(faults, identity(token, inputs)...)
	faults = append(faults, rules.Check(token, inputs)...)
	catalog.Sort(faults)
	return faults
}

// identity checks that a Kubernetes object says it is what its token says.
func identity(token string, inputs resource.PropertyMap) []catalog.Fault {
	rest, ok := strings.CutPrefix(token, "kubernetes:")
	if !ok {
		return nil
	}
	version, kind, _ := strings.Cut(rest, ":")
	want := map[resource.PropertyKey]string{"apiVersion": strings.TrimPrefix(version, "core/"), "kind": kind}
	var faults []catalog.Fault
	for key, value := range want {
		v, unknown := catalog.Reveal(inputs[key])
		if !unknown && (!v.IsString() || v.StringValue() != value) {
			faults = append(faults, catalog.Fault{Path: string(key), Value: catalog.Describe(inputs[key]), Rule: "must be " + value, Remedy: "use the SDK's constructor of " + token + ", or leave it out"})
		}
	}
	return faults
}
