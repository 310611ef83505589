package ddl

import (
	"fmt"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// ofSpark are functions of Spark that the functions' queries use and DuckDB names otherwise, as
// macros of DuckDB. element_at comes with the views.
var ofSpark = []string{
	"CREATE OR REPLACE MACRO get(list, place) AS list[place + 1]",
	"CREATE OR REPLACE MACRO unix_millis(moment) AS epoch_ms(moment)",
}

// OfDuckDB returns the statements that describe the views of a lake (lake.Views) and make the
// functions as macros.
func OfDuckDB() ([]string, error) {
	var all []string
	for _, d := range tables.All() {
		all = append(all, fmt.Sprintf("COMMENT ON VIEW %s IS %s", d.Name, text(d.Doc)))
		for _, c := range d.Columns() {
			all = append(all, fmt.Sprintf("COMMENT ON COLUMN %s.%s IS %s", d.Name, c.Name, text(c.Doc)))
		}
		all = append(all, fmt.Sprintf("COMMENT ON COLUMN %s.%s IS %s", d.Name, tables.Partition, text(tables.PartitionDoc)))
	}
	all = append(all, ofSpark...)
	for _, f := range Functions() {
		query, err := f.query("")
		if err != nil {
			return nil, err
		}
		var parameters, columns []string
		for _, p := range f.parameters {
			parameters = append(parameters, p.name+" := "+p.standard)
		}
		for _, c := range f.Columns {
			columns = append(columns, fmt.Sprintf("%q", c.Name))
		}
		all = append(all, fmt.Sprintf("CREATE OR REPLACE MACRO %s(%s) AS TABLE\nSELECT * FROM (\n%s\n) AS answer(%s)",
			f.Name, strings.Join(parameters, ", "), query, strings.Join(columns, ", ")))
	}
	return all, nil
}
