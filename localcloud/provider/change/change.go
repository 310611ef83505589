// Package change decides what a difference between old and new inputs means:
// nothing, an update in place, or a replacement, and whether the old resource
// goes first. It follows what the real providers do for the same fields.
//
// It does not perform anything.
package change

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
)

// Settings are the provider's arguments that change what an edit means.
type Settings struct {
	MutableConfigMaps bool // kubernetes: enableConfigMapMutable
	MutableSecrets    bool // kubernetes: enableSecretMutable
}

// Of compares the old with the new inputs of a resource. outputs is its last
// state; it matters where a provider never applied an edit (see Silent).
func Of(typ string, s Settings, oldInputs, outputs, newInputs resource.PropertyMap) plugin.DiffResult {
	detailed := details(oldInputs, newInputs)
	for path := range silent(typ, outputs, newInputs) {
		if _, seen := detailed[path]; !seen {
			detailed[path] = plugin.PropertyDiff{Kind: plugin.DiffUpdate, InputDiff: true}
		}
	}
	p := policyOf(typ, s)
	result := plugin.DiffResult{Changes: plugin.DiffNone, DetailedDiff: detailed}
	for path, d := range detailed {
		result.Changes = plugin.DiffSome
		result.ChangedKeys = append(result.ChangedKeys, topLevel(path))
		if p.replaces(path, newInputs) {
			d.Kind = d.Kind.AsReplace()
			detailed[path] = d
			result.ReplaceKeys = append(result.ReplaceKeys, topLevel(path))
		}
	}
	if len(result.ReplaceKeys) > 0 {
		result.DeleteBeforeReplace = p.deletesFirst(typ, newInputs)
	}
	return result
}

// details are the changed paths, with secrets compared by their content and
// values that are not known yet taken as changed.
func details(oldInputs, newInputs resource.PropertyMap) map[string]plugin.PropertyDiff {
	ignore := func(k resource.PropertyKey) bool { return strings.HasPrefix(string(k), "__") }
	diff := bare(oldInputs).Diff(bare(newInputs), ignore)
	return plugin.NewDetailedDiffFromObjectDiff(diff, true)
}

// bare takes the secret marks off at every depth.
func bare(values resource.PropertyMap) resource.PropertyMap {
	out := resource.PropertyMap{}
	for k, v := range values {
		out[k] = bareValue(v)
	}
	return out
}

func bareValue(v resource.PropertyValue) resource.PropertyValue {
	switch {
	case v.IsSecret():
		return bareValue(v.SecretValue().Element)
	case v.IsOutput() && v.OutputValue().Known:
		return bareValue(v.OutputValue().Element)
	case v.IsOutput():
		return resource.MakeComputed(resource.NewStringProperty(""))
	case v.IsObject():
		return resource.NewObjectProperty(bare(v.ObjectValue()))
	case v.IsArray():
		items := make([]resource.PropertyValue, 0, len(v.ArrayValue()))
		for _, e := range v.ArrayValue() {
			items = append(items, bareValue(e))
		}
		return resource.NewArrayProperty(items)
	default:
		return v
	}
}

// topLevel is the property that a detailed path begins with.
func topLevel(path string) resource.PropertyKey {
	return resource.PropertyKey(segments(path)[0])
}

// segments splits a detailed path, list items as "*": spec.ports[0].name gives
// spec, ports, *, name.
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

// below reports that path is pattern or lies inside it. A "*" in the pattern
// stands for any one segment.
func below(path, pattern []string) bool {
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
