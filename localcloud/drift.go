package localcloud

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// withRead returns outputs with the properties that a service gave back; nil removes
// a property. A property whose value means the same keeps its text.
func withRead(outputs resource.PropertyMap, props map[string]any) resource.PropertyMap {
	out := outputs.Copy()
	for name, v := range props {
		key := resource.PropertyKey(name)
		before, had := outputs[key]
		switch {
		case name == "configurationsJson" && !had: // the provider reads it only if it was set
		case v == nil:
			delete(out, key)
		default:
			out[key] = sameOrRead(name, before, resource.NewPropertyValue(v))
		}
	}
	if all, read := out["tagsAll"]; read && all.IsObject() {
		setOwnTags(out, outputs, all.ObjectValue())
	}
	return out
}

// sameOrRead returns the value before if it means the same as the value read.
func sameOrRead(name string, before, read resource.PropertyValue) resource.PropertyValue {
	switch {
	case before.IsSecret():
		return resource.MakeSecret(sameOrRead(name, before.SecretValue().Element, read))
	case before.IsString() && read.IsString() && equivalent(name, before.StringValue(), read.StringValue()):
		return before
	case before.IsObject() && read.IsObject():
		out := read.ObjectValue().Copy()
		for k, v := range out {
			if old, had := before.ObjectValue()[k]; had {
				out[k] = sameOrRead(string(k), old, v)
			}
		}
		return resource.NewObjectProperty(out)
	}
	return read
}

// equivalent reports whether the provider takes two texts of a property for equal.
func equivalent(name, a, b string) bool {
	switch name {
	case "configurationsJson", "autoscalingPolicy", "additionalInfo":
		var left, right any
		return json.Unmarshal([]byte(a), &left) == nil && json.Unmarshal([]byte(b), &right) == nil && reflect.DeepEqual(left, right)
	case "logUri":
		return strings.Replace(a, "s3n://", "s3://", 1) == strings.Replace(b, "s3n://", "s3://", 1)
	}
	return a == b
}

// setOwnTags sets the resource's own tags: all but the provider's default tags, which
// were in all tags, not in the resource's own.
func setOwnTags(out, before, all resource.PropertyMap) {
	own := all.Copy()
	if known := before["tagsAll"]; known.IsObject() {
		for k := range known.ObjectValue() {
			if tags := before["tags"]; !tags.IsObject() || !tags.ObjectValue().HasValue(k) {
				delete(own, k)
			}
		}
	}
	if len(own) == 0 {
		delete(out, "tags")
		return
	}
	out["tags"] = resource.NewObjectProperty(own)
}

// withDrift returns inputs with what differs between them and the state that was read.
// Like the provider's bridge it adds no input that the program did not set. The state
// before does not matter: what a service never gave back as it was set differs for ever.
func withDrift(inputs, read resource.PropertyMap) resource.PropertyMap {
	out := inputs.Copy()
	for k, input := range inputs {
		is, exists := read[k]
		switch {
		case strings.HasPrefix(string(k), "__"):
		case !exists:
			delete(out, k)
		default:
			out[k] = drifted(string(k), input, is)
		}
	}
	return out
}

// drifted returns an input with what differs in the value that was read. What a service
// adds to an object is no difference.
func drifted(name string, input, read resource.PropertyValue) resource.PropertyValue {
	if read.IsSecret() {
		read = read.SecretValue().Element
	}
	switch {
	case input.IsSecret():
		return resource.MakeSecret(drifted(name, input.SecretValue().Element, read))
	case input.IsObject() && read.IsObject():
		return resource.NewObjectProperty(withDrift(input.ObjectValue(), read.ObjectValue()))
	case input.IsArray() && read.IsArray() && len(input.ArrayValue()) == len(read.ArrayValue()):
		var out []resource.PropertyValue
		for i, v := range input.ArrayValue() {
			out = append(out, drifted(name, v, read.ArrayValue()[i]))
		}
		return resource.NewArrayProperty(out)
	}
	return sameOrRead(name, input, read)
}
