// Package presets has the shapes of clusters that a configuration asks for by name, as
// data: what each is for, its keys and values, and what of the architectures that users
// described had to be corrected. It knows raw values only; package schema decodes and
// checks them as if a user had written them.
package presets

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// Preset is the shape of a cluster.
type Preset struct {
	Name    string         `json:"name"`
	Purpose string         `json:"purpose"`
	Cluster map[string]any `json:"cluster"` // keys of a cluster; numbers are json.Number

	// ByRelease has what differs among releases, by the beginning of their labels.
	ByRelease map[string]map[string]any `json:"byRelease"`

	Corrections []Correction `json:"corrections"`
}

// Correction is something that the user's document asks for and that the preset does
// in another way, or not at all.
type Correction struct {
	Asked  string `json:"asked"`
	Done   string `json:"done"`
	Why    string `json:"why"`
	Source string `json:"source"`
}

//go:embed *.yaml
var files embed.FS

var all = sync.OnceValue(func() map[string]Preset {
	out := map[string]Preset{}
	entries, err := files.ReadDir(".")
	for _, entry := range entries {
		p, readErr := read(entry.Name())
		if readErr != nil {
			err = readErr
		}
		out[p.Name] = p
	}
	if err != nil {
		panic(fmt.Sprintf("presets: %v", err)) // the files are embedded, and the tests have read them
	}
	return out
})

func read(file string) (Preset, error) {
	p := Preset{Name: strings.TrimSuffix(file, path.Ext(file))}
	text, err := files.ReadFile(file)
	if err != nil {
		return p, fmt.Errorf("read: %w", err)
	}
	text, err = yaml.YAMLToJSONStrict(text)
	if err != nil {
		return p, fmt.Errorf("read %s: %w", file, err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber() // as package decode reads configuration
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, fmt.Errorf("read %s: %w", file, err)
	}
	return p, nil
}

// Names returns the names of all presets, in their order.
func Names() []string { return slices.Sorted(maps.Keys(all())) }

// Named returns a preset.
func Named(name string) (Preset, bool) {
	p, found := all()[name]
	return p, found
}

// For returns the keys and values of a cluster of a release. The caller may change them.
func (p Preset) For(release string) map[string]any {
	out := Merge(nil, p.Cluster)
	for _, prefix := range slices.Sorted(maps.Keys(p.ByRelease)) {
		if strings.HasPrefix(release, prefix) {
			out = Merge(out, p.ByRelease[prefix])
		}
	}
	return out
}
