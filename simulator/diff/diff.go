// Package diff decides what a difference between old and new inputs of a
// resource means: nothing, an update in place or a replacement, and whether the
// old resource is deleted first. It follows the real providers field by field.
// It changes no resource.
package diff

import (
	"maps"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// Settings are the provider's arguments that affect a diff.
type Settings struct {
	MutableConfigMaps bool // kubernetes: enableConfigMapMutable
	MutableSecrets    bool // kubernetes: enableSecretMutable
}

// Compute compares the old with the new inputs of a resource. outputs is its
// last state, which shows edits that the provider never applied (see
// NeverApplied).
func Compute(typ string, s Settings, oldInputs, outputs, newInputs resource.PropertyMap) plugin.DiffResult {
	detailed := changedPaths(oldInputs, newInputs)
	for _, path := range unappliedPaths(typ, outputs, newInputs) {
		if _, changed := detailed[path]; !changed {
			detailed[path] = plugin.PropertyDiff{Kind: plugin.DiffUpdate, InputDiff: true}
		}
	}
	p := policyFor(typ, s)
	maps.DeleteFunc(detailed, p.keeps)
	result := plugin.DiffResult{Changes: plugin.DiffNone, DetailedDiff: detailed}
	for path, d := range detailed {
		result.Changes = plugin.DiffSome
		result.ChangedKeys = append(result.ChangedKeys, topLevelKey(path))
		if p.replaces(path, newInputs) {
			d.Kind = d.Kind.AsReplace()
			detailed[path] = d
			result.ReplaceKeys = append(result.ReplaceKeys, topLevelKey(path))
		}
	}
	if len(result.ReplaceKeys) > 0 {
		result.DeleteBeforeReplace = p.deletesFirst(typ, newInputs)
	}
	return result
}

// changedPaths returns the detailed diff by path. It compares secrets by their
// content and treats unknown values as changed.
func changedPaths(oldInputs, newInputs resource.PropertyMap) map[string]plugin.PropertyDiff {
	ignore := func(k resource.PropertyKey) bool { return strings.HasPrefix(string(k), "__") }
	diff := unwrapAll(oldInputs).Diff(unwrapAll(newInputs), ignore)
	return plugin.NewDetailedDiffFromObjectDiff(diff, true)
}

// unwrapAll removes secret and output wrappers at every depth.
func unwrapAll(values resource.PropertyMap) resource.PropertyMap {
	out := resource.PropertyMap{}
	for k, v := range values {
		out[k] = unwrap(v)
	}
	return out
}

// unwrap removes the wrappers of one value.
func unwrap(v resource.PropertyValue) resource.PropertyValue {
	v, unknown := property.Unwrap(v)
	switch {
	case unknown:
		return resource.MakeComputed(resource.NewStringProperty(""))
	case v.IsObject():
		return resource.NewObjectProperty(unwrapAll(v.ObjectValue()))
	case v.IsArray():
		items := make([]resource.PropertyValue, 0, len(v.ArrayValue()))
		for _, e := range v.ArrayValue() {
			items = append(items, unwrap(e))
		}
		return resource.NewArrayProperty(items)
	default:
		return v
	}
}

// topLevelKey returns the property that a detailed path starts with.
func topLevelKey(path string) resource.PropertyKey {
	return resource.PropertyKey(segments(path)[0])
}

// segments splits a detailed path, with "*" for list indices:
// spec.ports[0].name becomes spec, ports, *, name.
func segments(path string) []string {
	parsed, err := resource.ParsePropertyPath(path)
	if err != nil || len(parsed) == 0 {
		return []string{path}
	}
	out := make([]string, 0, len(parsed))
	for _, p := range parsed {
		if s, ok := p.(string); ok {
			out = append(out, s)
			continue
		}
		out = append(out, "*")
	}
	return out
}

// isWithin reports whether path matches pattern or is nested in a match. A "*"
// in the pattern matches any segment.
func isWithin(path, pattern []string) bool {
	if len(path) < len(pattern) {
		return false
	}
	for i, p := range pattern {
		if p != "*" && p != path[i] {
			return false
		}
	}
	return true
}
