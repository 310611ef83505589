// Package lake keeps the tables of Spark history as Parquet files in a folder or in S3,
// for Spark, DuckDB and Athena to read in place.
//
// An object holds the rows of one table of one attempt of an application (or of one
// cluster): <prefix><table>/dt=YYYY-MM-DD/<application>.<attempt>.<cluster>.<region>.<account>.parquet,
// where dt is the UTC date on which the application started. The same rows yield the same
// bytes, and a table without rows has no object. Beside the tables, <prefix>_manifest/
// holds a small JSON object per attempt and cluster with the hash of each object. Spark
// and DuckDB skip it, because its name starts with an underscore.
//
// A commit first records in the manifest that it has begun, then writes the objects that
// differ, removes those of tables that no longer have rows, and completes the manifest. A
// commit that was killed is visible in the manifest: the attempt is then re-read, and every
// object rewritten or removed. Until then readers may see new rows of one table beside old
// rows of another; table applications is written last.
//
// Only one process may write. Lock takes a lease with an expiry, and a commit without a
// valid lease is refused. The lease guards against a second writer started by mistake. If a
// writer is suspended for longer than the lease lasts and then completes a request that
// was in flight, the object may differ from its hash in the manifest until the attempt's
// source changes.
//
// It is not a table format: there are no transactions across attempts and no version
// history.
package lake
