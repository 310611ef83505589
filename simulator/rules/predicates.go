package rules

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// predicate reports whether a plain value is valid. It accepts values of kinds that
// it is not meant for: package catalog reports wrong kinds.
type predicate = func(v any) bool

// object has the plain fields of a resource or block.
type object = map[string]any

// stringField returns a field that is a known string.
func stringField(o object, key string) (string, bool) { s, ok := o[key].(string); return s, ok }

// numberField returns a field that is a known number.
func numberField(o object, key string) (float64, bool) { n, ok := o[key].(float64); return n, ok }

// isSet reports whether a field has a value, known or not.
func isSet(o object, key string) bool { _, ok := o[key]; return ok }

// onObject makes a predicate of a function of objects.
func onObject(f func(o object) bool) predicate {
	return func(v any) bool {
		o, ok := v.(object)
		return !ok || f(o)
	}
}

// onString makes a predicate of a function of strings.
func onString(f func(s string) bool) predicate {
	return func(v any) bool {
		s, ok := v.(string)
		return !ok || f(s)
	}
}

// onNumber makes a predicate of a function of numbers.
func onNumber(f func(n float64) bool) predicate {
	return func(v any) bool {
		n, ok := v.(float64)
		return !ok || f(n)
	}
}

func oneOf(values ...string) predicate {
	return onString(func(s string) bool { return slices.Contains(values, s) })
}

func matches(pattern string) predicate {
	return onString(regexp.MustCompile(pattern).MatchString)
}

// maxLength limits the characters of a string, which is what AWS counts unless it says
// otherwise.
func maxLength(n int) predicate {
	return onString(func(s string) bool { return utf8.RuneCountInString(s) <= n })
}

// maxBytes limits the bytes of a string.
func maxBytes(n int) predicate { return onString(func(s string) bool { return len(s) <= n }) }

// between accepts numbers from low to high, both included.
func between(low, high float64) predicate {
	return onNumber(func(n float64) bool { return n >= low && n <= high })
}

func oneOfNumbers(values ...float64) predicate {
	return onNumber(func(n float64) bool { return slices.Contains(values, n) })
}

// maxItems limits the items of a list or the fields of an object.
func maxItems(n int) predicate {
	return func(v any) bool {
		switch v := v.(type) {
		case []any:
			return len(v) <= n
		case object:
			return len(v) <= n
		}
		return true
	}
}

func both(a, b predicate) predicate { return func(v any) bool { return a(v) && b(v) } }

// unique requires the known values of a field to differ between a list's objects.
func unique(key string) predicate {
	return func(v any) bool {
		items, _ := v.([]any)
		seen := map[string]bool{}
		for _, i := range items {
			o, _ := i.(object)
			s, ok := stringField(o, key)
			if ok && seen[s] {
				return false
			}
			seen[s] = ok
		}
		return true
	}
}

// isNetwork accepts an IPv4 or IPv6 prefix without host bits.
func isNetwork(s string) bool {
	p, err := netip.ParsePrefix(s)
	return err == nil && p.Masked() == p
}

// isKnown reports whether v contains no unknown value. Relations that depend on all
// of v can be checked only then.
func isKnown(v any) bool {
	switch v := v.(type) {
	case property.Unknown:
		return false
	case object:
		for _, e := range v {
			if !isKnown(e) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !isKnown(e) })
	}
	return true
}

// jsonObject decodes a document that must be a single JSON object.
func jsonObject(s string) (object, bool) {
	var o object
	d := json.NewDecoder(strings.NewReader(s))
	if err := d.Decode(&o); err != nil || o == nil {
		return nil, false
	}
	return o, !d.More()
}

func isJSONObject(s string) bool { _, ok := jsonObject(s); return ok }

// hasOnlyKeys reports whether an object has no field beyond keys.
func hasOnlyKeys(o object, keys ...string) bool {
	for k := range o {
		if !slices.Contains(keys, k) {
			return false
		}
	}
	return true
}

func exactlyOne(o object, keys ...string) bool { return countSet(o, keys...) == 1 }

func isAnySet(o object, keys ...string) bool { return countSet(o, keys...) > 0 }

// countSet counts the fields that have a value, known or not.
func countSet(o object, keys ...string) int {
	n := 0
	for _, k := range keys {
		if isSet(o, k) {
			n++
		}
	}
	return n
}
