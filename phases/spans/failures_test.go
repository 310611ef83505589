package spans_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// failing is a log whose failures are those of a Python worker, as Spark words them.
func failing(t *testing.T) []eventlog.Event {
	t.Helper()
	text, err := os.ReadFile("../testdata/logs/null-metrics.jsonl")
	require.NoError(t, err)
	const worker = `org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n` +
		`  File \"/usr/lib/spark/python/lib/pyspark.zip/` +
		`pyspark/worker.py\", line 1247, in main\n    process()\n  File \"/mnt/tmp/job.py\", line 20, in once\n` +
		`ValueError: first line of the cause\nsecond line\n\n\tat org.apache.spark.api.python.BasePythonRunner.x(PythonRunner.scala:572)\n`
	for before, after := range map[string]string{
		`"Full Stack Trace":"java.lang.IllegalStateException: no such column"`: `"Full Stack Trace":"` + worker + `"`,
		`"Job aborted due to stage failure"`: `"Job aborted due to stage failure: Task 1 in stage 1.0 failed 1 times, most recent failure: ` +
			`Lost task 1.0 in stage 1.0 (TID 1) (ip-10-0-0-2 executor 1): ` + worker + `\nDriver stacktrace:"`,
	} {
		require.Contains(t, string(text), before)
		text = []byte(strings.ReplaceAll(string(text), before, after))
	}
	return read(t, fstest.MapFS{"log": {Data: text}}, "log")
}

// A span keeps the beginning of a failure, which is its cause.
func TestFailuresBeginWithTheirCause(t *testing.T) {
	s := build(failing(t))
	const cause = "ValueError: first line of the cause\nsecond line\n"
	for name, then := range map[string]string{
		"task 1": "org.apache.spark.api.python.PythonException: Traceback", "stage 1.0": "Job aborted due to stage failure",
		"job 1": "Job aborted due to stage failure", "sql 0": "Job aborted due to stage failure",
		"application null-metrics": "Job aborted due to stage failure",
	} {
		message := s.named(t, name).Status.Message
		require.True(t, strings.HasPrefix(message, cause+then), "%s: %s", name, message)
	}
	require.Len(t, s.named(t, "task 1").Status.Message, 256)
}
