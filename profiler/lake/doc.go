// Package lake keeps the tables of Spark history as Parquet files in a folder or in S3,
// for Spark, DuckDB and Athena to read in place.
//
// An object holds the rows of one table of one attempt of an application (or of one
// cluster): <prefix><table>/dt=YYYY-MM-DD/<application>.<attempt>.<cluster>.<region>.<account>.parquet,
// where dt is the UTC date on which the application started. The same rows give the same
// bytes, and a table without rows has no object. Beside the tables, <prefix>_manifest/
// holds a small JSON object per attempt and cluster with the hash of each object. Spark
// and DuckDB skip it, since its name starts with an underscore.
//
// A commit first writes down which objects it is about to write, then writes those that
// differ, removes those that have no rows any more, and writes the manifest last. Killed
// at any moment, it leaves a manifest that says so: the attempt is then read again, and
// every object is written again or removed. Until then readers may see new rows of one
// table beside old rows of another; the row of table applications comes last.
//
// Only one process may write. Lock takes a lease with an expiry, and a commit without a
// valid lease is refused. The lease guards against a second writer by mistake. Should a
// writer be suspended for longer than the lease lasts and then finish a request that was
// under way, the object may differ from its hash in the manifest until the attempt's
// source changes.
//
// It is not a table format: there are no transactions across attempts and no history of
// versions.
package lake
