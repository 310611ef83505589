package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// ApplicationsIn selects applications.
type ApplicationsIn struct {
	Name      string `json:"name,omitempty" jsonschema:"part of the application's name; case is ignored"`
	ClusterID string `json:"cluster_id,omitempty" jsonschema:"cluster, e.g. j-2AXXXXXXGAPLF"`
	From      string `json:"from,omitempty" jsonschema:"first UTC day on which it started, such as 2026-01-31; by default 30 days before to"`
	To        string `json:"to,omitempty" jsonschema:"last UTC day on which it started; by default today"`
	Failed    bool   `json:"failed,omitempty" jsonschema:"only applications that did not complete or have failed jobs"`
	Limit     int    `json:"limit,omitempty" jsonschema:"how many to show, at most 200; by default 20"`
}

// ApplicationsOut holds the latest applications found.
type ApplicationsOut struct {
	Applications []Application `json:"applications" jsonschema:"the latest first"`
	Total        int           `json:"total" jsonschema:"how many were found"`
	Unknown      int           `json:"unknown,omitempty" jsonschema:"with failed: completed ones left out, whose failed jobs are unknown"`
	Truncated    bool          `json:"truncated" jsonschema:"not all of them are shown"`
	From         string        `json:"from" jsonschema:"first day searched"`
	To           string        `json:"to" jsonschema:"last day searched"`
	Missing      []NotRead     `json:"missing" jsonschema:"clusters, logs and applications that could not be read, at most 20 of them"`
	MissingTotal int           `json:"missing_total,omitempty" jsonschema:"how many could not be read"`
}

// NotRead is a cluster, a log or an application that could not be read.
type NotRead struct {
	ClusterID     string `json:"cluster_id"`
	ApplicationID string `json:"application_id,omitempty" jsonschema:"absent if the cluster cannot be read, or if the log does not say"`
	Reason        string `json:"reason"`
}

// maxNotRead is how many NotRead a result lists.
const maxNotRead = 20

// miss records what could not be read. It returns false if err is of something else.
func (out *ApplicationsOut) miss(err error) bool {
	var gap *Unread
	if !errors.As(err, &gap) {
		return false
	}
	if out.MissingTotal++; out.MissingTotal <= maxNotRead {
		reason := redaction.New(nil).Text(gap.Err.Error(), textLimit)
		out.Missing = append(out.Missing, NotRead{gap.ClusterID, gap.ApplicationID, reason})
	}
	return true
}

// Application summarizes an attempt of an application.
type Application struct {
	ClusterID      string `json:"cluster_id"`
	ApplicationID  string `json:"application_id"`
	AttemptID      string `json:"attempt_id" jsonschema:"empty in client mode"`
	Name           string `json:"name"`
	User           string `json:"user"`
	SparkVersion   string `json:"spark_version"`
	StartTime      string `json:"start_time,omitempty" jsonschema:"UTC"`
	DurationMillis *int64 `json:"duration_ms,omitempty" jsonschema:"absent while it runs"`
	Completed      bool   `json:"completed" jsonschema:"false while it runs, or if its driver was killed"`
	FailedJobs     *int64 `json:"failed_jobs,omitempty" jsonschema:"absent if unknown, as in the list of a history server"`
	StepID         string `json:"step_id,omitempty" jsonschema:"EMR step that started it"`
}

func newApplication(row *tables.Application) Application {
	a := Application{
		ClusterID: row.ClusterID, ApplicationID: row.ApplicationID, AttemptID: row.AttemptID, Name: row.ApplicationName,
		User: row.SparkUser, SparkVersion: row.SparkVersion, StartTime: formatTime(row.StartTime), DurationMillis: row.DurationMillis,
		Completed: row.Completed,
	}
	if isCounted(row) {
		a.FailedJobs = &row.NumFailedJobs
	}
	if row.StepID != nil {
		a.StepID = *row.StepID
	}
	return a
}

// isCounted reports whether the counts of a row are known: a history server's list has none.
func isCounted(row *tables.Application) bool { return row.Source != "" }

// formatTime formats a time as RFC 3339 in UTC; 0, which means unknown, is "".
func formatTime(at tables.Millis) string {
	if at == 0 {
		return ""
	}
	return time.UnixMilli(at).UTC().Format(time.RFC3339)
}

// searchDays is how many days back applications are searched by default.
const searchDays = 30

func (a answers) applications(ctx context.Context, p *progress, in ApplicationsIn) (ApplicationsOut, error) {
	out := ApplicationsOut{Applications: []Application{}, Missing: []NotRead{}}
	most, err := limit(in.Limit)
	if err != nil {
		return out, err
	}
	f, err := days(in.From, in.To)
	if err != nil {
		return out, err
	}
	out.From, out.To = f.From, f.To
	f.ClusterID = in.ClusterID
	var found []tables.Application
	name := strings.ToLower(in.Name)
	p.begin("find applications")
	for row, err := range a.rows.Applications(ctx, f) {
		if err != nil {
			if out.miss(err) {
				continue
			}
			return out, fmt.Errorf("find applications: %w", err)
		}
		p.row()
		if !strings.Contains(strings.ToLower(row.ApplicationName), name) {
			continue
		}
		if in.Failed && row.Completed && row.NumFailedJobs == 0 {
			if !isCounted(&row) {
				out.Unknown++
			}
			continue
		}
		out.Total++
		found = append(found, row)
		if len(found) > 2*most {
			found = latest(found, most)
		}
	}
	for _, row := range latest(found, most) {
		out.Applications = append(out.Applications, newApplication(&row))
	}
	out.Truncated = out.Total > len(out.Applications)
	return out, nil
}

// latest returns up to most applications, the latest first.
func latest(found []tables.Application, most int) []tables.Application {
	slices.SortStableFunc(found, func(a, b tables.Application) int {
		return cmp.Or(cmp.Compare(b.StartTime, a.StartTime), cmp.Compare(b.ApplicationID, a.ApplicationID), cmp.Compare(b.AttemptID, a.AttemptID))
	})
	return found[:min(most, len(found))]
}

// days returns a filter by the days to search.
func days(from, to string) (lake.Filter, error) {
	last := time.Now().UTC()
	if to != "" {
		var err error
		if last, err = time.Parse(time.DateOnly, to); err != nil {
			return lake.Filter{}, fmt.Errorf("to %q: must be a day such as 2026-01-31", to)
		}
	}
	first := last.AddDate(0, 0, -searchDays)
	if from != "" {
		var err error
		if first, err = time.Parse(time.DateOnly, from); err != nil {
			return lake.Filter{}, fmt.Errorf("from %q: must be a day such as 2026-01-31", from)
		}
	}
	return lake.Filter{From: first.Format(time.DateOnly), To: last.Format(time.DateOnly)}, nil
}
