package property

import (
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// Unknown replaces a value that is not known yet in the result of Plain.
type Unknown struct{}

// Plain converts properties to Go values (string, float64, bool, []any,
// map[string]any, *asset.Asset) and drops secret marks. Unknown values become
// Unknown; nulls are left out of maps. Do not print the result: it contains
// secrets in clear.
func Plain(values resource.PropertyMap) map[string]any {
	out := make(map[string]any, len(values))
	for k, v := range values {
		if p := PlainValue(v); p != nil {
			out[string(k)] = p
		}
	}
	return out
}

// PlainValue converts one value as Plain does.
func PlainValue(v resource.PropertyValue) any {
	v, unknown := Unwrap(v)
	switch {
	case unknown:
		return Unknown{}
	case v.IsNull():
		return nil
	case v.IsObject():
		return Plain(v.ObjectValue())
	case v.IsArray():
		out := make([]any, 0, len(v.ArrayValue()))
		for _, e := range v.ArrayValue() {
			out = append(out, PlainValue(e))
		}
		return out
	case v.IsAsset():
		return v.AssetValue()
	case v.IsArchive():
		return v.ArchiveValue()
	case v.IsResourceReference():
		return v.ResourceReferenceValue()
	default:
		return v.V
	}
}

// Unwrap removes secret and output wrappers from a value. It reports whether
// the value is still unknown.
func Unwrap(v resource.PropertyValue) (_ resource.PropertyValue, unknown bool) {
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
