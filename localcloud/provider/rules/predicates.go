package rules

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"strings"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

type predicate = func(v any) bool

// object is a resource's or block's plain fields.
type object = map[string]any

// str gives a field that is set to a known string.
func str(o object, key string) (string, bool) { s, ok := o[key].(string); return s, ok }

// num gives a field that is set to a known number.
func num(o object, key string) (float64, bool) { n, ok := o[key].(float64); return n, ok }

// isSet reports a field that has a value, known or not.
func isSet(o object, key string) bool { _, ok := o[key]; return ok }

func isTrue(o object, key string) bool { b, _ := o[key].(bool); return b }

// whole wraps a predicate on an object; anything else passes (its type is
// catalog's to refuse).
func whole(f func(o object) bool) predicate {
	return func(v any) bool {
		o, ok := v.(object)
		return !ok || f(o)
	}
}

func text(f func(s string) bool) predicate {
	return func(v any) bool {
		s, ok := v.(string)
		return !ok || f(s)
	}
}

func oneOf(values ...string) predicate {
	return text(func(s string) bool {
		for _, v := range values {
			if s == v {
				return true
			}
		}
		return false
	})
}

func matches(pattern string) predicate {
	re := regexp.MustCompile(pattern)
	return text(re.MatchString)
}

func longest(n int) predicate { return text(func(s string) bool { return len(s) <= n }) }

func between(low, high float64) predicate {
	return func(v any) bool {
		n, ok := v.(float64)
		return !ok || (n >= low && n <= high)
	}
}

func numberIn(values ...float64) predicate {
	return func(v any) bool {
		n, ok := v.(float64)
		if !ok {
			return true
		}
		for _, w := range values {
			if n == w {
				return true
			}
		}
		return false
	}
}

func atMost(n int) predicate {
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

// cidr accepts an IPv4 or IPv6 prefix without host bits.
func cidr(s string) bool {
	p, err := netip.ParsePrefix(s)
	return err == nil && p.Masked() == p
}

// known reports that nothing in v is unknown: only then may a relation that
// needs all of v be judged.
func known(v any) bool {
	switch v := v.(type) {
	case catalog.Unknown:
		return false
	case object:
		for _, e := range v {
			if !known(e) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !known(e) {
				return false
			}
		}
	}
	return true
}

// jsonObject decodes a document that must be one JSON object.
func jsonObject(s string) (object, bool) {
	var o object
	d := json.NewDecoder(strings.NewReader(s))
	if err := d.Decode(&o); err != nil || o == nil {
		return nil, false
	}
	return o, !d.More()
}

// only reports that an object has no key beyond the given ones.
func only(o object, keys ...string) bool {
	for k := range o {
		found := false
		for _, w := range keys {
			found = found || k == w
		}
		if !found {
			return false
		}
	}
	return true
}

// exactlyOne reports that one and only one of the fields is set.
func exactlyOne(o object, keys ...string) bool {
	n := 0
	for _, k := range keys {
		if isSet(o, k) {
			n++
		}
	}
	return n == 1
}
