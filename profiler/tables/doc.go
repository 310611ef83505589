// Package tables defines the typed tables of Spark history: one struct per table, whose
// tags are the Parquet schema and the reference (docs/reference/tables.md).
//
// It holds no rule about how rows come about (package fold) or where they are kept
// (package lake).
//
// Names are those of the notebooks that these tables replace, with their units: a name
// ends in the unit where the notebooks' did, and the doc tag says it otherwise. Times are
// UTC. A value that a source does not know is null, never 0: pointers and the tag
// optional. Key columns are never null; an unknown part of a key is "".
package tables
