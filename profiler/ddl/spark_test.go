package ddl_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/ddl"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// Users' questions, separated by blank lines, which docs/reference/tables.md shows.
const usersQuestions = "../lake/testdata/questions.sql"

// Spark 4 executes what is for Spark, and what is for Databricks but for the volume, on the compacted
// objects: users' questions and the functions have DuckDB's answers from all others.
func TestSparkAnswersAsDuckDB(t *testing.T) {
	dir := t.TempDir()
	l := realLake(t, dir)
	content, err := os.ReadFile(usersQuestions)
	require.NoError(t, err)
	asked := strings.Split(string(content), "\n\n")
	require.Len(t, asked, 14)
	ofUsers := len(asked)
	short := map[any]bool{"logs": true}
	for _, q := range questions(t, connect(t, l)) {
		if short[q.arguments["id"]] || testenv.Long() {
			asked = append(asked, q.sql)
		}
	}
	want := duck(t, l, dir, false, asked)

	catalog := ddl.Catalog{Name: "spark_catalog", Schema: "history", Volume: "logs", Location: dir, Compacted: true, Replace: true}
	inSpark, err := ddl.Statements(ddl.Spark, catalog)
	require.NoError(t, err)
	catalog.Schema = "spark_observability"
	inDatabricks, err := ddl.Statements(ddl.Databricks, catalog)
	require.NoError(t, err)
	isVolume := func(s string) bool { return strings.HasPrefix(s, "CREATE VOLUME ") }
	require.Len(t, slices.DeleteFunc(slices.Clone(inDatabricks), isVolume), len(inDatabricks)-1)
	inDatabricks = slices.DeleteFunc(inDatabricks, isVolume)

	// Each statement may be executed in a session of its own: none needs a current schema.
	inDatabricks = append(append([]string{"USE default"}, inDatabricks...), "USE spark_observability")
	statements := slices.Concat(inSpark, []string{"USE history"}, asked[:ofUsers], inDatabricks, asked[ofUsers:])
	got := sparkFour(t, statements)
	before := len(inSpark) + 1
	got = append(got[before:before+ofUsers], got[before+ofUsers+len(inDatabricks):]...)
	for i, query := range asked {
		requireEqual(t, want[i], got[i], query)
	}
}

// Spark 3.5, which EMR 7 has, executes what is for Spark and finds all rows.
func TestSparkThreeFindsTheRows(t *testing.T) {
	testenv.RequireLong(t, "TestSparkAnswersAsDuckDB executes the same statements with Spark 4")
	dir := t.TempDir()
	l := realLake(t, dir)
	statements, err := ddl.Statements(ddl.Spark, ddl.Catalog{Schema: "history", Location: dir})
	require.NoError(t, err)
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "rows.json")
	cmd := exec.CommandContext(t.Context(), filepath.Join(tree, "spark/bin/spark-submit"), "--master", "local[1]",
		"--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1",
		"--conf", "spark.sql.warehouse.dir="+t.TempDir(), "testdata/spark3.py", inFile(t, strings.Join(statements, between)), "history", file)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	var counted map[string]float64
	require.NoError(t, json.Unmarshal(content, &counted))
	var queries []string
	for _, d := range tables.All() {
		queries = append(queries, "SELECT count(*) AS n FROM "+string(d.Name))
	}
	for i, rows := range duck(t, l, dir, false, queries) {
		require.InDelta(t, rows[0]["n"], counted[string(tables.All()[i].Name)], 0, queries[i])
	}
	require.Len(t, counted, len(queries))
}

// requireEqual compares the rows of two engines, which are the same but for the last digits of
// quotients.
func requireEqual(t *testing.T, want, got []row, query string) {
	t.Helper()
	require.Len(t, got, len(want), query)
	for i := range want {
		require.Len(t, got[i], len(want[i]), "%s: %v, not %v", query, got[i], want[i])
		for name, value := range want[i] {
			if number, is := value.(float64); is {
				require.InEpsilon(t, 1+number, got[i][name].(float64)+1, 1e-9, "%s: %s", query, name)
				continue
			}
			require.Equal(t, value, got[i][name], "%s: %s", query, name)
		}
	}
}
