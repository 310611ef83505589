package catalog

import (
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// Unknown stands for a value that is not known yet in what Plain gives.
type Unknown struct{}

// Plain turns values into Go's own (string, float64, bool, []any,
// map[string]any, *asset.Asset), without secret marks; unknown values become
// Unknown, nulls are left out of maps. The result must not be printed: it
// holds secrets in clear.
func Plain(values resource.PropertyMap) map[string]any {
	out := make(map[string]any, len(values))
	for k, v := range values {
		if p := PlainValue(v); p != nil {
			out[string(k)] = p
		}
	}
	return out
}

// PlainValue is Plain for one value.
func PlainValue(v resource.PropertyValue) any {
	v, unknown := Reveal(v)
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
