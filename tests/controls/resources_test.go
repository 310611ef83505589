package controls

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
)

// Resource is a registered resource with its values as plain Go: maps, slices,
// strings, numbers and booleans. Secrets are plain values; Secret lists their inputs.
type Resource struct {
	Type, Name, ID  string
	Inputs, Outputs map[string]any
	Secret          map[string]bool // top-level inputs that hold a secret
}

// Resources are the resources of a program in the order of registration.
type Resources []Resource

// FromRecording returns the resources of a recording without components.
func FromRecording(rec *recorder.Recording) Resources {
	var out Resources
	for _, r := range rec.Resources {
		if r.Component {
			continue
		}
		plain := Resource{
			Type: r.Type, Name: r.Name, ID: r.ID,
			Inputs: plainMap(r.Inputs), Outputs: plainMap(r.Outputs),
			Secret: map[string]bool{},
		}
		for k, v := range r.Inputs {
			if v.ContainsSecrets() {
				plain.Secret[string(k)] = true
			}
		}
		out = append(out, plain)
	}
	return out
}

func plainMap(m resource.PropertyMap) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[string(k)] = plain(v)
	}
	return out
}

func plain(v resource.PropertyValue) any {
	switch {
	case v.IsSecret():
		return plain(v.SecretValue().Element)
	case v.IsOutput():
		return plain(v.OutputValue().Element)
	case v.IsObject():
		return plainMap(v.ObjectValue())
	case v.IsArray():
		out := make([]any, 0, len(v.ArrayValue()))
		for _, e := range v.ArrayValue() {
			out = append(out, plain(e))
		}
		return out
	case v.IsAsset():
		return v.AssetValue().Text
	case v.IsBool(), v.IsNumber(), v.IsString():
		return v.V
	}
	return nil
}

// At returns the input at a path such as "rules.0.id", or nil.
func (r Resource) At(path string) any { return valueAt(r.Inputs, path) }

// valueAt returns the value at a path of maps and lists, or nil.
func valueAt(v any, path string) any {
	for _, step := range strings.Split(path, ".") {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

// Text returns the string at a path, or "".
func (r Resource) Text(path string) string { s, _ := r.At(path).(string); return s }

// List returns the list at a path, or nil.
func (r Resource) List(path string) []any { l, _ := r.At(path).([]any); return l }

// Kind returns the type's name without package and module.
func (r Resource) Kind() string { return kind(r.Type) }

func kind(token string) string { return token[strings.LastIndex(token, ":")+1:] }

// OfType returns the resources of the types.
func (all Resources) OfType(tokens ...string) Resources {
	return slices.DeleteFunc(slices.Clone(all), func(r Resource) bool { return !slices.Contains(tokens, r.Type) })
}

// With returns the resources of the type token whose input at path equals value. Nil
// matches none.
func (all Resources) With(token, path string, value any) Resources {
	return slices.DeleteFunc(all.OfType(token), func(r Resource) bool { return value == nil || r.At(path) != value })
}

// output finds the resource of a type whose output name is value. It resolves
// references between resources.
func (all Resources) output(token, name string, value any) (Resource, bool) {
	for _, r := range all.OfType(token) {
		if value != nil && value != "" && r.Outputs[name] == value {
			return r, true
		}
	}
	return Resource{}, false
}

// byID finds the resource of a type with this id.
func (all Resources) byID(token string, id any) (Resource, bool) {
	for _, r := range all.OfType(token) {
		if r.ID == id {
			return r, true
		}
	}
	return Resource{}, false
}
