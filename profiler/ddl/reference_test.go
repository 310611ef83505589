package ddl

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const referenceFile = "../../docs/reference/sql-functions.md"

var update = flag.Bool("update", false, "write the reference of the functions")

func TestReference(t *testing.T) {
	want := reference()
	if *update {
		require.NoError(t, os.WriteFile(referenceFile, []byte(want), 0o600))
	}
	got, err := os.ReadFile(referenceFile)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "run `make generate`")
}

const preface = `# SQL functions

Rendered from package profiler/ddl; run ` + "`make generate`" + ` after an edit.

` + "`observatory profile ddl`" + ` makes these table functions in Databricks, and table macros of the same names in DuckDB
([how](../guides/history.md#query)). They answer as the tools of the same names do, with whole texts and numbers that are
not rounded. Arguments have names:
` + "`SELECT * FROM getsloweststages(id => 'etl_daily', top => 5) ORDER BY rank`" + `. Types are Spark's; times are UTC.
`

// reference lists the functions with their arguments and columns. Functions that list a table's rows have its columns,
// which are in tables.md.
func reference() string {
	var b strings.Builder
	b.WriteString(preface)
	for _, f := range Functions() {
		fmt.Fprintf(&b, "\n## %s\n%s\n\n| argument | type | without it | meaning |\n|---|---|---|---|\n", f.Name, f.Doc)
		for _, p := range f.parameters {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.name, p.kind, p.standard, p.doc)
		}
		if f.table != "" {
			fmt.Fprintf(&b, "\nColumns: `%s` (%s, %s) and those of the table [%[4]s](tables.md#%[4]s).\n", rank.Name, rank.Type, rank.Doc, f.table)
			continue
		}
		b.WriteString("\n| column | type | meaning |\n|---|---|---|\n")
		for _, c := range f.Columns {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, c.Type, strings.ReplaceAll(c.Doc, "|", "\\|"))
		}
	}
	return b.String()
}
