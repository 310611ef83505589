package eventlog

import (
	"fmt"
	"reflect"
	"strings"
)

// shape says what a skimmer keeps of a JSON value. It is derived from the type that the
// value is decoded into: what the type lacks is skipped.
type shape struct {
	kind kind
	max  int // bytes of a text
	// keepZero is of a member that differs from an absent one though it is zero.
	keepZero bool
	element  *shape       // of an array's elements, of a map's values
	members  []member     // in the order of the type's fields
	slots    [slots]uint8 // hash of a name → index in members + 1
	targets
}

const slots = 64

type member struct {
	name   string
	quoted string // the name as Spark writes it, with its quotes and the colon
	*shape
}

// kind is what a value is expected to be. A value of another kind is kept without its
// contents, so that decoding it fails.
type kind uint8

const (
	kindNumber  kind = iota
	kindBool         // true or false
	kindText         // a string, cut
	kindLength       // a string, of which only the number of characters is kept
	kindInteger      // a number, also one in a string; anything else is left out
	kindArray
	kindObject
	kindMap // an object whose members all have one shape
)

// shapes makes shapes, one for each type: types may contain themselves.
type shapes map[reflect.Type]*shape

func (s shapes) of(t reflect.Type, limit int) *shape {
	switch t.Kind() {
	case reflect.Pointer:
		pointed := *s.of(t.Elem(), limit)
		pointed.keepZero = true
		return &pointed
	case reflect.Int64, reflect.Float64:
		return &shape{kind: kindNumber}
	case reflect.Bool:
		return &shape{kind: kindBool}
	case reflect.String:
		return &shape{kind: kindText, max: limit}
	case reflect.Slice:
		return &shape{kind: kindArray, element: s.of(t.Elem(), limit)}
	case reflect.Map:
		return &shape{kind: kindMap, element: s.of(t.Elem(), maxValue)}
	case reflect.Struct:
		return s.object(t)
	}
	panic(fmt.Sprintf("no shape for %s", t))
}

// object returns the shape of a struct.
func (s shapes) object(t reflect.Type) *shape {
	if known, ok := s[t]; ok {
		return known
	}
	object := &shape{kind: kindObject}
	s[t] = object
	for _, field := range memberFields(t) {
		name := memberTag(field)
		object.members = append(object.members, member{name, `"` + name + `":`, s.ofField(field)})
	}
	for i, m := range object.members {
		slot := hash([]byte(m.name))
		for object.slots[slot] != 0 {
			slot = (slot + 1) % slots
		}
		object.slots[slot] = uint8(i + 1)
	}
	return object
}

// ofField returns the shape of a field's values. Its tag skim may say more than its type:
// "length" is the number of characters (code points) of a text that is not kept, "integer" an
// integer that Spark writes as a number or as text, and other values are absent. For "word",
// see targets.
func (s shapes) ofField(f reflect.StructField) *shape {
	switch f.Tag.Get("skim") {
	case "length":
		return &shape{kind: kindLength}
	case "integer":
		return &shape{kind: kindInteger, keepZero: f.Type.Kind() == reflect.Pointer}
	}
	return s.of(f.Type, maxText)
}

// memberFields returns the fields of a struct that are members of an object, and those of
// what it embeds without a name.
func memberFields(t reflect.Type) (fields []reflect.StructField) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch name := memberTag(f); {
		case f.Anonymous && name == "":
			for _, embedded := range memberFields(f.Type) {
				embedded.Index = append([]int{i}, embedded.Index...)
				fields = append(fields, embedded)
			}
		case name != "" && name != "-":
			fields = append(fields, f)
		}
	}
	return fields
}

func memberTag(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// index returns the place of a member among members; -1 if it is skipped.
func (s *shape) index(name []byte) int {
	for slot := hash(name); s.slots[slot] != 0; slot = (slot + 1) % slots {
		if i := int(s.slots[slot]) - 1; s.members[i].name == string(name) {
			return i
		}
	}
	return -1
}

func hash(name []byte) uint8 {
	if len(name) == 0 {
		return 0
	}
	return (uint8(len(name))*7 + name[0]*3 + name[len(name)-1] + name[len(name)/2]*5) % slots
}
