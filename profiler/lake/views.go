package lake

import (
	"context"
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Views returns statements of DuckDB that make a view of each table, with the table's name. at is
// where the tables are: a folder or an s3:// URI. The views read the compacted objects, or all others. A
// table without files is a view without rows: DuckDB refuses to read what is not there.
func (l *Lake) Views(ctx context.Context, at string, compacted bool) ([]string, error) {
	root := ""
	if compacted {
		root = tables.Compacted + "/"
	}
	// The tables' times are UTC, and Spark's element_at is what the questions in docs/reference/tables.md
	// use for a place in a list.
	statements := []string{"SET TimeZone = 'UTC'", "CREATE OR REPLACE MACRO element_at(list, place) AS list[place]"}
	for _, d := range tables.All() {
		days, err := l.store.Folders(ctx, l.prefix+root+string(d.Name)+"/")
		if err != nil {
			return nil, fmt.Errorf("look for files of table %s: %w", d.Name, err)
		}
		if len(days) == 0 {
			statements = append(statements, fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT %s WHERE false", d.Name, noValues(d)))
			continue
		}
		files := strings.TrimSuffix(at, "/") + "/" + root + string(d.Name) + "/*/*.parquet"
		// union_by_name: columns that older files lack are null.
		statements = append(statements, fmt.Sprintf(
			"CREATE OR REPLACE VIEW %s AS SELECT * FROM read_parquet('%s', hive_partitioning = true, union_by_name = true)",
			d.Name, strings.ReplaceAll(files, "'", "''")))
	}
	return statements, nil
}

// noValues lists a table's columns as DuckDB would read them from a file.
func noValues(d tables.Definition) string {
	var all []string
	for _, c := range d.Columns() {
		all = append(all, fmt.Sprintf("NULL::%s AS %q", strings.Replace(c.Type, "TIMESTAMP", "TIMESTAMPTZ", 1), c.Name))
	}
	return strings.Join(append(all, "NULL::DATE AS dt"), ", ")
}
