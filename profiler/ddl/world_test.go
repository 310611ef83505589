package ddl_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/sparktest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/ddl"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/judge"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// logs are event logs of real jobs that are each slow for one known reason, and of the same jobs
// cured.
const logs = "../../tests/calibration/testdata/logs"

// realLake writes the rows of the logs to a folder, with tasks and what the cluster cost, and judges
// them.
func realLake(t *testing.T, dir string) *lake.Lake {
	t.Helper()
	store, err := lake.NewFolder(dir)
	require.NoError(t, err)
	l, err := lake.Open(t.Context(), store, "")
	require.NoError(t, err)
	lease, err := l.Lock(t.Context(), "test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lease.Unlock(context.WithoutCancel(t.Context()))) })
	s, err := source.NewLogs(t.Context(), aws.Config{}, logs, "logs")
	require.NoError(t, err)
	clusters, err := s.Discover(t.Context())
	require.NoError(t, err)
	for _, listed := range clusters {
		cluster, err := s.Open(t.Context(), listed)
		require.NoError(t, err)
		for _, a := range cluster.Applications {
			b, err := l.Begin(a.ID, a.Start)
			require.NoError(t, err)
			_, err = fold.Log(t.Context(), a.Log, a.ID.Cluster, fold.Options{Tasks: true}, b)
			require.NoError(t, err)
			_, err = b.Commit(t.Context(), true, a.Fingerprint)
			require.NoError(t, err)
		}
		putCosts(t, l, cluster.Applications[0].ID)
	}
	putCopy(t, l)
	_, err = judge.All(t.Context(), l, nil)
	require.NoError(t, err)
	_, err = l.Compact(t.Context(), nil)
	require.NoError(t, err)
	return l
}

// putCopy writes an application of another cluster that is later than all others, and has the id of their
// cluster in its name. Its stage ran twice, the second time for longer.
func putCopy(t *testing.T, l *lake.Lake) {
	t.Helper()
	start := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	id := tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: "application_1_0001", Source: tables.SourceLogs}
	b, err := l.Begin(id, start)
	require.NoError(t, err)
	for try, millis := range []int64{100, 200} {
		require.NoError(t, b.Put(&tables.StageRow{
			Attempt: id, Stage: tables.Stage{StageID: 1, StageAttemptID: int64(try)}, StageName: "count", Status: "COMPLETE",
			SubmissionTime: start.UnixMilli(), DurationMillis: &millis,
		}))
	}
	require.NoError(t, b.Put(&tables.Application{
		Attempt: id, ApplicationName: "copy of logs", StartTime: start.UnixMilli(), EndTime: start.UnixMilli() + 1000,
		DurationMillis: new(int64(1000)), Completed: true, NumStages: 2, NumTasks: 2,
	}))
	_, err = b.Commit(t.Context(), true, "v1")
	require.NoError(t, err)
}

// putCosts writes what an application cost, which no event log has.
func putCosts(t *testing.T, l *lake.Lake, id tables.Attempt) {
	t.Helper()
	b, err := l.BeginCluster(id.Cluster, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	require.NoError(t, b.Put(&tables.ApplicationCost{
		Cluster: id.Cluster, Kind: tables.CostApplication, ApplicationID: id.ApplicationID, AttemptID: id.AttemptID, USD: new(1.25),
		Basis: tables.BasisNodes,
	}))
	_, err = b.Commit(t.Context(), true, "v1")
	require.NoError(t, err)
}

// row is a row of an answer, without what is null.
type row = map[string]any

// statements are between lines of ";".
const between = "\n;\n"

// duck returns DuckDB's rows by query, from the lake in a folder or its compacted objects.
func duck(t *testing.T, l *lake.Lake, dir string, compacted bool, queries []string) [][]row {
	t.Helper()
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with duckdb")
	views, err := l.Views(t.Context(), dir, compacted)
	require.NoError(t, err)
	declared, err := ddl.OfDuckDB()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), python, "testdata/duck.py", inFile(t, strings.Join(append(views, declared...), ";\n")),
		inFile(t, strings.Join(queries, between)))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	return answers(t, string(out), len(queries))
}

// sparkFour returns the rows of Spark 4 by statement.
func sparkFour(t *testing.T, statements []string) [][]row {
	t.Helper()
	file := filepath.Join(t.TempDir(), "answers")
	arguments := []string{"-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(sparktest.Spark4Jars(t), "*")}
	// What bin/spark-submit gives a JVM (org.apache.spark.launcher.JavaModuleOptions).
	for _, of := range []string{
		"java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent",
		"java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar",
	} {
		arguments = append(arguments, "--add-opens=java.base/"+of+"=ALL-UNNAMED")
	}
	arguments = append(arguments, "testdata/spark4/Asks.java", inFile(t, strings.Join(statements, between)), file)
	out, err := exec.CommandContext(t.Context(), "java", arguments...).CombinedOutput()
	require.NoError(t, err, string(out))
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	return answers(t, string(got), len(statements))
}

func inFile(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// answers decodes a line of JSON per statement.
func answers(t *testing.T, lines string, want int) (all [][]row) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var rows []row
		require.NoError(t, json.Unmarshal([]byte(line), &rows))
		all = append(all, rows)
	}
	require.Len(t, all, want)
	return all
}
