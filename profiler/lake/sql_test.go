package lake_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/judge"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/tests/recipes"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// Users' questions in SQL that DuckDB and Spark understand, separated by blank lines; the
// guide, with an example for each of the two; and the programs that run them.
const (
	questions   = "testdata/questions.sql"
	guide       = "../../docs/guides/history.md"
	duckScript  = "testdata/duck.py"
	sparkScript = "testdata/spark.py"
)

// realLake writes the rows of real event logs, from the data of other tests, with tasks.
func realLake(t *testing.T, dir string) *lake.Lake {
	t.Helper()
	l := openLocked(t, dir)
	for _, dir := range []string{"profiler/fold/testdata", "eventlog/testdata/eventlog_v2_app-20261123103508-0000"} {
		logs, err := eventlog.Find(os.DirFS("../.."), dir)
		require.NoError(t, err)
		require.NotEmpty(t, logs)
		for _, log := range logs {
			a := source.Identify(t.Context(), log, tables.Cluster{ClusterID: "logs", ClusterName: "logs"})
			require.NoError(t, a.Err)
			b, err := l.Begin(a.ID, a.Start)
			require.NoError(t, err)
			summary, err := fold.Log(t.Context(), log, a.ID.Cluster, fold.Options{Tasks: true}, b)
			require.NoError(t, err)
			written, err := b.Commit(t.Context(), summary.Final, "v1")
			require.NoError(t, err)
			for name, rows := range summary.Rows {
				require.Equal(t, rows, written.Rows[name], name)
			}
		}
	}
	putCosts(t, l)
	return l
}

// putCosts writes what a cluster cost, which no event log has.
func putCosts(t *testing.T, l *lake.Lake) {
	t.Helper()
	id := tables.Cluster{ClusterID: "logs", ClusterName: "logs"}
	b, err := l.BeginCluster(id, start)
	require.NoError(t, err)
	for kind, usd := range map[string]float64{tables.CostApplication: 1.25, tables.CostIdle: 0.5, tables.CostPrimary: 0.25} {
		require.NoError(t, b.Put(&tables.ApplicationCost{Cluster: id, Kind: kind, USD: &usd, Basis: tables.BasisNodes}))
	}
	commit(t, b, true, "v1")
}

// DuckDB and Spark return the same rows for every question, and at least one. The guide's
// examples return rows, too.
func TestSQLQueriesAgree(t *testing.T) {
	dir := t.TempDir()
	l := realLake(t, dir)
	olderJobs(t, l, dir)
	_, err := judge.All(t.Context(), l, nil)
	require.NoError(t, err)
	asked := strings.Split(read(t, questions), "\n\n")
	require.Len(t, asked, 14)
	fromDuck, fromSpark := duck(t, l, dir, append(slices.Clone(asked), exampleIn(t, "sql"))), spark(t, dir, questions)
	require.Len(t, fromDuck, len(asked)+1)
	require.Len(t, fromSpark, len(asked)+1)
	for i, question := range asked {
		name, _, _ := strings.Cut(question, "\n")
		require.NotEmpty(t, fromDuck[i], name)
		require.Equal(t, fromDuck[i], fromSpark[i], name)
		t.Logf("%s %d rows", name, len(fromDuck[i]))
	}
	require.NotEmpty(t, fromDuck[len(asked)])
	shown := fromSpark[len(asked)]
	require.Greater(t, len(shown), 4, "lines of a table besides its borders and its header")
	require.Regexp(t, `^\|application_id\|.*\|disk_bytes_spilled\|$`, strings.ReplaceAll(shown[1][0].(string), " ", ""))
	require.Regexp(t, `^\|app[^|]+\|.*\|\d+\|$`, strings.ReplaceAll(shown[3][0].(string), " ", ""))
}

// Every table has a view with its columns, also one of which there are no files.
func TestViewsOfEveryTable(t *testing.T) {
	dir := t.TempDir()
	l := realLake(t, dir)
	empty := openLocked(t, t.TempDir())
	var asked []string
	for _, d := range tables.All() {
		asked = append(asked, fmt.Sprintf("SELECT column_name, column_type FROM (DESCRIBE %s)", d.Name))
	}
	filled, without := duck(t, l, dir, asked), duck(t, empty, dir, asked)
	for i, d := range tables.All() {
		var names []any
		for _, c := range d.Columns() {
			names = append(names, c.Name)
		}
		var shown []any
		for _, column := range without[i] {
			shown = append(shown, column[0])
		}
		require.Equal(t, append(names, "dt"), shown, d.Name)
		require.ElementsMatch(t, without[i], filled[i], "%s: as DuckDB reads it from files", d.Name)
	}
}

// The recipes' queries run over a lake with findings, and their proofs find the application's
// runs. Spark understands them, too.
func TestSQLOfRecipes(t *testing.T) {
	dir := t.TempDir()
	l := realLake(t, dir)
	_, err := judge.All(t.Context(), l, nil)
	require.NoError(t, err)
	const application = "SELECT application_name, application_id FROM applications WHERE num_stages > 0 ORDER BY num_tasks DESC LIMIT 1"
	one := duck(t, l, dir, []string{application})[0][0]
	named := strings.NewReplacer("etl_daily", fmt.Sprint(one[0]), "application_1700000000000_0001", fmt.Sprint(one[1]))
	var asked []string
	proofs := map[int]string{} // pages by the place of their last query
	for _, page := range recipes.Pages(t, "../..") {
		for _, query := range page.Blocks("sql") {
			require.NotContains(t, query, "\n\n", page.Name)
			require.Regexp(t, `(?s)^SELECT .*\b(JOIN|GROUP BY|WHERE)\b.*\bORDER BY\b`, query, "%s: a query of nothing in particular", page.Name)
			asked = append(asked, named.Replace(query))
		}
		if strings.Contains(page.Text, "\n## Proof\n") {
			proofs[len(asked)-1] = page.Name
		}
	}
	fromDuck := duck(t, l, dir, asked)
	require.Len(t, fromDuck, len(asked))
	for place, page := range proofs {
		require.NotEmpty(t, fromDuck[place], "%s proves nothing:\n%s", page, asked[place])
	}
	if !testenv.Long() {
		return
	}
	fromSpark := spark(t, dir, inFile(t, strings.Join(asked, "\n\n")))
	for i, query := range asked {
		require.Len(t, fromSpark[i], len(fromDuck[i]), query)
	}
}

// exampleIn returns the guide's only example in a language.
func exampleIn(t *testing.T, language string) string {
	t.Helper()
	blocks := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(read(t, guide), -1)
	require.Len(t, blocks, 1, language)
	return blocks[0][1]
}

// inFile writes a text to a file.
func inFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "text")
	write(t, name, []byte(text))
	return name
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(content)
}

// duck returns DuckDB's rows by question, from the views of a lake in a folder.
func duck(t *testing.T, l *lake.Lake, dir string, asked []string) [][][]any {
	t.Helper()
	views, err := l.Views(t.Context(), filepath.Join(dir, "history"), false)
	require.NoError(t, err)
	return askDuck(t, views, asked)
}

// askDuck returns DuckDB's rows by question, after statements that make views.
func askDuck(t *testing.T, views, asked []string) [][][]any {
	t.Helper()
	var stderr strings.Builder
	script, err := filepath.Abs(duckScript)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), duckPython(t), script, inFile(t, strings.Join(views, ";\n")),
		inFile(t, strings.Join(asked, "\n\n")))
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return answers(t, string(out))
}

// duckPython returns a Python that has DuckDB.
func duckPython(t *testing.T) string {
	t.Helper()
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with duckdb")
	return python
}

// spark returns the rows of a local Spark by question of a file, from the lake in a folder; the last
// are the lines that the guide's example prints, with that lake in place of the one in S3.
func spark(t *testing.T, dir, questions string) [][][]any {
	t.Helper()
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "answers")
	const inS3 = "s3://DATA_BUCKET/lake/history/"
	program, lake := exampleIn(t, "python"), filepath.Join(dir, "history")
	require.Contains(t, program, inS3)
	cmd := exec.CommandContext(t.Context(), filepath.Join(tree, "spark/bin/spark-submit"), "--master", "local[1]",
		"--conf", "spark.ui.enabled=false", "--conf", "spark.sql.session.timeZone=UTC", "--conf", "spark.driver.host=127.0.0.1",
		"--conf", "spark.driver.bindAddress=127.0.0.1", "--conf", "spark.sql.shuffle.partitions=1", "--driver-memory", "1g",
		sparkScript, lake, questions, inFile(t, strings.ReplaceAll(program, inS3, lake+"/")))
	cmd.Env = append(os.Environ(), "ANSWERS="+file)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return answers(t, read(t, file))
}

func answers(t *testing.T, lines string) (all [][][]any) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var rows [][]any
		require.NoError(t, json.Unmarshal([]byte(line), &rows))
		all = append(all, rows)
	}
	return all
}
