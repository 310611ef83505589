package explain

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/decode"
	"github.com/emr-observatory/emr-observatory/schema/presets"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Who sets a value.
const (
	ByDefault  = "default"
	ByPreset   = "preset"
	ByUser     = "user"
	ByGlue     = "glueCatalog" // of a property: the key that stands for it
	ByTenants  = "tenants"
	ByEventLog = "rolledEventLogs"
	ByPlatform = "platform"
)

// Value is a key of a cluster, who set it, and its value as JSON.
type Value struct {
	Path  string `json:"path"` // below the cluster: tasks.spot.count
	Value string `json:"value"`
	By    string `json:"by"`
}

// Values lists the keys of a cluster in the order of their reference, the entries of maps
// by name. A list of strings is one value. own are the raw keys of the configuration, of
// which c was decoded.
func Values(own map[string]any, c schema.Cluster) []Value {
	setters := settersOf(own, c)
	var out []Value
	leaves(reflect.ValueOf(c), "", func(path string, v reflect.Value) {
		out = append(out, Value{Path: path, Value: violation.JSON(v.Interface()), By: setters.of(path)})
	})
	return out
}

// settersOf returns a tree in the shape of the merged configuration, in which each scalar
// is who set it. Merging the marked trees has the result that merging the values has.
func settersOf(own map[string]any, c schema.Cluster) setters {
	marked, _ := mark(own, ByUser).(map[string]any)
	preset, found := presets.Named(c.Preset)
	if !found {
		return setters{marked}
	}
	shape, _ := mark(preset.For(c.ReleaseLabel), ByPreset).(map[string]any)
	return setters{presets.Preset{Name: preset.Name, Cluster: shape}.Complete(c.ReleaseLabel, marked)}
}

// mark returns a tree in the shape of a raw value with by in the place of each scalar,
// except null, which removes, and names of classifications, by which trees are merged.
func mark(value any, by string) any {
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		out := map[string]any{}
		for key, entry := range v {
			_, named := entry.(string)
			entries, listed := entry.([]any)
			if named && key == presets.Classification || listed && key == presets.Configurations && len(entries) == 0 {
				out[key] = entry // an empty list of classifications adds none to the preset's
				continue
			}
			out[key] = mark(entry, by)
		}
		return out
	case []any:
		if len(v) == 0 {
			return by // no entry could say who set it
		}
		out := make([]any, len(v))
		for i, entry := range v {
			out[i] = mark(entry, by)
		}
		return out
	}
	return by
}

// setters is a tree of who set what.
type setters struct{ tree any }

// of returns who set the value at a path below the cluster.
func (s setters) of(path string) string {
	at, above := s.tree, s.tree
	for _, step := range steps(path) {
		switch v := at.(type) {
		case map[string]any:
			at, above = v[step], v
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return ByDefault
			}
			at, above = v[i], v
		}
	}
	if by := first(at); by != "" {
		return by
	}
	return cmp.Or(first(above), ByDefault) // the name of a classification is its entry's
}

// first returns who set the first scalar below a value, "" if there is none.
func first(at any) string {
	switch v := at.(type) {
	case string:
		if v == ByPreset || v == ByUser {
			return v
		}
	case []any:
		for _, entry := range v {
			if by := first(entry); by != "" {
				return by
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if by := first(v[key]); by != "" {
				return by
			}
		}
	case nil:
		return ByDefault
	}
	return ""
}

// steps splits a path: tasks.spot.ebs[0].type. Properties and tags may have dots in their
// names, so that what follows their map is one step.
func steps(path string) []string {
	var out []string
	for path != "" {
		for _, open := range []string{"sparkDefaults", "properties", "tags"} {
			if name, ok := strings.CutPrefix(path, open+"."); ok {
				return append(out, open, name)
			}
		}
		var step string
		step, path, _ = strings.Cut(path, ".")
		name, index, indexed := strings.Cut(strings.TrimSuffix(step, "]"), "[")
		out = append(out, name)
		if indexed {
			out = append(out, index)
		}
	}
	return out
}

// leaves visits the values of a struct: scalars, lists of strings, and what is empty.
func leaves(v reflect.Value, path string, visit func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			leaves(v.Elem(), path, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), strings.TrimPrefix(path+"."+decode.Key(v.Type().Field(i)), "."), visit)
		}
	case reflect.Map:
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int {
			return strings.Compare(a.String(), b.String())
		}) {
			leaves(v.MapIndex(key), path+"."+key.String(), visit)
		}
		if v.Len() == 0 {
			visit(path, v)
		}
	case reflect.Slice:
		if v.Len() == 0 || v.Type().Elem().Kind() == reflect.String {
			visit(path, v)
			return
		}
		for i := range v.Len() {
			leaves(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	default:
		visit(path, v)
	}
}
