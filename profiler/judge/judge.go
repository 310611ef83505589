// Package judge keeps the findings in a lake up to date: it judges the attempts of applications
// whose rows, or whose rules, have changed since they were judged.
//
// What is found is package findings' matter. It reads tables only, never an event log or a
// history server, and writes only the table findings.
package judge

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Summary says what was judged. Programs read it as JSON.
type Summary struct {
	Attempts int `json:"attempts"` // of applications, in the lake
	Current  int `json:"current"`  // their rows and the rules are as they were when they were judged
	Judged   int `json:"judged"`
	// Findings counts those of the judged attempts, by rule; with those that were left out.
	Findings map[rules.ID]int64 `json:"findings"`
	Critical int64              `json:"critical"` // of those in the table
	// NotChecked counts the judged attempts whose rows did not suffice for a rule.
	NotChecked map[rules.ID]int64 `json:"not_checked"`
	Objects    int                `json:"objects_written"`
	Removed    int                `json:"objects_removed"`
	Bytes      int64              `json:"bytes_written"`
	Rules      string             `json:"rules"`  // version of the rules
	Failed     []Failure          `json:"failed"` // attempts whose rows cannot be read
}

// Failure is an attempt whose rows cannot be read, or a manifest that does not say which attempt
// it is of.
type Failure struct {
	ClusterID     string `json:"cluster_id,omitempty"`
	ApplicationID string `json:"application_id,omitempty"`
	AttemptID     string `json:"attempt_id,omitempty"`
	Manifest      string `json:"manifest,omitempty"`
	Reason        string `json:"reason"`
}

// All judges what needs it, one attempt after the other. done is called after each attempt; it
// may be nil. The lake must be locked. An error means that the lake cannot be written, or that
// ctx ended; what was judged until then stays.
func All(ctx context.Context, l *lake.Lake, done func(Summary)) (Summary, error) {
	version := findings.Version()
	s := Summary{Findings: map[rules.ID]int64{}, NotChecked: map[rules.ID]int64{}, Rules: version, Failed: []Failure{}}
	of := releases{lake: l, known: map[tables.Cluster]string{}}
	earlier, err := runsIn(ctx, l)
	if err != nil {
		return s, err // names the table
	}
	for held, err := range l.Attempts(ctx) {
		if damaged, ok := errors.AsType[*lake.ManifestError](err); ok {
			s.Failed = append(s.Failed, Failure{Manifest: damaged.Key, Reason: damaged.Error()})
			continue
		}
		if err != nil {
			return s, err // names the manifest
		}
		if err := ctx.Err(); err != nil {
			return s, err
		}
		s.Attempts++
		compared := earlier.of(held.ID())
		by := version + digest(compared)
		if held.Judged == by {
			s.Current++
		} else if err := s.judge(ctx, &of, held, compared, by); err != nil {
			return s, err
		}
		if done != nil {
			done(s)
		}
	}
	if len(s.Failed) > 0 {
		return s, nil // the next run tries again
	}
	return s, l.SetJudgedBy(ctx, version)
}

// Changed is All, unless nothing has changed since all attempts were judged by the present
// rules: then it reads one small object.
func Changed(ctx context.Context, l *lake.Lake) (Summary, error) {
	by, err := l.JudgedBy(ctx)
	if err != nil || by == findings.Version() {
		return Summary{Rules: findings.Version()}, err // the error names the object
	}
	return All(ctx, l, nil)
}

func (s *Summary) judge(ctx context.Context, of *releases, held *lake.Held, earlier []findings.Run, by string) error {
	id := held.ID()
	found, err := attempt(ctx, held, of.of(ctx, id.Cluster), earlier)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.Failed = append(s.Failed, Failure{id.ClusterID, id.ApplicationID, id.AttemptID, "", err.Error()})
		return nil
	}
	written, err := of.lake.SetFindings(ctx, id, found, by)
	if err != nil {
		return err // names the attempt
	}
	s.Judged++
	s.Objects += written.Objects
	s.Removed += written.Removed
	s.Bytes += written.Bytes
	counted := map[rules.ID]bool{}
	for _, f := range found {
		switch rule := rules.ID(f.Finding); {
		case f.NotChecked != "" && f.NotChecked == rules.Get(rule).NotInTables: // of every application
		case f.NotChecked != "":
			s.NotChecked[rule]++
		case !counted[rule]:
			counted[rule] = true
			s.Findings[rule] += *f.Total
			fallthrough
		default:
			if f.Severity == string(rules.Critical) {
				s.Critical++
			}
		}
	}
	return nil
}

// releases looks up the EMR releases of clusters.
type releases struct {
	lake  *lake.Lake
	known map[tables.Cluster]string
}

// of returns the release of a cluster, "" if it is unknown: advice then is for all releases.
func (r *releases) of(ctx context.Context, id tables.Cluster) string {
	release, known := r.known[id]
	if known {
		return release
	}
	if held, err := r.lake.Cluster(ctx, id); err == nil && held != nil {
		for row, err := range lake.ReadHeld[tables.ClusterSummary](ctx, held) {
			if err == nil && row.ReleaseLabel != nil {
				release = *row.ReleaseLabel
			}
		}
	}
	r.known[id] = release
	return release
}

// attempt returns the findings of an attempt from its rows in the lake.
func attempt(ctx context.Context, held *lake.Held, release string, earlier []findings.Run) ([]tables.Finding, error) {
	rows := findings.Rows{
		Release:     release,
		Earlier:     earlier,
		Environment: read[tables.Environment](ctx, held),
		Phases:      read[tables.Phase](ctx, held),
		Executors:   read[tables.Executor](ctx, held),
		Stages:      read[tables.StageRow](ctx, held),
		Summaries:   read[tables.TaskSummary](ctx, held),
		Jobs:        read[tables.Job](ctx, held),
		SQL:         read[tables.SQL](ctx, held),
		Nodes:       read[tables.SQLNode](ctx, held),
	}
	found := false
	for row, err := range lake.ReadHeld[tables.Application](ctx, held) {
		if err != nil {
			return nil, err // names the object
		}
		rows.Application, found = row, true
	}
	if !found {
		return nil, fmt.Errorf("table %s has no row of it, although its manifest says so", tables.Table(&rows.Application))
	}
	return findings.Judge(rows)
}

// read yields the rows of a table that findings need, with the columns that they need.
func read[T any, P interface {
	*T
	tables.Row
}](ctx context.Context, held *lake.Held) iter.Seq2[T, error] {
	table := tables.Table(P(nil))
	part := lake.Selection{Columns: findings.Needed(table)}
	if table == tables.Table((*tables.SQLNode)(nil)) {
		part.Where, part.Texts = "metric", findings.Metrics()
	}
	return lake.ReadSelected[T, P](ctx, held, part)
}
