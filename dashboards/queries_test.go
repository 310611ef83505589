package dashboards_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
)

// TestQueriesAreUnchanged compares queries, variables and link targets with files of
// their own, apart from the dashboards' texts: a reworded panel does not change these
// files, so that a changed query stands out in review.
func TestQueriesAreUnchanged(t *testing.T) {
	for _, d := range suite(t) {
		path := filepath.Join("testdata", d.Slug+".queries.txt")
		rendered := queries(t, d)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(rendered), 0o644))
		}
		golden, err := os.ReadFile(path)
		require.NoError(t, err, "run go test ./dashboards -update")
		require.Equal(t, string(golden), rendered, "a query changed: run go test ./dashboards -update and read the change")
	}
}

// queries lists one variable, query or link per line, under the panel's id.
func queries(t *testing.T, d dashboards.Dashboard) string {
	t.Helper()
	var b strings.Builder
	doc := parse(t, d)
	for _, v := range doc.Templating.List {
		fmt.Fprintf(&b, "$%s %s\n", v.Name, v.Query.Query)
	}
	for _, p := range doc.Panels {
		for _, q := range p.Targets {
			fmt.Fprintf(&b, "%d %s %s\n", p.ID, q.RefID, strings.Join(nonEmpty(q.Datasource.UID, q.ProfileTypeID, q.text()), " "))
		}
		for i, link := range p.FieldConfig.Defaults.Links {
			fmt.Fprintf(&b, "%d link %d %s\n", p.ID, i+1, link.URL)
		}
	}
	return b.String()
}

func nonEmpty(texts ...string) []string {
	var kept []string
	for _, text := range texts {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return kept
}
