// Package findings judges the tables of an application by the rules of package rules: what
// slowed it down, the most time that it may have cost, and what to change.
//
// It is a function of the rows that it is given, and reads nothing else. A finding names the
// rows that show it, so that a reader can check it. Every number that decides is in the rules:
// a test allows no others here.
package findings

import (
	"cmp"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// revision is of the code of this package. Raise it when the same rows and rules yield other
// findings: what earlier versions judged is then judged again.
const revision = "5"

// Version says by which rules, and by which version of this package, rows are judged.
func Version() string { return rules.Version() + "-" + revision }

// found collects the findings of an application by rule.
type found struct {
	wall  *int64 // milliseconds; nil while it is unknown
	rules map[rules.ID]*ofRule
}

// ofRule is what was found by one rule.
type ofRule struct {
	total    int64
	findings []tables.Finding // the most costly ones
}

// add takes a finding if it is worth a look. It sets its severity and its share of the wall
// clock.
func (all *found) add(f *tables.Finding) {
	if f == nil || !all.weigh(f) {
		return
	}
	of := all.rules[rules.ID(f.Finding)]
	if of == nil {
		of = &ofRule{}
		all.rules[rules.ID(f.Finding)] = of
	}
	of.total++
	of.findings = append(of.findings, *f)
	if len(of.findings) >= rules.MostOfRule+rules.MostOfRule { // so that memory does not grow with the number of stages
		of.cut()
	}
}

// cut keeps the most costly findings.
func (of *ofRule) cut() {
	slices.SortStableFunc(of.findings, costlier)
	if len(of.findings) > rules.MostOfRule {
		clear(of.findings[rules.MostOfRule:])
		of.findings = of.findings[:rules.MostOfRule]
	}
}

// weigh sets a finding's severity, and reports whether it has one.
func (all *found) weigh(f *tables.Finding) bool {
	rule := rules.Get(rules.ID(f.Finding))
	switch rule.Basis {
	case rules.Event:
		f.Severity = string(rules.Warning)
		if f.Limit != nil && *f.Limit == rule.Critical {
			f.Severity = string(rules.Critical)
		}
		return true
	case rules.Cores:
		for _, law := range rules.Severities() {
			if f.CoreHours != nil && *f.CoreHours >= law.CoreHours {
				f.Severity = string(law.Severity)
				return true
			}
		}
		return false
	case rules.Exact, rules.Shared, rules.Tail:
	}
	return all.weighTime(f)
}

// weighTime sets the severity by the time that a finding cost. While the wall-clock time is
// unknown, none is critical.
func (all *found) weighTime(f *tables.Finding) bool {
	if f.Impact == nil || *f.Impact < 0 {
		return false
	}
	if all.wall != nil && *all.wall > 0 {
		*f.Impact = min(*f.Impact, *all.wall)
		f.ImpactRate = new(float64(*f.Impact) / float64(*all.wall))
	}
	for _, law := range rules.Severities() {
		enough := f.ImpactRate == nil && law.Severity == rules.Warning || f.ImpactRate != nil && *f.ImpactRate >= law.Share
		if enough && float64(*f.Impact) >= law.Milliseconds {
			f.Severity = string(law.Severity)
			return true
		}
	}
	return false
}

// Kinds of cost, in the order in which findings are shown.
const (
	inTime = iota
	inCores
	unknown
)

func kindOfCost(f tables.Finding) int {
	switch rules.Basis(f.Basis) {
	case rules.Exact, rules.Shared, rules.Tail:
		return inTime
	case rules.Cores:
		return inCores
	case rules.Event:
	}
	return unknown
}

// costlier puts the findings first that cost most of a kind, and then the critical ones.
func costlier(a, b tables.Finding) int {
	return cmp.Or(
		cmp.Compare(kindOfCost(a), kindOfCost(b)),
		cmp.Compare(known(b.Impact), known(a.Impact)),
		cmp.Compare(known(b.CoreHours), known(a.CoreHours)),
		cmp.Compare(a.Severity, b.Severity), // critical before warning
		cmp.Compare(a.Finding, b.Finding),
		cmp.Compare(known(a.StageID), known(b.StageID)),
		cmp.Compare(known(a.StageTry), known(b.StageTry)),
		cmp.Compare(known(a.SQLID), known(b.SQLID)),
	)
}

// known returns a value, 0 if it is unknown.
func known[T int64 | float64](v *T) T {
	if v == nil {
		return 0
	}
	return *v
}

// kept returns the findings to be shown, the most costly first.
func (all *found) kept() (kept []tables.Finding) {
	for _, of := range all.rules {
		of.cut()
		for i := range of.findings {
			of.findings[i].Total = &of.total
		}
		kept = append(kept, of.findings...)
	}
	slices.SortStableFunc(kept, costlier)
	return within(rules.MostBytes, kept)
}

// within drops the cheapest findings that exceed a number of bytes. It keeps the first of each
// rule before it keeps the second of another, because the first has their total.
func within(most int, all []tables.Finding) (kept []tables.Finding) {
	fits := make([]bool, len(all))
	shown := map[string]bool{}
	take := func(i int) {
		if n := length(all[i]); !fits[i] && n <= most {
			most -= n
			fits[i], shown[all[i].Finding] = true, true
		}
	}
	for i := range all {
		if !shown[all[i].Finding] {
			take(i)
		}
	}
	for i := range all {
		take(i)
	}
	for i, f := range all {
		if fits[i] {
			kept = append(kept, f)
		}
	}
	return kept
}

// length returns the bytes of a finding's texts.
func length(f tables.Finding) int {
	n := len(f.Summary) + len(f.Advice)
	for _, list := range [][]string{f.Evidence, f.Changes, f.Settings} {
		for _, text := range list {
			n += len(text)
		}
	}
	return n
}

// hours returns core-milliseconds in core-hours.
func hours(coreMillis float64) float64 {
	return coreMillis / float64(time.Hour.Milliseconds())
}
