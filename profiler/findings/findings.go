// Package findings judges rows of package tables: what slowed an application down, the most
// time that it may have cost, and what to change.
//
// It judges the rows that it is given and reads nothing itself. A finding names the rows
// that show it, so that a reader can check it.
package findings

import (
	"cmp"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Severities.
const (
	Critical = "critical"
	Warning  = "warning"
)

// Limits of severity: the largest share of the application's wall-clock time that a finding
// may have cost. They are sparkforensics'.
const (
	worthCritical = 0.02
	worthWarning  = 0.005
)

// MostFindings is how many findings an application has at most: the most costly ones.
const MostFindings = 1000

// Add adds a finding to those of an application. Beyond twice MostFindings it drops the
// least costly, so that memory does not grow with the number of stages.
func Add(found []tables.Finding, f tables.Finding) []tables.Finding {
	found = append(found, f)
	if len(found) <= 2*MostFindings {
		return found
	}
	sortByImpact(found)
	clear(found[MostFindings:])
	return found[:MostFindings]
}

// Judge returns an application's findings that are worth a look, at most MostFindings, the
// most costly first. It sets their severity and their share of wall, the application's
// wall-clock time in milliseconds. While that is unknown, all are warnings.
func Judge(found []tables.Finding, wall *int64) []tables.Finding {
	var kept []tables.Finding
	for _, f := range found {
		f.Severity = Warning
		if wall != nil && *wall > 0 && f.Impact != nil {
			share := min(1, float64(*f.Impact)/float64(*wall))
			if share < worthWarning {
				continue
			}
			if share >= worthCritical {
				f.Severity = Critical
			}
			f.ImpactRate = &share
		}
		kept = append(kept, f)
	}
	sortByImpact(kept)
	return kept[:min(len(kept), MostFindings)]
}

// sortByImpact puts the most costly findings first.
func sortByImpact(found []tables.Finding) {
	slices.SortStableFunc(found, func(a, b tables.Finding) int { return cmp.Compare(impact(b), impact(a)) })
}

func impact(f tables.Finding) int64 {
	if f.Impact == nil {
		return 0
	}
	return *f.Impact
}
