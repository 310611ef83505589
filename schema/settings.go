package schema

import (
	"maps"
	"slices"
)

// setting is a property of an application, as somebody set it.
type setting struct {
	path  string // of its value in the configuration
	value string
}

// settings are what is set of each application: by classification of EMR and by
// property.
type settings map[string]map[string]setting

// newSettings returns the properties of one classification, set below a path.
func newSettings(classification, path string, properties map[string]string) settings {
	out := settings{}
	out.add(classification, path, properties)
	return out
}

// add sets properties below a path. Of a classification that is there already, they
// replace the same properties, as EMR does.
func (s settings) add(classification, path string, properties map[string]string) {
	if s[classification] == nil {
		s[classification] = map[string]setting{}
	}
	for name, value := range properties {
		s[classification][name] = setting{path + "." + name, value}
	}
}

// value returns the first of some properties that is set.
func (s settings) value(classification string, properties ...string) (setting, bool) {
	for _, p := range properties {
		if v, ok := s[classification][p]; ok {
			return v, true
		}
	}
	return setting{}, false
}

// each calls visit for every property, in order.
func (s settings) each(visit func(classification, property string, v setting)) {
	for _, c := range slices.Sorted(maps.Keys(s)) {
		for _, p := range slices.Sorted(maps.Keys(s[c])) {
			visit(c, p, s[c][p])
		}
	}
}
