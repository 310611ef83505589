// Package rules is the one table of what is slow or wrong: each rule with its limits, their
// source, and the setting that cures it. Findings in the lake, the colours and texts of
// panels, and docs/reference/rules.md are made from it.
//
// It is data. How a rule is judged is in package profiler/findings (finished applications,
// from the tables) and package dashboards (queries of what runs). It imports nothing of the
// project, so that everything else may import it.
package rules

import (
	"fmt"
	"time"
)

// ID names a rule in findings, in the reference and in links.
type ID string

// Rule says from which value on something needs attention.
type Rule struct {
	ID      ID
	Title   string
	Subject Subject
	// Signal is what is measured, in Unit. Metrics and Columns are where from: metrics of
	// dashboards/contract, and columns of profiler/tables as table.column.
	Signal  string
	Unit    Unit
	Metrics []string
	Columns []string

	Limit
	// Live is the limit of another signal, for what runs, where the metrics do not have Signal.
	Live *Live
	// Query judges applications that run. It is empty where they are judged from the tables alone,
	// and where panels alone show the metrics.
	Query Query `json:"-"` // findings in the tables do not depend on it
	// Floors are further values that the rule needs: below them it is not judged, or judged
	// otherwise.
	Floors  []Floor
	Basis   Basis
	Sources []Source
	Changes []Change
	Route   Route

	// Recipe is the page about it, of rules of applications.
	Recipe Recipe

	// NotLive and NotInTables say why one of the two cannot judge it; empty if it can.
	NotLive, NotInTables string
}

// Limit is a pair of values, at or beyond which a signal needs attention, and action. Where
// less is worse, Critical is below Warn. Without a separate one, Critical equals Warn.
type Limit struct{ Warn, Critical float64 }

// LessIsWorse reports whether values below the limit are the bad ones.
func (l Limit) LessIsWorse() bool { return l.Critical < l.Warn }

// Live is a signal of running applications and its limit.
type Live struct {
	Signal string
	Unit   Unit
	Limit
	Sources []Source
}

// Floor is a further value of a rule.
type Floor struct {
	Name  FloorName
	Value float64
	Unit  Unit
	Doc   string
}

// FloorName names a floor within its rule.
type FloorName string

// Unit is the unit of a value.
type Unit string

// Units.
const (
	Share        Unit = "share" // 0 to 1
	Times        Unit = "times" // a ratio of two like values
	Seconds      Unit = "s"
	Milliseconds Unit = "ms"
	Bytes        Unit = "bytes"
	CoreHours    Unit = "core-hours"
	Count        Unit = "count"
)

// Subject is what a finding of the rule is about.
type Subject string

// Subjects.
const (
	OfApplication Subject = "application"
	OfStage       Subject = "stage"
	OfSQL         Subject = "SQL execution"
	OfJVM         Subject = "JVM"
	OfHost        Subject = "host"
	OfCluster     Subject = "cluster"
	OfPlatform    Subject = "control node"
)

// Basis is how the upper bound of the time that a finding cost was found.
type Basis string

// Bases.
const (
	Exact  Basis = "exact" // the length of a phase
	Shared Basis = "share" // a share of the duration of a stage, or of the phases in which tasks ran
	Tail   Basis = "tail"  // the longest task's duration less the median one's
	Cores  Basis = "core"  // core-hours only; no wall-clock time
	Event  Basis = "event" // something happened; what it cost is not known
)

// Source is whose word a limit is. The zero value is ours: no public source was found.
type Source struct{ Who, Where string }

// sourcesRead is when the sources were read.
var sourcesRead = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)

// String returns the source with the date on which it was read.
func (s Source) String() string {
	if s == (Source{}) {
		return "own"
	}
	return fmt.Sprintf("%s, %s (%s)", s.Who, s.Where, sourcesRead.Format(time.DateOnly))
}

// Own is the source of a limit for which no public one was found.
func own() []Source { return []Source{{}} }

// Change is a setting that cures what a rule finds.
type Change struct {
	// Classification is EMR's, of cluster configuration; for spark-defaults a job may set the
	// property itself (--conf).
	Classification string
	Property       string
	// Value is what to set. If it is empty, the finding computes it.
	Value string
	// Since and Until are the first and last EMR release on which the advice holds, such as
	// emr-7.9, patch releases included; empty if there is no bound.
	Since, Until string
	When         string // the change suits; a clause
}

// Route is who hears of a rule's finding without asking.
type Route string

// Routes.
const (
	Page Route = "page" // it may be sent to people
	Note Route = "note" // verdicts, pages and answers have it
)

// Floor returns the value of a floor. It panics if the rule has none of that name.
func (r Rule) Floor(name FloorName) float64 {
	for _, f := range r.Floors {
		if f.Name == name {
			return f.Value
		}
	}
	panic(fmt.Sprintf("rule %s has no floor %q", r.ID, name))
}
