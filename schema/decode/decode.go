// Package decode reads JSON values into configuration structs, strictly: an
// unknown key and a wrong type are violations, and all of them are reported. It
// checks only the types of values.
package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Defaulter is implemented by pointers to structs that are entries of lists or
// maps, or behind pointers. An entry is decoded over its defaults.
type Defaulter interface{ SetDefaults() }

// Completer is implemented by pointers to structs that are entries of maps. Complete
// returns the keys and values that are decoded in place of those of an entry: more than
// its own, but none of its own is lost.
type Completer interface {
	Complete(own map[string]any) map[string]any
}

// Into decodes values, by key, into the struct that into points to. Fields whose keys
// are absent keep their values. As in Pulumi's configuration, the value of a string key
// is plain text, and any other is JSON. Unknown keys and wrong types are added to l.
func Into(values map[string]string, into any, l *violation.List) {
	d := &decoder{l}
	v := reflect.ValueOf(into).Elem()
	root := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if value, ok := d.raw(v.Type(), name, values[name]); ok {
			root[name] = value
		}
	}
	d.decode("", root, v)
}

// Refusal is why a key that somebody may expect is not one, and the way round.
type Refusal struct {
	Rule, Remedy string
	// Rewrite returns lines that say the same with other keys. It is nil if there are
	// none.
	Rewrite func(value any) string
}

// Refuser is implemented by structs that say of keys why they lack them.
type Refuser interface{ Refused() map[string]Refusal }

// refusalOf returns why a struct lacks a key.
func refusalOf(t reflect.Type, key string) (Refusal, bool) {
	refuser, ok := reflect.New(t).Interface().(Refuser)
	if !ok {
		return Refusal{}, false
	}
	r, ok := refuser.Refused()[key]
	return r, ok
}

// unknownKey records a key that a struct lacks, with the reason if one is known.
func (d *decoder) unknownKey(path, name string, value any, t reflect.Type) {
	r, known := refusalOf(t, name)
	if !known {
		UnknownKey(d.List, path, Keys(t))
		return
	}
	if r.Rewrite != nil {
		r.Remedy += ":\n" + r.Rewrite(value)
	}
	d.Require(false, path, violation.Unknown, r.Rule, r.Remedy)
}

// UnknownKey records a key that a struct with the known keys lacks. It names the one that is
// likely meant, or else all of them.
func UnknownKey(l *violation.List, path string, known []string) {
	key := path[strings.LastIndex(path, ".")+1:]
	remedy := "known here: " + strings.Join(known, ", ")
	if near := Nearest(key, known, editsOf(key)); near != "" {
		remedy = "did you mean " + near + "?"
	}
	l.Require(false, path, violation.Unknown, "is not a key of this configuration", remedy)
}

type decoder struct{ *violation.List }

// raw turns the text of a top-level key into a JSON value.
func (d *decoder) raw(t reflect.Type, name, text string) (any, bool) {
	sf, known := fieldNamed(t, name)
	if !known || sf.Type.Kind() == reflect.String {
		return text, true
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var value any
	err := dec.Decode(&value)
	if err == nil && !errors.Is(dec.Decode(new(any)), io.EOF) {
		err = errors.New("more than one value")
	}
	if err != nil {
		d.wrongType(name, text, sf.Type)
		return nil, false
	}
	return value, true
}

func (d *decoder) decode(path string, from any, into reflect.Value) {
	switch into.Kind() {
	case reflect.Pointer:
		if from != nil {
			into.Set(newEntry(into.Type().Elem()))
			d.decode(path, from, into.Elem())
		}
	case reflect.Struct:
		d.object(path, from, into)
	case reflect.Map:
		d.entries(path, from, into)
	case reflect.Slice:
		d.list(path, from, into)
	default:
		d.scalar(path, from, into)
	}
}

// newEntry returns a pointer to a new value with its defaults.
func newEntry(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	if e, ok := v.Interface().(Defaulter); ok {
		e.SetDefaults()
	}
	return v
}

func (d *decoder) object(path string, from any, into reflect.Value) {
	object, ok := from.(map[string]any)
	if !ok {
		d.wrongType(path, from, into.Type())
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := strings.TrimPrefix(path+"."+name, ".")
		sf, known := fieldNamed(into.Type(), name)
		if !known {
			d.unknownKey(at, name, object[name], into.Type())
			continue
		}
		d.decode(at, object[name], into.FieldByIndex(sf.Index))
	}
}

// entries reads a map, whose values are strings, numbers or objects.
func (d *decoder) entries(path string, from any, into reflect.Value) {
	object, ok := from.(map[string]any)
	if !ok {
		d.wrongType(path, from, into.Type())
		return
	}
	t := into.Type().Elem()
	out := reflect.MakeMap(into.Type())
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := path + "." + name
		if _, text := object[name].(string); t.Kind() == reflect.String && !text {
			d.Unreadable(at, object[name], "must be a string", "write it in quotes")
			continue
		}
		entry := newEntry(t)
		d.decode(at, completed(entry, object[name]), entry.Elem())
		out.SetMapIndex(reflect.ValueOf(name), entry.Elem())
	}
	into.Set(out)
}

// completed returns the value of an entry that completes itself, or else the value.
func completed(entry reflect.Value, value any) any {
	completer, ok := entry.Interface().(Completer)
	own, isObject := value.(map[string]any)
	if !ok || !isObject {
		return value
	}
	return completer.Complete(own)
}

func (d *decoder) list(path string, from any, into reflect.Value) {
	entries, ok := from.([]any)
	if !ok {
		d.wrongType(path, from, into.Type())
		return
	}
	out := reflect.MakeSlice(into.Type(), len(entries), len(entries))
	for i, e := range entries {
		out.Index(i).Set(newEntry(into.Type().Elem()).Elem())
		d.decode(fmt.Sprintf("%s[%d]", path, i), e, out.Index(i))
	}
	into.Set(out)
}

func (d *decoder) scalar(path string, from any, into reflect.Value) {
	switch value := from.(type) {
	case string:
		if into.Kind() == reflect.String {
			into.SetString(value)
			return
		}
	case bool:
		if into.Kind() == reflect.Bool {
			into.SetBool(value)
			return
		}
	case json.Number:
		if setNumber(value, into) {
			return
		}
	}
	d.wrongType(path, from, into.Type())
}

func setNumber(value json.Number, into reflect.Value) bool {
	switch into.Kind() {
	case reflect.Int:
		n, err := value.Int64()
		if err != nil || into.OverflowInt(n) {
			return false
		}
		into.SetInt(n)
	case reflect.Float64:
		f, err := value.Float64()
		if err != nil {
			return false
		}
		into.SetFloat(f)
	default:
		return false
	}
	return true
}

func (d *decoder) wrongType(path string, from any, want reflect.Type) {
	remedy := ""
	if want.Kind() == reflect.Float64 {
		remedy = violation.SetDecimalRemedy(path)
	}
	d.Unreadable(path, from, "must be "+article(TypeName(want)), remedy)
}

// article puts "a" or "an" before a noun.
func article(noun string) string {
	if strings.ContainsRune("aeio", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
