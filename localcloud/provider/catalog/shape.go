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

func (s *shape) fault(path, format string, args ...any) {
	s.faults = append(s.faults, Fault{Path: path, Rule: fmt.Sprintf(format, args...)})
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
			s.fault(At(path, name), "unknown property%s", nearest(name, fields))
			continue
		}
		s.value(f, v, At(path, name))
	}
	for name, f := range fields {
		if v, set := values[resource.PropertyKey(name)]; (!set || v.IsNull()) && demanded(name, f, required) {
			s.fault(At(path, name), Missing)
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
			s.fault(path, "must be an object, is %s", kind(v))
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
		s.fault(path, "must be a map, is %s", kind(v))
		return
	}
	for k, e := range v.ObjectValue() {
		s.value(t.Elem(), e, At(path, string(k)))
	}
}

func (s *shape) items(t reflect.Type, v resource.PropertyValue, path string) {
	if !v.IsArray() {
		s.fault(path, "must be a list, is %s", kind(v))
		return
	}
	for i, e := range v.ArrayValue() {
		here := path + "[" + strconv.Itoa(i) + "]"
		if e.IsNull() && t.Elem().Kind() != reflect.Pointer && t.Elem().Kind() != reflect.Interface {
			s.fault(here, "must not be null")
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
			s.fault(path, "must be an asset, is %s", kind(v))
		}
	}
}

func (s *shape) scalar(t reflect.Type, v resource.PropertyValue, path string) {
	switch t.Kind() {
	case reflect.String:
		if !v.IsString() {
			s.fault(path, "must be a string, is %s", kind(v))
		}
	case reflect.Bool:
		if !v.IsBool() {
			s.fault(path, "must be true or false, is %s", kind(v))
		}
	case reflect.Int:
		if !v.IsNumber() || v.NumberValue() != math.Trunc(v.NumberValue()) {
			s.fault(path, "must be a whole number, is %s", kind(v))
		}
	case reflect.Float64:
		if !v.IsNumber() {
			s.fault(path, "must be a number, is %s", kind(v))
		}
	default:
		s.fault(path, "has a type that cannot be checked: %s", t)
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
