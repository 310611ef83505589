package presets_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/schema/presets"
)

var update = flag.Bool("update", false, "write the rendered file")

const referenceFile = "../../docs/reference/presets.md"

// docs/reference/presets.md is rendered from the presets' files.
func TestReference(t *testing.T) {
	want := reference(t)
	if *update {
		require.NoError(t, os.WriteFile(referenceFile, []byte(want), 0o600))
	}
	got, err := os.ReadFile(referenceFile)
	require.NoError(t, err, "run `make generate`")
	require.Equal(t, want, string(got), "run `make generate`")
}

const preface = `# Presets

Rendered from schema/presets; edit the files there and run ` + "`make generate`" + `.

A cluster takes the shape of a preset where its other keys say nothing: ` + "`preset: data-lake`" + ` is a whole cluster. Objects and maps
are merged by key, and ` + "`configurations`" + ` by classification and property. A list replaces the preset's, ` + "`fleets`" + `
its groups, and ` + "`null`" + ` removes what it has. ` + "`observatory explain`" + ` says of every value who set it, and what the
cluster costs. What a preset leaves out has the default of [the configuration](config.md).
`

func reference(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(preface)
	for _, name := range presets.Names() {
		p, _ := presets.Named(name)
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```yaml\npreset: %s\n%s```\n", name, p.Purpose, name, block(t, p.Cluster))
		for _, prefix := range slices.Sorted(maps.Keys(p.ByRelease)) {
			fmt.Fprintf(&b, "\nWith releases of `%s*`, too:\n\n```yaml\n%s```\n", prefix, block(t, p.ByRelease[prefix]))
		}
		if len(p.Corrections) == 0 {
			continue
		}
		b.WriteString("\n| The user's document has | Here | Why | Source |\n|---|---|---|---|\n")
		for _, c := range p.Corrections {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Asked, c.Done, c.Why, c.Source)
		}
	}
	return b.String()
}

// block renders keys as a stack's file has them.
func block(t *testing.T, keys map[string]any) string {
	t.Helper()
	text, err := yaml.Marshal(keys)
	require.NoError(t, err)
	return string(text)
}
