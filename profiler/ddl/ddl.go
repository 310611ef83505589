// Package ddl declares the tables of Spark's history to catalogs: it renders SQL for Athena, Spark,
// DuckDB and Databricks, with a comment on every column, and the answers of the tools (package
// tools) as SQL table functions where a dialect has them.
//
// It runs no SQL and reads no rows. The columns are those of package tables.
package ddl

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Dialect is a dialect of SQL.
type Dialect string

// Dialects.
const (
	Athena     Dialect = "athena"
	Spark      Dialect = "spark"
	DuckDB     Dialect = "duckdb"
	Databricks Dialect = "databricks"
)

// Dialects lists them in the order of the help.
func Dialects() []Dialect { return []Dialect{Athena, Spark, DuckDB, Databricks} }

// Catalog says where tables are declared, and where their files are.
type Catalog struct {
	Name     string // Unity Catalog's catalog; Databricks only
	Schema   string // schema; Athena and Spark call it a database
	Volume   string // volume for the logs that clusters deliver; "" for none; Databricks only
	Location string // folder or s3:// URI of the tables

	Compacted bool // declare the compacted objects (lake.Compact)
	Replace   bool // drop tables of the same names first, which keeps the files of external ones
}

// Statements returns the statements that declare all tables, without semicolons. DuckDB's need the
// tables' views, which OfDuckDB takes.
func Statements(d Dialect, c Catalog) ([]string, error) {
	if err := c.check(d); err != nil {
		return nil, err
	}
	c.Location = strings.TrimSuffix(c.Location, "/")
	if c.Compacted {
		c.Location += "/" + tables.Compacted
	}
	switch d {
	case Athena:
		return athena(c), nil
	case Spark:
		return spark(c), nil
	case Databricks:
		return databricks(c)
	}
	return nil, fmt.Errorf("dialect %q: must be one of %v", d, Dialects())
}

// Forms of names. Glue folds names to lower case, and Athena reads nothing but these without quotes
// (https://docs.aws.amazon.com/athena/latest/ug/tables-databases-columns-names.html).
var (
	glueName  = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,254}$`)
	sparkName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,254}$`)
)

// check reports all names that a dialect does not take.
func (c Catalog) check(d Dialect) error {
	var faults []error
	name := func(option, value, rule string, form *regexp.Regexp) {
		if !form.MatchString(value) {
			faults = append(faults, fmt.Errorf("%s: %q must %s", option, value, rule))
		}
	}
	const plain = "have letters, digits, _ and - only"
	switch d {
	case Athena:
		name("schema_name", c.Schema, "have lower-case letters, digits and _ only; Athena takes no others", glueName)
	case Databricks:
		name("catalog_name", c.Name, plain+"; name the catalog of Unity Catalog that gets the schema", sparkName)
		if c.Volume != "" {
			name("volume_name", c.Volume, plain, sparkName)
		}
		fallthrough
	case Spark:
		name("schema_name", c.Schema, plain, sparkName)
	case DuckDB: // it has views without a schema
	}
	if strings.ContainsAny(c.Location, "'\\`\n\r") {
		faults = append(faults, fmt.Errorf("location %q must have no quotes, backslashes and line ends", c.Location))
	}
	return errors.Join(faults...)
}

// text is a text as a literal. An apostrophe is escaped by each dialect in its own way: comments
// have the typographic one instead.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "’") + "'" }

// declared lists a table's columns with types and comments.
func declared(d tables.Definition) string {
	var lines []string
	for _, c := range d.Columns() {
		lines = append(lines, fmt.Sprintf("  `%s` %s COMMENT %s", c.Name, c.CatalogType(), text(c.Doc)))
	}
	return strings.Join(lines, ",\n")
}

// locationOf is the folder of a table.
func (c Catalog) locationOf(d tables.Definition) string { return c.Location + "/" + string(d.Name) }
