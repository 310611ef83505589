package provider

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// namePolicy is how a type's provider makes up a name.
type namePolicy struct {
	property string
	longest  int
	digits   int // random ones after the logical name
	lower    bool
	prefix   string // property that excludes the name: namePrefix, bucketPrefix
}

// suffixLength is the number of random digits that the bridge appends.
const suffixLength = 7

// namePolicyOf follows the bridge: every resource with an optional input
// "name" is auto-named (pulumi-aws resources.go gives the exceptions).
func namePolicyOf(token string, typ catalog.Type) (namePolicy, bool) {
	switch token {
	case "aws:s3/bucketV2:BucketV2":
		return namePolicy{property: "bucket", digits: suffixLength, longest: 63, lower: true, prefix: "bucketPrefix"}, true
	case "aws:iam/serviceLinkedRole:ServiceLinkedRole":
		return namePolicy{}, false
	case "aws:kms/alias:Alias":
		return namePolicy{property: "name", digits: suffixLength, longest: 256, prefix: "namePrefix"}, true
	case "aws:ec2/keyPair:KeyPair":
		return namePolicy{property: "keyName", digits: suffixLength, longest: 255, prefix: "keyNamePrefix"}, true
	case "aws:s3/bucketObjectv2:BucketObjectv2":
		return namePolicy{property: "key", longest: 1024}, true // the logical name as it is
	}
	if !strings.HasPrefix(token, "aws:") && !strings.HasPrefix(token, "grafana:") {
		return namePolicy{}, false
	}
	f, ok := catalog.Fields(typ.Args)["name"]
	if !ok || f.Kind() != reflect.Pointer {
		return namePolicy{}, false
	}
	longest := 255
	if token == "aws:iam/role:Role" {
		longest = 64
	}
	return namePolicy{property: "name", digits: suffixLength, longest: longest, prefix: "namePrefix"}, true
}

// autoname fills the name that a program left open, and keeps the one an
// existing resource already has.
func autoname(token string, typ catalog.Type, r plugin.CheckRequest, inputs resource.PropertyMap) *catalog.Fault {
	if strings.HasPrefix(token, "kubernetes:") {
		return autonameObject(r, inputs)
	}
	p, ok := namePolicyOf(token, typ)
	key := resource.PropertyKey(p.property)
	if !ok || inputs.HasValue(key) || inputs.HasValue(resource.PropertyKey(p.prefix)) {
		return nil
	}
	name, keep := "", r.Olds.HasValue(key) && namedBefore(r.Olds, p.property)
	if keep {
		inputs[key] = r.Olds[key]
	} else {
		logical := r.Name
		if p.lower {
			logical = strings.ToLower(logical)
		}
		if token == "aws:kms/alias:Alias" {
			logical = "alias/" + logical
		}
		var fault *catalog.Fault
		if name, fault = invent(r, logical, p.digits, p.longest, p.property); fault != nil {
			return fault
		}
		inputs[key] = resource.NewStringProperty(name)
	}
	inputs["__defaults"] = resource.NewArrayProperty([]resource.PropertyValue{resource.NewStringProperty(p.property)})
	return nil
}

// namedBefore reports that the old name was made up, not given.
func namedBefore(olds resource.PropertyMap, property string) bool {
	list := olds["__defaults"]
	if !list.IsArray() {
		return false
	}
	for _, e := range list.ArrayValue() {
		if e.IsString() && e.StringValue() == property {
			return true
		}
	}
	return false
}

// invent makes a name of the logical one, or takes the one that the stack's
// autonaming configuration proposes.
func invent(r plugin.CheckRequest, logical string, digits, longest int, property string) (string, *catalog.Fault) {
	if r.Autonaming != nil {
		if r.Autonaming.Mode == plugin.AutonamingModeDisabled {
			return "", &catalog.Fault{Path: property, Value: "not given", Rule: "automatic naming is disabled", Remedy: "give a name"}
		}
		return r.Autonaming.ProposedName, nil
	}
	if digits == 0 {
		return logical, nil
	}
	name, err := resource.NewUniqueName(r.RandomSeed, logical+"-", digits, longest, nil)
	if err != nil {
		return "", &catalog.Fault{Path: property, Value: strconv.Quote(logical), Rule: err.Error(), Remedy: "shorten the logical name or give a name"}
	}
	return name, nil
}

const (
	autonamed      = "pulumi.com/autonamed"
	objectDigits   = 8 // resource.NewUniqueName's default, which pulumi-kubernetes takes
	objectNameSize = 253
)

// autonameObject does the same for metadata.name, marked by an annotation.
func autonameObject(r plugin.CheckRequest, inputs resource.PropertyMap) *catalog.Fault {
	meta, unknown := catalog.Reveal(inputs["metadata"])
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
	if a := old["annotations"]; a.IsObject() && a.ObjectValue().HasValue(autonamed) {
		fields["name"] = old["name"]
	} else {
		name, fault := invent(r, r.Name, objectDigits, objectNameSize, "metadata.name")
		if fault != nil {
			return fault
		}
		fields["name"] = resource.NewStringProperty(name)
	}
	notes := resource.PropertyMap{}
	if a := fields["annotations"]; a.IsObject() {
		notes = a.ObjectValue().Copy()
	}
	notes[autonamed] = resource.NewStringProperty("true")
	fields["annotations"] = resource.NewObjectProperty(notes)
	inputs["metadata"] = resource.NewObjectProperty(fields)
	return nil
}
