// Package findings judges rows of package tables: what slowed an application down, the most
// time that it may have cost, and what to change.
//
// It judges the rows that it is given and reads nothing itself. A finding names the rows
// that show it, so that a reader can check it.
package findings
