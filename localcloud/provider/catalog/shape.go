package catalog

import (
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// Missing is the rule of a fault for a required property that is not there.
const Missing = "required property is missing"

// Shape compares values with the type of their struct: unknown keys, missing
// required ones and wrong kinds, at any depth. Values that are not known yet
// (computed) pass anywhere. required is Type.Required.
func Shape(t reflect.Type, values resource.PropertyMap, required ...string) []Fault {
	var s shape
	s.object(t, values, "", required)
	Sort(s.faults)
	return s.faults
}

// Fields gives a struct type's property names and their types.
func Fields(t reflect.Type) map[string]reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("pulumi"), ",")
		if name != "" {
			out[name] = t.Field(i).Type
		}
	}
	return out
}

type shape struct{ faults []Fault }

func (s *shape) fault(path, value, rule, remedy string) {
	s.faults = append(s.faults, Fault{Path: path, Value: value, Rule: rule, Remedy: remedy})
}

// mistyped is the fault of a value that is not of the kind it must be.
func (s *shape) mistyped(path string, v resource.PropertyValue, want string) {
	s.fault(path, kind(v), "must be "+want, "pass "+want)
}

func (s *shape) object(t reflect.Type, values resource.PropertyMap, path string, required []string) {
	fields := Fields(t)
	for key, v := range values {
		name := string(key)
		if strings.HasPrefix(name, "__") {
			continue // the engine's and the bridge's own bookkeeping
		}
		f, known := fields[name]
		if !known {
			v, _ = Reveal(v)
			s.fault(At(path, name), kind(v), "unknown property"+nearest(name, fields), "correct its name or remove it")
			continue
		}
		s.value(f, v, At(path, name))
	}
	for name, f := range fields {
		if v, set := values[resource.PropertyKey(name)]; (!set || v.IsNull()) && demanded(name, f, required) {
			s.fault(At(path, name), "missing", Missing, "set it")
		}
	}
}

// demanded reports whether a field must be set: a value type always must; of
// slices, maps and interfaces only the constructor knows.
func demanded(name string, t reflect.Type, required []string) bool {
	for _, r := range required {
		if r == name {
			return true
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return false
	default:
		return true
	}
}

func (s *shape) value(t reflect.Type, v resource.PropertyValue, path string) {
	v, unknown := Reveal(v)
	if unknown || v.IsNull() {
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		if !v.IsObject() {
			s.mistyped(path, v, "an object")
			return
		}
		s.object(t, v.ObjectValue(), path, nil)
	case reflect.Map:
		s.entries(t, v, path)
	case reflect.Slice:
		s.items(t, v, path)
	case reflect.Interface:
		s.open(t, v, path)
	default:
		s.scalar(t, v, path)
	}
}

func (s *shape) entries(t reflect.Type, v resource.PropertyValue, path string) {
	if !v.IsObject() {
		s.mistyped(path, v, "a map")
		return
	}
	for k, e := range v.ObjectValue() {
		s.value(t.Elem(), e, At(path, string(k)))
	}
}

func (s *shape) items(t reflect.Type, v resource.PropertyValue, path string) {
	if !v.IsArray() {
		s.mistyped(path, v, "a list")
		return
	}
	for i, e := range v.ArrayValue() {
		here := path + "[" + strconv.Itoa(i) + "]"
		if e.IsNull() && t.Elem().Kind() != reflect.Pointer && t.Elem().Kind() != reflect.Interface {
			s.fault(here, "null", "must not be null", "remove the entry or give it a value")
			continue
		}
		s.value(t.Elem(), e, here)
	}
}

// open checks the interfaces of the SDKs: assets and archives by their name,
// any other interface takes anything.
func (s *shape) open(t reflect.Type, v resource.PropertyValue, path string) {
	switch t.Name() {
	case "Asset", "AssetOrArchive", "Archive":
		if !v.IsAsset() && !v.IsArchive() {
			s.mistyped(path, v, "an asset")
		}
	}
}

func (s *shape) scalar(t reflect.Type, v resource.PropertyValue, path string) {
	switch t.Kind() {
	case reflect.String:
		if !v.IsString() {
			s.mistyped(path, v, "a string")
		}
	case reflect.Bool:
		if !v.IsBool() {
			s.mistyped(path, v, "true or false")
		}
	case reflect.Int:
		if !v.IsNumber() || v.NumberValue() != math.Trunc(v.NumberValue()) {
			s.mistyped(path, v, "a whole number")
		}
	case reflect.Float64:
		if !v.IsNumber() {
			s.mistyped(path, v, "a number")
		}
	default:
		s.fault(path, kind(v), fmt.Sprintf("has a type that cannot be checked: %s", t), "teach package catalog the type")
	}
}

// Reveal takes secrets and known outputs off a value. The second result
// reports a value that is not known yet.
func Reveal(v resource.PropertyValue) (resource.PropertyValue, bool) {
	for {
		switch {
		case v.IsSecret():
			v = v.SecretValue().Element
		case v.IsComputed():
			return v, true
		case v.IsOutput():
			if !v.OutputValue().Known {
				return v, true
			}
			v = v.OutputValue().Element
		default:
			return v, false
		}
	}
}

// kind names a value's kind without its content, which may be secret.
func kind(v resource.PropertyValue) string {
	switch {
	case v.IsObject():
		return "an object"
	case v.IsArray():
		return "a list"
	case v.IsNumber():
		return "a number"
	case v.IsBool():
		return "a boolean"
	case v.IsString():
		return "a string"
	default:
		return v.TypeString()
	}
}

// Describe gives a value for a fault: short scalars themselves, objects by
// their keys, all else by its kind, secrets among it.
func Describe(v resource.PropertyValue) string {
	const longest = 80
	switch {
	case v.IsObject():
		var keys []string
		for k := range v.ObjectValue() {
			keys = append(keys, string(k))
		}
		sort.Strings(keys)
		if text := "{" + strings.Join(keys, ", ") + "}"; len(text) <= longest {
			return text
		}
		return fmt.Sprintf("an object of %d keys", len(keys))
	case v.IsNull():
		return "nothing"
	case v.IsString() && len(v.StringValue()) > longest:
		return fmt.Sprintf("%d characters long", len(v.StringValue()))
	case v.IsString():
		return strconv.Quote(v.StringValue())
	case v.IsNumber():
		return strconv.FormatFloat(v.NumberValue(), 'f', -1, 64)
	case v.IsBool():
		return strconv.FormatBool(v.BoolValue())
	case v.IsArray():
		return fmt.Sprintf("a list of %d", len(v.ArrayValue()))
	default:
		return kind(v)
	}
}

// At is the path of a field of the value at path.
func At(path, name string) string {
	if strings.ContainsAny(name, `.[]"/`) || name == "" {
		return path + "[" + strconv.Quote(name) + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// nearest suggests the known name that differs only in case or by one edit at
// its end, the usual slips.
func nearest(name string, fields map[string]reflect.Type) string {
	var names []string
	for f := range fields {
		if strings.EqualFold(f, name) || strings.HasPrefix(f, name) || strings.HasPrefix(name, f) {
			names = append(names, f)
		}
	}
	if len(names) == 0 {
		return ""
	}
	sort.Strings(names)
	return " (known: " + strings.Join(names, ", ") + ")"
}
