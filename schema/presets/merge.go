package presets

import "slices"

// Keys of a cluster that are merged in a way of their own.
const (
	// Configurations is the key of a list that is merged by classification.
	Configurations = "configurations"
	// Classification is the key of an entry of configurations that has its name.
	Classification = "classification"
	fleets         = "fleets"
	managedScaling = "managedScaling"
)

// groups are the keys of a cluster whose place fleets take.
func groups() []string { return []string{"master", "core", "tasks"} }

// Complete returns a cluster's own keys and values over those of a preset. Objects
// and maps are merged by key, and lists are the cluster's own, except configurations,
// which are merged by classification. A null removes what the preset has; the default
// takes its place. Fleets take the place of the preset's groups and of what scales those.
func (p Preset) Complete(release string, own map[string]any) map[string]any {
	base := p.For(release)
	if own[fleets] != nil {
		for _, key := range append(groups(), managedScaling) { // whose limits count instances of the groups
			delete(base, key)
		}
	}
	return Merge(base, own)
}

// Merge returns a copy of over's values over those of base; see Preset.Complete.
func Merge(base, over map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range base {
		out[key] = copied(value)
	}
	for key, value := range over {
		if _, had := base[key]; value == nil && had {
			delete(out, key)
			continue
		}
		out[key] = merged(key, out[key], value)
	}
	return out
}

func merged(key string, base, over any) any {
	switch value := over.(type) {
	case map[string]any:
		if object, ok := base.(map[string]any); ok {
			return Merge(object, value)
		}
	case []any:
		if list, ok := base.([]any); ok && key == Configurations {
			return mergeClassifications(list, value)
		}
	}
	return copied(over)
}

// mergeClassifications keeps over's entries in their places, so that a path in an
// error is that of the user's own list, and appends what only base has.
func mergeClassifications(base, over []any) []any {
	var out []any
	used := make([]bool, len(base))
	for _, entry := range over {
		i := slices.IndexFunc(base, func(b any) bool { return nameOf(entry) != "" && nameOf(b) == nameOf(entry) })
		if i < 0 || used[i] {
			out = append(out, copied(entry))
			continue
		}
		used[i] = true
		out = append(out, merged("", base[i], entry))
	}
	for i, entry := range base {
		if !used[i] {
			out = append(out, copied(entry))
		}
	}
	return out
}

// nameOf returns the classification of an entry, "" if it has none.
func nameOf(entry any) string {
	object, _ := entry.(map[string]any)
	name, _ := object[Classification].(string)
	return name
}

// copied returns a copy of a raw value, so that no caller changes an embedded preset.
func copied(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, entry := range v {
			out[key] = copied(entry)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, entry := range v {
			out[i] = copied(entry)
		}
		return out
	}
	return value
}
