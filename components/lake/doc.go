// Package lake puts the tables of Spark's history where analysts find them: a database with a table for each in Glue,
// a workgroup of Athena that limits what a query scans, and the policy for those who query them. It writes no rows: the
// profiler does (package profiler), and package profiler/tables says which columns they have.
package lake
