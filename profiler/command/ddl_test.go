package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/ddl"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

const lakeInS3 = "s3://bucket/lake/history/"

// Statements are printed as SQL and as a JSON list, without a call to AWS.
func TestStatementsForCatalogs(t *testing.T) {
	for _, d := range []ddl.Dialect{ddl.Athena, ddl.Spark, ddl.Databricks} {
		arguments := []string{"ddl", "--dialect", string(d), "--s3-output-path", lakeInS3, "--catalog-name", "main"}
		text, stderr, code := execute(t, arguments...)
		require.Equal(t, run.ExitComplete, code, stderr)
		require.Contains(t, text, "'s3://bucket/lake/history/applications")
		require.Contains(t, text, "spark_observability")
		listed, _, code := execute(t, append(arguments, "--json")...)
		require.Equal(t, run.ExitComplete, code)
		var statements []string
		require.NoError(t, json.Unmarshal([]byte(listed), &statements))
		require.Greater(t, len(statements), len(tables.All()))
		require.Equal(t, strings.Join(statements, ";\n\n")+";\n", text)
	}
}

// Spark's tables may be in a folder, and DuckDB's are what is there.
func TestStatementsOfAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	_, stderr, code := execute(t, "run", "--logs", readable(t), "--output", dir)
	require.Equal(t, run.ExitComplete, code, stderr)
	text, _, code := execute(t, "ddl", "--dialect", "spark", "--output", dir)
	require.Equal(t, run.ExitComplete, code)
	require.Contains(t, text, "LOCATION '"+dir+"/jobs'")
	text, _, code = execute(t, "ddl", "--dialect", "duckdb", "--output", dir)
	require.Equal(t, run.ExitComplete, code)
	require.Contains(t, text, "read_parquet('"+dir+"/jobs/")
	require.Contains(t, text, "COMMENT ON COLUMN jobs.job_id IS 'job';")
	require.Contains(t, text, "CREATE OR REPLACE MACRO getslowestjobs(id := NULL, top := 20) AS TABLE")
}

// What cannot be declared is refused with the remedy, before anything is printed.
func TestStatementsRefused(t *testing.T) {
	for want, arguments := range map[string][]string{
		`--dialect: "" must be one of athena spark duckdb databricks`:     {"--s3-output-path", lakeInS3},
		`--dialect: "hive" must be one of athena spark duckdb databricks`: {"--dialect", "hive", "--s3-output-path", lakeInS3},
		"--s3-output-path: athena reads tables in S3 only; give s3://BUCKET/PREFIX/, to which a run writes them": {
			"--dialect", "athena", "--output", "history",
		},
		`catalog_name: "" must have letters, digits, _ and - only; name the catalog of Unity Catalog that gets the schema`: {
			"--dialect", "databricks", "--s3-output-path", lakeInS3,
		},
		`flag --s3-output-path: "s3:bucket" must be s3://bucket/prefix/; correct it or omit it`: {
			"--dialect", "spark", "--s3-output-path", "s3:bucket",
		},
	} {
		stdout, stderr, code := execute(t, append([]string{"ddl"}, arguments...)...)
		require.Equal(t, "observatory-profiler: "+want+"\n", stderr)
		require.Equal(t, run.ExitUsage, code)
		require.Empty(t, stdout)
	}
	_, err := os.Stat("history")
	require.ErrorIs(t, err, os.ErrNotExist)
}
