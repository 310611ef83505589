package collector

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
)

// containers are as many executors as write at the same time.
const containers = 4

// writeLogs writes a log of n lines in all, as that many executors on one node do.
func writeLogs(n int) error {
	for i := range containers {
		lines := n / containers
		if i == 0 {
			lines += n % containers
		}
		dir := filepath.Join(platform.EMRContainerLogDir, "application_1700000000000_0001",
			fmt.Sprintf("container_1700000000000_0001_01_%06d", i+2))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "stderr"), []byte(executorLog(i, lines)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// executorLog returns n lines of an executor in the format of EMR's
// log4j2.properties. One record in forty is an error with a stack trace, which the
// collector joins. Executors have different tasks: to the collector, files that begin
// alike are one file.
func executorLog(executor, n int) string {
	const tasks = 10
	var lines []string
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	add := func(format string, arguments ...any) {
		lines = append(lines, at.Format("06/01/02 15:04:05 ")+fmt.Sprintf(format, arguments...))
	}
	for task := executor * n; len(lines) < n; task++ {
		at = at.Add(100 * time.Millisecond)
		add("INFO CoarseGrainedExecutorBackend: Got assigned task %d", task)
		add("INFO Executor: Running task %d.0 in stage 3.0 (TID %d)", task, task)
		add("INFO FileScanRDD: Reading File path: s3://lake/orders/day=2026-11-%02d/part-%05d-c000.snappy.parquet, "+
			"range: 0-134217728, partition values: [empty row]", task%28+1, task)
		if task%tasks != tasks-1 {
			add("INFO Executor: Finished task %d.0 in stage 3.0 (TID %d). 2345 bytes result sent to driver", task, task)
			continue
		}
		add("ERROR Executor: Exception in task %d.0 in stage 3.0 (TID %d)", task, task)
		lines = append(lines, stackTrace...)
	}
	return strings.Join(lines[:n], "\n") + "\n"
}

var stackTrace = []string{
	`org.apache.spark.SparkException: [FAILED_READ_FILE] Error while reading file s3://lake/orders/part-00012-c000.snappy.parquet.`,
	"\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError(QueryExecutionErrors.scala:864)",
	"\tat org.apache.spark.sql.execution.datasources.FileScanRDD$$anon$1.nextIterator(FileScanRDD.scala:286)",
	"\tat org.apache.spark.sql.execution.WholeStageCodegenEvaluatorFactory$$anon$1.hasNext(WholeStageCodegenEvaluatorFactory.scala:43)",
	"\tat org.apache.spark.executor.Executor$TaskRunner.run(Executor.scala:623)",
	"\tat java.base/java.lang.Thread.run(Thread.java:840)",
	"Caused by: java.io.EOFException: Reached the end of stream with 8 bytes left to read",
	"\tat org.apache.parquet.io.DelegatingSeekableInputStream.readFully(DelegatingSeekableInputStream.java:104)",
	"\t... 20 more",
}
