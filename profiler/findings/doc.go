// Package findings judges rows of package tables: what slowed an application down, what
// that may have cost at most, and what to change.
//
// It judges what it is given and reads nothing itself. A finding names the rows that show
// it, so that a reader can check it.
package findings
