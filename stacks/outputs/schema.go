package outputs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Schema is the contract as data, so that versions can be compared.
type Schema struct {
	Version int               `json:"version"`
	Object  map[string]string `json:"object"`  // path inside the versioned object to its type
	Outputs map[string]string `json:"outputs"` // name of an output of its own to its type
}

// CurrentSchema returns the contract of this program.
func CurrentSchema() Schema {
	s := Schema{Version: SchemaVersion, Object: map[string]string{}, Outputs: map[string]string{}}
	for _, f := range fields() {
		s.Object[f.path] = f.typ
	}
	for _, name := range flat() {
		s.Outputs[name] = s.Object[name]
	}
	for _, name := range secretNames() {
		s.Outputs[name] = "secret string"
	}
	return s
}

// Breaks lists the keys of an earlier schema that are gone or have another type
// although the version was not incremented. A new key is compatible.
func (s Schema) Breaks(earlier Schema) []error {
	if s.Version > earlier.Version {
		return nil
	}
	var errs []error
	if s.Version < earlier.Version {
		errs = append(errs, fmt.Errorf("schema version fell from %d to %d: it only rises", earlier.Version, s.Version))
	}
	for _, part := range []struct {
		name        string
		before, now map[string]string
	}{{"key", earlier.Object, s.Object}, {"output", earlier.Outputs, s.Outputs}} {
		for _, path := range slices.Sorted(maps.Keys(part.before)) {
			now, found := part.now[path]
			switch {
			case !found:
				errs = append(errs, fmt.Errorf("%s %s is gone or renamed at schema version %d: keep it, or raise SchemaVersion", part.name,
					path, s.Version))
			case now != part.before[path]:
				errs = append(errs, fmt.Errorf("%s %s was %s and is %s at schema version %d: keep the type, or raise SchemaVersion", part.name,
					path, part.before[path], now, s.Version))
			}
		}
	}
	return errs
}

// field is one key of the versioned object.
type field struct{ path, typ, help string }

func fields() []field { return walk("", reflect.TypeFor[Outputs]()) }

// walk lists the keys of a struct, each before the keys below it.
func walk(prefix string, t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		path := prefix + sf.Tag.Get("json")
		out = append(out, field{path, typeName(sf.Type), sf.Tag.Get("help")})
		switch of := sf.Type; {
		case of.Kind() == reflect.Struct:
			out = append(out, walk(path+".", of)...)
		case of.Kind() == reflect.Map && of.Elem().Kind() == reflect.Struct:
			out = append(out, walk(path+".*.", of.Elem())...)
		}
	}
	return out
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "number"
	case reflect.Slice:
		return "list of " + typeName(t.Elem())
	case reflect.Map:
		return "map of " + typeName(t.Elem())
	case reflect.Struct:
		return "object"
	default:
		return t.Kind().String()
	}
}
