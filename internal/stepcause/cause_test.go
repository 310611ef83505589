package stepcause

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The logs in testdata/causes are named after what ended the job. Spark 3.5.5 wrote
// those that begin with spark-; the others have the shapes that Spark, YARN and EMR
// print on a cluster.
func TestCauseOfRealLogs(t *testing.T) {
	for name, want := range map[string]string{
		"spark-udf": "ValueError: invalid literal for int() with base 10: 'n/a'\n  at udf.py:8, in quantity: return int(text)",
		"spark-path": "pyspark.errors.exceptions.captured.AnalysisException: [PATH_NOT_FOUND] Path does not exist: file:/nowhere.\n" +
			"  at path.py:3, in <module>: orders = spark.read.parquet(\"file:///nowhere\")",
		"spark-column": "pyspark.errors.exceptions.captured.AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or " +
			"function parameter with name `totl` cannot be resolved. Did you mean one of the following? [`id`].\n" +
			"  at column.py:4, in totals: return o.groupBy(\"id\").agg({\"totl\": \"sum\"})",
		"spark-jvm": "org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor " +
			"being 0 and return NULL instead. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error.\n" +
			"  at jvm.py:4, in <module>: print(spark.range(3).selectExpr(\"1 / id\").collect())",
		"spark-rdd": "java.io.IOException: Input path does not exist: file:/nowhere/x\n" +
			"  at rdd.py:3, in <module>: print(spark.sparkContext.textFile(\"file:///nowhere/x\").count())",
		"spark-noclass": "Error: Failed to load class com.example.Missing.",
		"python-driver": "ValueError: no such day: tuesday\n" +
			"  at orders.py:8, in load: raise ValueError(f\"no such day: {day}\")",
		"python-during-handling": "RuntimeError: cannot read the orders\n" +
			"  at orders.py:11, in main: raise RuntimeError(\"cannot read the orders\")",
		"python-syntax":  "SyntaxError: '(' was never closed\n  at orders.py:3: print(\"orders\"",
		"python-no-file": "/usr/bin/python3: can't open file '/home/hadoop/orders.py': [Errno 2] No such file or directory",
		"python-missing-path": "pyspark.errors.exceptions.captured.AnalysisException: [PATH_NOT_FOUND] Path does not exist: " +
			"s3://data/lake/nowhere.\n  at orders.py:12, in <module>: orders = spark.read.parquet(\"s3://data/lake/nowhere\")",
		"python-no-column": "pyspark.errors.exceptions.captured.AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column or " +
			"function parameter with name `totl` cannot be resolved. Did you mean one of the following? [`total`, `day`].;\n" +
			"  at orders.py:20, in totals: return orders.groupBy(\"day\").agg(sum(\"totl\"))",
		"python-worker": "ValueError: invalid literal for int() with base 10: 'n/a'\n" +
			"  at orders.py:14, in quantity",
		"python-jvm": "java.io.FileNotFoundException: No such file or directory: s3://data/lake/part-0\n" +
			"  at orders.py:30, in <module>: orders.count()",
		"python-helper": "KeyError: 'day'\n  at model.py:5, in key: return row[\"day\"]",
		"scala-driver":  "java.lang.IllegalArgumentException: requirement failed: no day\n  at Orders.scala:17, in com.example.Orders$.main",
		"scala-executor": "java.lang.ArithmeticException: / by zero\n" +
			"  at Orders.scala:23, in com.example.Orders$.$anonfun$main$1",
		"scala-missing-path": "org.apache.spark.sql.AnalysisException: [PATH_NOT_FOUND] Path does not exist: s3://data/lake/nowhere.\n" +
			"  at Orders.scala:15, in com.example.Orders$.main",
		"scala-wrapped": "com.amazon.ws.emr.hadoop.fs.shaded.com.amazonaws.services.s3.model.AmazonS3Exception: Access Denied " +
			"(Service: Amazon S3; Status Code: 403; Error Code: AccessDenied)\n  at Reader.scala:9, in com.example.Reader.read",
		"no-class":        "Error: Failed to load class com.example.Missing.",
		"no-class-thrown": "java.lang.ClassNotFoundException: com.example.Missing",
		"executor-killed": "ExecutorLostFailure (executor 4 exited caused by one of the running tasks) Reason: Container from a bad node: " +
			"container_1700000000000_0007_01_000005 on host: ip-10-0-0-7.ec2.internal. Exit status: 137. Diagnostics: " +
			"[2026-11-20 10:00:04.123]Container killed on request. Exit code is 137\n  at Orders.scala:30, in com.example.Orders$.main",
		"executor-memory": "ExecutorLostFailure (executor 2 exited caused by one of the running tasks) Reason: Container killed by YARN for " +
			"exceeding physical memory limits. 5.6 GB of 5.5 GB physical memory used. " +
			"Consider boosting spark.executor.memoryOverhead.\n  at orders.py:30, in <module>: orders.count()",
		"cluster-scala":  "java.lang.ArithmeticException: / by zero\n  at Orders.scala:23, in com.example.Orders$.main",
		"cluster-python": "User application exited with status 1",
		"cluster-143": "Application application_1700000000000_0007 failed 2 times due to AM Container for " +
			"appattempt_1700000000000_0007_000002 exited with  exitCode: 143 " +
			"[2026-11-20 10:00:09.001]Container [pid=4242,containerID=container_1700000000000_0007_02_000001] is running " +
			"131072B beyond the 'PHYSICAL' memory limit. " +
			"Current usage: 1.4 GB of 1.4 GB physical memory used; 3.3 GB of 6.9 GB virtual memory used. Killing container.",
		"driver-memory":      "java.lang.OutOfMemoryError: Java heap space",
		"driver-killed":      "/usr/lib/spark/bin/spark-class: line 101:  4242 Killed                  \"${CMD[@]}\"",
		"controller-137":     "Step failed with exitCode 137 and took 42 seconds",
		"recovered-warnings": "ValueError: the last word\n  at orders.py:40, in <module>: raise ValueError(\"the last word\")",
		"only-warnings":      "java.io.IOException: Connection reset by peer",
		"nothing":            "",
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "causes", name+".log"))
			require.NoError(t, err)
			found := findCause(strings.Split(string(text), "\n"))
			require.Equal(t, want, found.String())
			require.Equal(t, want == "", found.weight == noCause)
		})
	}
}

func findCause(lines []string) finding {
	var f Finder
	for _, line := range lines {
		f.Add(line)
	}
	return f.cause()
}

// Whatever a log contains and wherever it is cut, a cause is found or not, and is
// small, valid text.
func TestCauseOfArbitraryLogs(t *testing.T) {
	var lines []string
	files, err := filepath.Glob(filepath.Join("testdata", "causes", "*.log"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	lines = append(lines, "\xff\xfe", "Caused by: ", ": ", "\tat (:)", "\tat a.b(c:99999999999999999999)", `  File "", line 0`,
		`  File "`+strings.Repeat("f", 1<<14)+`", line 99999999999999999999, in x`, "Exception in thread \"\" x", tracebackHeader,
		"Caused by: x.Error: "+strings.Repeat("é", 1<<13), "x"+tracebackHeader, "ERROR", "diagnostics: ")
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 0))
		log := make([]string, random.IntN(30))
		for i := range log {
			line := lines[random.IntN(len(lines))]
			log[i] = line
			if random.IntN(4) == 0 {
				log[i] = line[:random.IntN(len(line)+1)]
			}
		}
		found := findCause(log)
		require.LessOrEqual(t, len(found.Exception), maxException)
		for _, part := range []string{found.File, found.Function, found.Code} {
			require.LessOrEqual(t, len(part), maxPart)
		}
		require.Equal(t, strings.ToValidUTF8(found.String(), "?"), found.String())
		require.Equal(t, found.weight == noCause, found.Exception == "", "%q", log)
	}
}
