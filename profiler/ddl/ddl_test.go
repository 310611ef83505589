package ddl_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/ddl"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

const inS3 = "s3://bucket/lake/history/"

// A parser of Athena's dialect takes the statements, and finds the columns of all tables with their
// descriptions.
func TestAthenaParsesItsStatements(t *testing.T) {
	statements, err := ddl.Statements(ddl.Athena, ddl.Catalog{Schema: "spark_observability", Location: inS3})
	require.NoError(t, err)
	all := tables.All()
	require.Len(t, statements, 1+len(all))
	type made struct {
		Kind     string
		Columns  map[string][2]string
		Settings map[string]string
	}
	var found []made
	parse(t, statements, &found)
	require.Equal(t, "DATABASE", found[0].Kind)
	for i, d := range all {
		of := found[i+1]
		require.Equal(t, "TABLE", of.Kind)
		for _, c := range d.Columns() {
			require.Equal(t, strings.ReplaceAll(c.Doc, "'", "’"), of.Columns[c.Name][1])
			require.Equal(t, strings.ReplaceAll(c.CatalogType(), " ", ""), strings.ToLower(of.Columns[c.Name][0]))
		}
		require.Equal(t, "date", of.Settings["projection.dt.type"])
		require.Equal(t, "s3://bucket/lake/history/"+string(d.Name)+"/dt=${dt}/", of.Settings["storage.location.template"])
	}
}

// parse has the parser read statements.
func parse(t *testing.T, statements []string, to any) {
	t.Helper()
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with sqlglot")
	cmd := exec.CommandContext(t.Context(), python, "testdata/athena.py")
	cmd.Stdin = strings.NewReader(strings.Join(statements, between))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	require.NoError(t, json.Unmarshal(out, to))
}

// Glue takes comments of columns up to 255 bytes, and descriptions of tables up to 2048
// (https://docs.aws.amazon.com/glue/latest/webapi/API_Column.html), each on one line.
func TestCommentsFitGlue(t *testing.T) {
	comment := regexp.MustCompile(`COMMENT '([^']*)'`)
	for _, d := range []ddl.Dialect{ddl.Athena, ddl.Spark, ddl.Databricks} {
		statements, err := ddl.Statements(d, ddl.Catalog{Name: "main", Schema: "history", Location: inS3})
		require.NoError(t, err)
		for _, s := range statements {
			require.Zero(t, strings.Count(s, "'")%2, s)
			for _, found := range comment.FindAllStringSubmatch(s, -1) {
				require.LessOrEqual(t, len(found[1]), 255, found[1])
				require.NotContains(t, found[1], "\n")
				require.NotEmpty(t, found[1])
			}
		}
	}
}

// All names that a dialect does not take are reported at once, and nothing is printed.
func TestNames(t *testing.T) {
	bad := ddl.Catalog{Name: "", Schema: "x` y", Volume: "a.b", Location: inS3}
	for d, want := range map[ddl.Dialect]string{
		ddl.Athena: `schema_name: "x` + "`" + ` y" must have lower-case letters, digits and _ only; Athena takes no others`,
		"":         "dialect \"\": must be one of [athena spark duckdb databricks]",
		ddl.Spark:  `schema_name: "x` + "`" + ` y" must have letters, digits, _ and - only`,
		ddl.Databricks: `catalog_name: "" must have letters, digits, _ and - only; ` +
			"name the catalog of Unity Catalog that gets the schema\n" +
			`volume_name: "a.b" must have letters, digits, _ and - only` + "\n" +
			`schema_name: "x` + "`" + ` y" must have letters, digits, _ and - only`,
		"hive": `dialect "hive": must be one of [athena spark duckdb databricks]`,
	} {
		statements, err := ddl.Statements(d, bad)
		require.EqualError(t, err, want)
		require.Empty(t, statements)
	}
}

// Tables are forgotten only on request.
func TestReplace(t *testing.T) {
	for _, d := range []ddl.Dialect{ddl.Athena, ddl.Spark, ddl.Databricks} {
		catalog := ddl.Catalog{Name: "main", Schema: "history", Location: inS3}
		dropped := func() (n int) {
			statements, err := ddl.Statements(d, catalog)
			require.NoError(t, err)
			for _, s := range statements {
				if strings.HasPrefix(s, "DROP TABLE IF EXISTS ") {
					n++
				}
			}
			return n
		}
		require.Zero(t, dropped(), d)
		catalog.Replace = true
		require.Equal(t, len(tables.All()), dropped(), d)
	}
}
