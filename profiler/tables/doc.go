// Package tables defines the typed tables of Spark history: one struct per table, whose
// tags are the Parquet schema and the reference (docs/reference/tables.md).
//
// It has no rules about how rows are made (package fold) or where they are kept (package
// lake).
//
// Names and units are those of the notebooks that these tables replace: a name ends in the
// unit where the notebooks' did, otherwise the doc tag gives it. Times are UTC. A value that
// a source does not know is null, never 0: its field is a pointer, or has the tag optional.
// Key columns are never null; an unknown part of a key is "". A tag json is the column's name
// in Spark's REST API, from which package history reads it.
package tables
