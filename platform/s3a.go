package platform

// S3ABeans names the JMX beans with the counters of Spark's S3A file systems, one
// per file system object (Hadoop's S3AInstrumentation registers them as metrics
// sources). They appear with the first use of an s3a:// path and have the bucket as
// the tag "bucket".
const S3ABeans = "Hadoop:service=s3a-file-system,name=*"

// S3APrefix and a counter's name are the name of the platform's metric.
const S3APrefix = "hadoop.s3a."

// S3AAnyBucket is the bucket of an executor's counters, which are of all buckets together:
// the number of its series must not depend on what the job reads and writes.
const S3AAnyBucket = "any"

// S3ACounter is one of S3A's counters that the platform collects.
type S3ACounter struct {
	Name string // attribute of the bean (org.apache.hadoop.fs.s3a.Statistic)
	Unit string // UCUM
	Help string // one sentence
}

// S3ACounters lists them in the order in which they are sent.
func S3ACounters() []S3ACounter {
	return []S3ACounter{
		{"store_io_request", "{request}", "Requests to the store."},
		{"store_io_retry", "{request}", "Requests tried again."},
		{"store_io_throttled", "{request}", "Requests that the store throttled until the AWS SDK gave up; those before count as tried again."},
		{"object_put_request", "{request}", "Objects and parts put."},
		{"object_put_bytes", "By", "Bytes put."},
		{"object_list_request", "{request}", "Listings."},
		{"object_metadata_request", "{request}", "Object probes."},
		{"object_delete_request", "{request}", "Deletions."},
		{"object_copy_requests", "{request}", "Copies."},
		{"stream_read_opened", "{stream}", "Input streams opened."},
		{"stream_read_seek_operations", "{operation}", "Seeks in input streams."},
		{"stream_read_bytes", "By", "Bytes read."},
		{"stream_read_exceptions", "{error}", "Errors while reading."},
		{"stream_write_bytes", "By", "Bytes written to output streams."},
		{"stream_write_exceptions", "{error}", "Errors while writing."},
		{"stream_write_queue_duration", "ms", "Time that blocks waited for their upload, added up when a stream closes."},
		{"stream_write_total_time", "ms", "Time from the block's queueing to the end of its upload, added up when a stream closes."},
		{"object_multipart_initiated", "{upload}", "Multipart uploads begun."},
		{"object_multipart_aborted", "{upload}", "Multipart uploads aborted."},
		{"multipart_upload_part_put", "{part}", "Parts of multipart uploads put."},
		{"multipart_upload_completed", "{upload}", "Multipart uploads completed."},
		{"committer_commit_job", "{job}", "Jobs committed by S3A's committers."},
		{"committer_tasks_completed", "{task}", "Tasks committed by S3A's committers."},
		{"committer_bytes_committed", "By", "Bytes committed by S3A's committers."},
	}
}
