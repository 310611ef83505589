package controls

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
)

// Resource is one registration with its values as plain Go: maps, slices,
// strings, numbers and booleans. Secrets are opened; Secret tells where they
// were.
type Resource struct {
	Type, Name, ID  string
	Inputs, Outputs map[string]any
	Secret          map[string]bool // top-level inputs that hold a secret
}

// Resources are a program's registrations in their order.
type Resources []Resource

// Of gives the resources of a recording, components left out.
func Of(rec *recorder.Recording) Resources {
	var out Resources
	for _, r := range rec.Resources {
		if r.Component {
			continue
		}
		plain := Resource{Type: r.Type, Name: r.Name, ID: r.ID, Inputs: plainMap(r.Inputs), Outputs: plainMap(r.Outputs), Secret: map[string]bool{}}
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

// At is the input at a path such as "rules.0.id"; nil where there is none.
func (r Resource) At(path string) any { return at(r.Inputs, path) }

func at(v any, path string) any {
	for _, step := range strings.Split(path, ".") {
		switch here := v.(type) {
		case map[string]any:
			v = here[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(here) {
				return nil
			}
			v = here[i]
		default:
			return nil
		}
	}
	return v
}

// Text is the text at a path, or "".
func (r Resource) Text(path string) string { s, _ := r.At(path).(string); return s }

// List is the list at a path, or nothing.
func (r Resource) List(path string) []any { l, _ := r.At(path).([]any); return l }

// Kind is the type's own name, without package and module.
func (r Resource) Kind() string { return kind(r.Type) }

func kind(token string) string { return token[strings.LastIndex(token, ":")+1:] }

// OfType gives the resources of the types.
func (all Resources) OfType(tokens ...string) Resources {
	return slices.DeleteFunc(slices.Clone(all), func(r Resource) bool { return !slices.Contains(tokens, r.Type) })
}

// With gives the resources of a type whose input at path is value.
func (all Resources) With(token, path string, value any) Resources {
	return slices.DeleteFunc(all.OfType(token), func(r Resource) bool { return value == nil || r.At(path) != value })
}

// output finds the resource of a type that has this output, for references
// from one resource to another.
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
