// Package property reads Pulumi property values: it unwraps secrets and
// outputs, converts values to plain Go, names their paths and describes what
// is wrong with them. It knows no resource type.
package property

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// Kind names the kind of a value without its content, which may be secret.
func Kind(v resource.PropertyValue) string {
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

// Describe formats a value for a violation: short scalars literally, objects
// by their keys, anything else, secrets included, by its kind.
func Describe(v resource.PropertyValue) string {
	const maxLength = 80
	switch {
	case v.IsObject():
		var keys []string
		for k := range v.ObjectValue() {
			keys = append(keys, string(k))
		}
		sort.Strings(keys)
		if text := "{" + strings.Join(keys, ", ") + "}"; len(text) <= maxLength {
			return text
		}
		return fmt.Sprintf("an object of %d keys", len(keys))
	case v.IsNull():
		return "null"
	case v.IsString() && len(v.StringValue()) > maxLength:
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
		return Kind(v)
	}
}

// Join appends a field name to the path of its parent.
func Join(path, name string) string {
	if strings.ContainsAny(name, `.[]"/`) || name == "" {
		return path + "[" + strconv.Quote(name) + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}
