// Package autoname generates the names that a program leaves out, as the real
// providers do in Check: the Terraform bridge for AWS and Grafana, and
// pulumi-kubernetes for objects. It does not check names.
package autoname

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"github.com/emr-observatory/emr-observatory/simulator/catalog"
	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// Fill sets the name in inputs where the program did not. An existing resource
// keeps the name that was generated for it. The violation, if any, says why no
// name could be generated.
func Fill(token string, typ catalog.Type, r plugin.CheckRequest, inputs resource.PropertyMap) *property.Violation {
	if strings.HasPrefix(token, "kubernetes:") {
		return fillObject(r, inputs)
	}
	p, ok := policyFor(token, typ)
	key := resource.PropertyKey(p.input)
	if !ok || inputs.HasValue(key) || inputs.HasValue(resource.PropertyKey(p.prefixInput)) {
		return nil
	}
	if r.Olds.HasValue(key) && wasGenerated(r.Olds, p.input) {
		inputs[key] = r.Olds[key]
	} else {
		name, violation := generate(r, p)
		if violation != nil {
			return violation
		}
		inputs[key] = resource.NewStringProperty(name)
	}
	inputs[defaultsKey] = resource.NewArrayProperty([]resource.PropertyValue{resource.NewStringProperty(p.input)})
	return nil
}

// policy is how the provider of a type generates names.
type policy struct {
	input        string // the input that takes the name
	prefixInput  string // the input to set instead: namePrefix, bucketPrefix
	maxLength    int
	randomDigits int // appended to the logical name; 0 = the logical name itself
	lowerCase    bool
	prefix       string // before the logical name
}

// bridgeDigits is the number of random digits that the Terraform bridge appends.
const bridgeDigits = 7

// policyFor returns how a type is named. As in the bridge, a resource with an optional
// input "name" is auto-named (pulumi-aws, resources.go, lists the exceptions).
func policyFor(token string, typ catalog.Type) (policy, bool) {
	switch token {
	case "aws:s3/bucketV2:BucketV2":
		return policy{input: "bucket", prefixInput: "bucketPrefix", randomDigits: bridgeDigits, maxLength: 63, lowerCase: true}, true
	case "aws:kms/alias:Alias":
		return policy{input: "name", prefixInput: "namePrefix", randomDigits: bridgeDigits, maxLength: 256, prefix: "alias/"}, true
	case "aws:s3/bucketObjectv2:BucketObjectv2":
		return policy{input: "key", maxLength: 1024}, true
	}
	if !strings.HasPrefix(token, "aws:") && !strings.HasPrefix(token, "grafana:") {
		return policy{}, false
	}
	f, ok := catalog.Fields(typ.Args)["name"]
	if !ok || f.Kind() != reflect.Pointer {
		return policy{}, false
	}
	maxLength := 255
	if token == "aws:iam/role:Role" {
		maxLength = 64
	}
	return policy{input: "name", prefixInput: "namePrefix", randomDigits: bridgeDigits, maxLength: maxLength}, true
}

// defaultsKey is where the bridge lists the inputs that it filled in.
const defaultsKey = "__defaults"

// wasGenerated reports whether the bridge, not the program, set the input.
func wasGenerated(olds resource.PropertyMap, input string) bool {
	list := olds[defaultsKey]
	return list.IsArray() && slices.ContainsFunc(list.ArrayValue(), func(e resource.PropertyValue) bool {
		return e.IsString() && e.StringValue() == input
	})
}

// generate derives a name from the logical name, or takes the one that the
// stack's autonaming configuration proposes.
func generate(r plugin.CheckRequest, p policy) (string, *property.Violation) {
	if r.Autonaming != nil {
		if r.Autonaming.Mode == plugin.AutonamingModeDisabled {
			return "", &property.Violation{Path: p.input, Value: "not set", Rule: "automatic naming is disabled", Remedy: "set a name"}
		}
		return r.Autonaming.ProposedName, nil
	}
	logical := r.Name
	if p.lowerCase {
		logical = strings.ToLower(logical)
	}
	logical = p.prefix + logical
	if p.randomDigits == 0 {
		return logical, nil
	}
	name, err := resource.NewUniqueName(r.RandomSeed, logical+"-", p.randomDigits, p.maxLength, nil)
	if err != nil {
		return "", &property.Violation{
			Path: p.input, Value: strconv.Quote(logical), Rule: err.Error(), Remedy: "shorten the logical name or set a name",
		}
	}
	return name, nil
}

// autonamedAnnotation marks objects whose name pulumi-kubernetes generated.
const autonamedAnnotation = "pulumi.com/autonamed"

// objectPolicy returns pulumi-kubernetes's policy: eight digits are the default of
// resource.NewUniqueName.
func objectPolicy() policy {
	return policy{input: "metadata.name", randomDigits: 8, maxLength: 253}
}

// fillObject sets metadata.name of a Kubernetes object.
func fillObject(r plugin.CheckRequest, inputs resource.PropertyMap) *property.Violation {
	meta, unknown := property.Unwrap(inputs["metadata"])
	if unknown || inputs.HasValue("metadata") && !meta.IsObject() {
		return nil
	}
	fields := resource.PropertyMap{}
	if meta.IsObject() {
		fields = meta.ObjectValue().Copy()
	}
	if fields.HasValue("name") || fields.HasValue("generateName") {
		return nil
	}
	old := resource.PropertyMap{}
	if m := r.Olds["metadata"]; m.IsObject() {
		old = m.ObjectValue()
	}
	if a := old["annotations"]; a.IsObject() && a.ObjectValue().HasValue(autonamedAnnotation) {
		fields["name"] = old["name"]
	} else {
		name, violation := generate(r, objectPolicy())
		if violation != nil {
			return violation
		}
		fields["name"] = resource.NewStringProperty(name)
	}
	annotations := resource.PropertyMap{}
	if a := fields["annotations"]; a.IsObject() {
		annotations = a.ObjectValue().Copy()
	}
	annotations[autonamedAnnotation] = resource.NewStringProperty("true")
	fields["annotations"] = resource.NewObjectProperty(annotations)
	inputs["metadata"] = resource.NewObjectProperty(fields)
	return nil
}
