package decode

import (
	"reflect"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Field is one key of a configuration struct.
type Field struct {
	Path     string // clusters.main.core.count; an entry of a map is "*": clusters.*.core.count
	Type     string // string, integer, number, boolean, object, or array of one of them
	Default  string // JSON; empty for a required key and for objects
	Help     string
	Rule     string // name of its rule
	Required bool
	Depth    int // 0 for the root's own keys
}

// Helper is implemented by structs that describe their keys.
type Helper interface{ Help() map[string]string }

// Fields lists every key of a struct, parents before children, in the order of
// the struct. Defaults are those of the given value.
func Fields(defaults any) []Field { return walk(reflect.ValueOf(defaults), "", nil) }

// walk lists the keys of a struct, each before the keys below it. above are the types
// that contain the struct: the keys of a type that contains itself are listed once.
func walk(v reflect.Value, prefix string, above []reflect.Type) []Field {
	var out []Field
	var help map[string]string
	if h, ok := v.Interface().(Helper); ok {
		help = h.Help()
	}
	for i := range v.NumField() {
		sf, fv := v.Type().Field(i), v.Field(i)
		f := Field{
			Path: prefix + Key(sf), Help: help[Key(sf)], Rule: sf.Tag.Get("rule"), Required: sf.Tag.Get("required") == "true",
			Type: TypeName(sf.Type), Depth: len(above),
		}
		if !f.Required && fv.Kind() != reflect.Struct && fv.Kind() != reflect.Pointer {
			f.Default = violation.JSON(fv.Interface())
		}
		out = append(out, f)
		if entry, suffix, ok := entryOf(fv); ok && entry.Type() != v.Type() && !slices.Contains(above, entry.Type()) {
			out = append(out, walk(entry, f.Path+suffix+".", append(slices.Clone(above), v.Type()))...)
		}
	}
	return out
}

// entryOf returns the struct below a field: itself, or an entry with its
// defaults.
func entryOf(v reflect.Value) (entry reflect.Value, suffix string, ok bool) {
	t := v.Type()
	switch t.Kind() {
	case reflect.Struct:
		return v, "", true
	case reflect.Map:
		suffix = ".*"
	case reflect.Pointer, reflect.Slice:
	default:
		return v, "", false
	}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return v, "", false
	}
	return newEntry(t).Elem(), suffix, true
}

// Key returns the name of a field in configuration.
func Key(sf reflect.StructField) string {
	name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
	return name
}

// Keys returns the names of a struct's fields.
func Keys(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		out = append(out, Key(t.Field(i)))
	}
	return out
}

// TypeName returns the name of a type in documents and errors.
func TypeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return TypeName(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array of " + TypeName(t.Elem())
	default:
		return "object"
	}
}

func fieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if Key(t.Field(i)) == name {
			return t.Field(i), true
		}
	}
	return reflect.StructField{}, false
}
