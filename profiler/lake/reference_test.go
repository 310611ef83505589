package lake_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

var update = flag.Bool("update", false, "write the rendered file")

const referenceFile = "../../docs/reference/tables.md"

// docs/reference/tables.md is rendered from the row structs and the questions of the tests.
func TestReference(t *testing.T) {
	want := reference(read(t, questions))
	if *update {
		require.NoError(t, os.WriteFile(referenceFile, []byte(want), 0o600))
	}
	require.Equal(t, want, read(t, referenceFile), "run `make generate`")
}

const preface = `# Tables of Spark's history

Rendered from package profiler/tables; edit the structs there and run ` + "`make generate`" + `.

The profiler writes them as Parquet files (zstd), an object per table and attempt of an application, or per table and cluster:
` + "`<table>/dt=YYYY-MM-DD/<application>.<attempt>.<cluster>.<region>.<account>.parquet`" + `.
` + "`dt`" + ` is the UTC date on which the application started, or the cluster was created; queries that restrict it read less.
In names of objects ` + "`-`" + ` stands for an empty part, and ` + "`~xx`" + ` for a byte other than a letter, digit, ` + "`_` or `-`" + `.
` + "`_manifest/`" + ` belongs to the profiler; Spark and DuckDB skip it. Tables that are kept compacted have the same rows in
` + "`compacted/<table>/dt=YYYY-MM-DD/rows.parquet`" + `, an object per table and day, as of the last compaction of the day.

Times are UTC. A value that a source does not know is null, never 0.
Ids of jobs, stages and SQL executions repeat across applications and attempts: join also on
` + "`cluster_id`, `application_id` and `attempt_id`" + `.

## Old and new files

The metadata of every file has its schema version (` + "`emr-observatory.schema_version`" + `); the present one is %d.

- A new column is optional, comes last in its struct, and keeps the version. Older files lack it, and it reads as null:
  in Spark with ` + "`spark.read.option(\"mergeSchema\", \"true\").parquet(\"…/jobs\")`" + `,
  in DuckDB with ` + "`read_parquet('…/jobs/*/*.parquet', hive_partitioning = true, union_by_name = true)`" + `.
- Renaming, removing or retyping a column raises the version. The profiler then re-reads every source that still exists, and
  refuses a file of a newer version than its own with an error that names it. Query files of the two versions separately.
- A source that no longer exists keeps its files of the older version.

`

func reference(asked string) string {
	var b strings.Builder
	fmt.Fprintf(&b, preface, tables.SchemaVersion)
	b.WriteString("## Tables\n\n| Table | Rows | Key |\n|---|---|---|\n")
	for _, d := range tables.All() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", d.Name, d.Name, d.Doc, key(d))
	}
	for _, d := range tables.All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s", d.Name, d.Doc)
		if d.OptIn {
			b.WriteString(" Rows are in the order of the source; those of other tables are sorted by key.")
		}
		b.WriteString("\n\n| Column | Type | Null | Meaning |\n|---|---|---|---|\n")
		for _, c := range d.Columns() {
			null := ""
			if c.Nullable {
				null = "yes"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, c.Type, null, strings.ReplaceAll(c.Doc, "|", `\|`))
		}
	}
	b.WriteString("\n## Questions\n\nThe same SQL works in Spark and in DuckDB, with a view for each table: " +
		"[in DuckDB](../guides/history.md#query), `profile ddl --dialect duckdb` makes them.\n")
	for question := range strings.SplitSeq(strings.TrimSpace(asked), "\n\n") {
		title, query, _ := strings.Cut(question, "\n")
		fmt.Fprintf(&b, "\n%s\n\n```sql\n%s\n```\n", strings.TrimPrefix(title, "-- "), query)
	}
	return b.String()
}

// key lists the columns that identify a row.
func key(d tables.Definition) string {
	columns := []string{"cluster_id"}
	if d.Scope == tables.OfAttempt {
		columns = append(columns, "application_id", "attempt_id")
	}
	return "`" + strings.Join(append(columns, d.Key...), "`, `") + "`"
}
