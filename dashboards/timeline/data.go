package timeline

import (
	"github.com/emr-observatory/emr-observatory/dashboards/job"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
	"github.com/emr-observatory/emr-observatory/dashboards/scope"
)

func shuffle() panel.Row {
	return panel.Row{Title: "Shuffle and spill", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Shuffle throughput", Unit: panel.UnitBytesPerSec, Width: 12, Links: links.Job(),
			Shows: "Shuffle bytes that ended tasks read and wrote, per second.",
			Bad:   "Many times the input: data is moved that could be filtered or aggregated first.",
			Next:  "Look for exchanges in the query's plan; broadcast the smaller side of a join.",
		}, transferred("shuffle_.*")),
		job.ShuffleReads(),
		job.FetchWait(),
		panel.TimeSeries(panel.Spec{
			Title: "Spill", Unit: panel.UnitBytesPerSec, Width: 8, Links: links.Job(),
			Shows: "Bytes that ended tasks spilled per second: their size in memory and on disk.",
			Bad:   "Spills that last, near what tasks read in \"Shuffle throughput\" and \"Input and output\".",
			Next:  "Read \"Spilled share\"; the trace names the stage.",
		}, panel.Metrics(scope.By("kind").Sum(scope.PerSecond(job.Metric("spark_task_spill_bytes_total"))), "{{kind}}")),
		job.SpilledShare(),
	}}
}

// transferred queries the bytes of ended tasks per second, by directions that match.
func transferred(directions string) panel.Query {
	selector := job.Metric("spark_task_io_bytes_total", scope.Match("direction", directions))
	return panel.Metrics(scope.By("direction").Sum(scope.PerSecond(selector)), "{{direction}}")
}

// bypasses is what keeps a write from EMR's committers, which are set by default and never rename.
const bypasses = "what bypasses EMR's committer: a changed spark.sql.parquet.output.committer.class, Hive's writer, or custom " +
	"partition locations."

func storage() panel.Row {
	return panel.Row{Title: "S3", Panels: []panel.Panel{
		panel.TimeSeries(panel.Spec{
			Title: "Input and output", Unit: panel.UnitBytesPerSec, Width: 12, Links: links.Job(),
			Shows: "Bytes that ended tasks read as input and wrote as output, per second. A task counts when it ends.",
			Bad:   "Little output during a long write phase: the time goes into commits or into many small files.",
			Next:  "Read \"S3 request time\"; the trace shows the commit after the last task.",
		}, transferred("input|output")),
		panel.TimeSeries(panel.Spec{
			Title: "S3 request time", Unit: panel.UnitCount, Width: 12, Stack: true, Links: links.Job(),
			Shows: "Request seconds per second in S3A's operations, as the executors measured them: that is, the average number of requests " +
				"in flight. The parts of an upload run in parallel, and all count.",
			Bad: "Put or multipart near the number of busy cores, or above it: tasks wait for S3. " +
				"Rename: the committer copies objects.",
			Next: "Rename: look for " + bypasses + " Put: read \"S3 requests\" for retries.",
		}, panel.Metrics(scope.By("operation").Sum(scope.PerSecond(job.Metric("spark_task_s3_time_seconds_total"))), "{{operation}}")),
		panel.TimeSeries(panel.Spec{
			Title: "S3 requests", Unit: panel.UnitPerSecond, Width: 8, Links: links.Job(),
			Shows: "Requests of the S3A file system per second, those tried again, and those that S3 throttled until the AWS SDK gave up.",
			Bad:   "Retries that last: S3 answers 503 Slow Down, since the prefix takes no more.",
			Next:  "Spread keys over prefixes; write fewer, larger files.",
		},
			storageRate("store_io_request", "requests"),
			storageRate("store_io_retry", "retries"),
			storageRate("store_io_throttled", "throttled")),
		panel.TimeSeries(panel.Spec{
			Title: "S3 requests by operation", Unit: panel.UnitPerSecond, Width: 8, Links: links.Job(),
			Shows: "Requests of the S3A file system per second: objects or parts put, streams opened to read, probes (HEAD), listings, " +
				"deletions and copies.",
			Bad:  "Copies: the committer renames, and S3 has no rename. More probes and listings than reads and puts: many small files.",
			Next: "Copies: look for " + bypasses + " Small files: compact the input, write with fewer partitions.",
		},
			storageRate("object_put_request", "put"),
			storageRate("stream_read_opened", "open"),
			storageRate("object_metadata_request", "probe"),
			storageRate("object_list_request", "list"),
			storageRate("object_delete_request", "delete"),
			storageRate("object_copy_requests", "copy")),
		panel.TimeSeries(panel.Spec{
			Title: "Committed by S3A's committers", Unit: panel.UnitBytesPerSec, Width: 8, Links: links.Job(),
			Shows: "Bytes that S3A's committers committed per second. EMR uses the magic one from 7.10 on; before, its own committer for EMRFS, " +
				"which this panel does not show. Zero with a committer that renames.",
			Bad:  "Zero although the application writes to S3: its files are copied once more to be renamed.",
			Next: "Look for " + bypasses,
		}, storageRate("committer_bytes_committed", "committed")),
		panel.TimeSeries(panel.Spec{
			Title: "Multipart uploads", Unit: panel.UnitPerSecond, Width: 12, Links: links.Job(),
			Shows: "Multipart uploads that were begun and aborted, per second.",
			Bad:   "Aborted uploads: tasks failed or were killed while they wrote.",
			Next:  "Many uploads of few bytes (\"Input and output\"): write fewer, larger files. Aborted ones: read \"Failed share of tasks\".",
		},
			storageRate("object_multipart_initiated", "begun"),
			storageRate("object_multipart_aborted", "aborted")),
		uploadTime(),
	}}
}

// storageRate queries the increase per second of a counter of the S3A file system.
func storageRate(counter, legend string) panel.Query {
	return panel.Metrics(job.PerSecond("hadoop_s3a_"+counter+"_total"), legend)
}

func uploadTime() panel.Panel {
	seconds := func(counter, legend string) panel.Query {
		return panel.Metrics(job.PerSecond("hadoop_s3a_"+counter+"_milliseconds_total")+" / 1000", legend)
	}
	return panel.TimeSeries(panel.Spec{
		Title: "Blocks in upload", Unit: panel.UnitCount, Width: 12, Links: links.Job(),
		Shows: "Blocks that wait for their upload, and blocks that wait or are being uploaded, on average. A stream counts when it closes.",
		Bad:   "Most blocks wait: the file system uploads too few at once.",
		Next:  "Raise fs.s3a.fast.upload.active.blocks and fs.s3a.threads.max, or write with more tasks.",
	},
		seconds("stream_write_queue_duration", "waiting"),
		seconds("stream_write_time", "waiting or uploading"))
}
