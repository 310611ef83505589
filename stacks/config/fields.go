package config

import (
	"reflect"
	"strings"
)

// Field is one configuration key as the reference documents it.
type Field struct {
	Path    string // emr.core.count
	Type    string // string, integer, boolean, object, or array of one of them
	Default string // JSON; empty where the key is required or stands in an entry that has no default
	Help    string
	Rule    string
	Depth   int // 0 for the keys of Pulumi.yaml
}

// Fields lists every key, parents before children, in the struct's order.
func Fields() []Field {
	return walk(reflect.ValueOf(Defaults()), "", 0)
}

func walk(v reflect.Value, prefix string, depth int) []Field {
	var out []Field
	for i := range v.NumField() {
		sf, fv := v.Type().Field(i), v.Field(i)
		f := Field{Path: prefix + key(sf), Help: sf.Tag.Get("help"), Rule: sf.Tag.Get("rule"), Type: typeName(sf.Type), Depth: depth}
		if f.Path != requiredKey && fv.Kind() != reflect.Struct && fv.Kind() != reflect.Pointer {
			f.Default = show(fv.Interface())
		}
		out = append(out, f)
		if entry, ok := entryOf(sf.Type); ok {
			if fv.Kind() == reflect.Struct {
				entry = fv
			}
			out = append(out, walk(entry, f.Path+".", depth+1)...)
		}
	}
	return out
}

// requiredKey is the one key without a default: a region chosen for someone
// is a bill in the wrong place.
const requiredKey = "region"

func key(sf reflect.StructField) string {
	name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
	return name
}

// entryOf gives the value that a nested object starts from, for a struct, an
// optional struct or a list of structs.
func entryOf(t reflect.Type) (reflect.Value, bool) {
	switch {
	case t == reflect.TypeFor[*InstanceGroup]():
		return reflect.ValueOf(defaultTask()), true
	case t == reflect.TypeFor[[]Volume]():
		return reflect.ValueOf(defaultVolume()), true
	case t == reflect.TypeFor[Volume]():
		return reflect.ValueOf(defaultVolume()), true
	case t.Kind() == reflect.Struct:
		return reflect.Zero(t), true
	}
	return reflect.Value{}, false
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer"
	case reflect.Slice:
		return "array of " + typeName(t.Elem())
	default:
		return "object"
	}
}
