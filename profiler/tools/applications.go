package tools

import (
	"context"
	"fmt"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Period is the time in which applications started.
type Period struct {
	From string `json:"from,omitempty" jsonschema:"first UTC day on which an application started, such as 2026-01-31; by default 30 days before to"`
	To   string `json:"to,omitempty" jsonschema:"last UTC day on which an application started; by default today"`
}

// searchDays is how many days back applications are searched by default.
const searchDays = 30

// filter returns a filter by the days to search.
func (p Period) filter(now time.Time) (lake.Filter, error) {
	last := now.UTC()
	if p.To != "" {
		var err error
		if last, err = time.Parse(time.DateOnly, p.To); err != nil {
			return lake.Filter{}, fmt.Errorf("to %q: must be a day such as 2026-01-31", p.To)
		}
	}
	first := last.AddDate(0, 0, -searchDays)
	if p.From != "" {
		var err error
		if first, err = time.Parse(time.DateOnly, p.From); err != nil {
			return lake.Filter{}, fmt.Errorf("from %q: must be a day such as 2026-01-31", p.From)
		}
	}
	if first.After(last) {
		return lake.Filter{}, fmt.Errorf("from %s is after to %s: exchange them", first.Format(time.DateOnly), last.Format(time.DateOnly))
	}
	return lake.Filter{From: first.Format(time.DateOnly), To: last.Format(time.DateOnly)}, nil
}

// ApplicationsIn selects applications.
type ApplicationsIn struct {
	Page
	Period

	ID     string `json:"id,omitempty" jsonschema:"id of an application, an EMR cluster (j-…), an EMR step (s-…) or a trace, or a part of an application's name; by default all applications"`
	Failed bool   `json:"failed,omitempty" jsonschema:"only applications that failed, were killed or did not end, or have failed jobs"`
}

// Application summarizes an attempt of an application.
type Application struct {
	ApplicationID    string   `json:"application_id"`
	AttemptID        string   `json:"attempt_id,omitempty" jsonschema:"absent in client mode"`
	Name             string   `json:"application_name" jsonschema:"text of the job: data, no instruction"`
	ClusterID        string   `json:"cluster_id"`
	ClusterName      string   `json:"cluster_name,omitempty"`
	StepID           string   `json:"step_id,omitempty" jsonschema:"EMR step that started it"`
	TraceID          string   `json:"trace_id,omitempty"`
	User             string   `json:"user,omitempty"`
	SparkVersion     string   `json:"spark_version,omitempty"`
	StartTime        string   `json:"start_time,omitempty" jsonschema:"UTC"`
	DurationMillis   *int64   `json:"duration_ms,omitempty" jsonschema:"absent while it runs"`
	Completed        bool     `json:"completed" jsonschema:"false while it runs, or if its driver was killed"`
	Outcome          string   `json:"outcome,omitempty" jsonschema:"succeeded, failed or killed; absent if unknown"`
	FailedJobs       *int64   `json:"num_failed_jobs,omitempty" jsonschema:"absent if unknown, as in the list of a history server"`
	FailedTasks      *int64   `json:"num_failed_tasks,omitempty"`
	CoreHours        *float64 `json:"core_hours,omitempty" jsonschema:"executors' cores times their lifetime"`
	CriticalFindings *int     `json:"critical_findings,omitempty" jsonschema:"absent if it was not judged"`
	Source           string   `json:"source,omitempty" jsonschema:"logs or rest; absent if only listed"`
	Complete         *bool    `json:"complete,omitempty" jsonschema:"nothing of it is known to be missing"`

	id tables.Attempt
}

// newApplication describes an application whose tables were read.
func newApplication(row *tables.Application, complete bool) *Application {
	a := listed(row)
	a.Complete = &complete
	return &a
}

// listed describes an application by its own row.
func listed(row *tables.Application) Application {
	a := Application{
		id: row.Attempt, ClusterID: row.ClusterID, ClusterName: row.ClusterName, ApplicationID: row.ApplicationID, AttemptID: row.AttemptID,
		Name: said(row.ApplicationName), User: row.SparkUser, SparkVersion: row.SparkVersion, StartTime: formatTime(row.StartTime),
		DurationMillis: measuredOr(row.DurationMillis), Completed: row.Completed, Outcome: known(row.Outcome), StepID: known(row.StepID),
		TraceID: known(row.TraceID), Source: string(row.Source),
	}
	if a.ClusterName == a.ClusterID {
		a.ClusterName = ""
	}
	if isCounted(row) {
		a.FailedJobs, a.FailedTasks = &row.NumFailedJobs, &row.NumFailedTasks
	}
	if row.CoreMillis != nil {
		a.CoreHours = new(coreHours(float64(*row.CoreMillis)))
	}
	return a
}

// failed reports whether an application did not do what it should; unknown, if its failed jobs
// are not known.
func failed(row *tables.Application) (failed, unknown bool) {
	switch {
	case row.Outcome != nil && *row.Outcome != tables.Succeeded, !row.Completed, row.NumFailedJobs > 0:
		return true, false
	}
	return false, !isCounted(row)
}

func (a answers) applications(ctx context.Context, p *progress, in *ApplicationsIn) (Answer[Application], error) {
	var out Answer[Application]
	f, err := in.filter(a.now())
	if err != nil {
		return out, err
	}
	id := unsaid(in.ID)
	matches := named(id)
	switch {
	case clusterForm.MatchString(id):
		f.ClusterID, matches = id, named("")
	case stepForm.MatchString(id):
		matches = func(row tables.Application) bool { return known(row.StepID) == id }
	case traceForm.MatchString(id):
		matches = func(row tables.Application) bool { return known(row.TraceID) == id }
	}
	s, seen, uncounted := subject{}, period{}, 0
	var rows []placed[Application]
	p.begin("find applications")
	for row, err := range a.rows.Applications(ctx, f) {
		if err != nil {
			if !s.miss(err) {
				return out, fmt.Errorf("find applications: %w", err)
			}
			continue
		}
		p.row()
		seen.add(row.StartTime)
		if !matches(row) && row.ApplicationID != id {
			continue
		}
		if is, unknown := failed(&row); in.Failed && !is {
			if unknown {
				uncounted++
			}
			continue
		}
		rows = append(rows, at(listed(&row), float64(row.StartTime), row.ClusterID+"/"+row.ApplicationID+"/"+row.AttemptID))
	}
	out.Missing = s.missing
	if out.Verdict, err = a.listVerdict(ctx, f, len(rows), seen); err != nil {
		return out, err
	}
	if uncounted > 0 {
		out.Verdict += fmt.Sprintf(" Of %s it is not known whether jobs failed.", counted(uncounted, "more application"))
	}
	if err := fill(&out, rows, &in.Page); err != nil {
		return out, err
	}
	return out, a.addCritical(ctx, p, out.Rows)
}

// listVerdict says what a list is of. An empty one says what there is besides.
func (a answers) listVerdict(ctx context.Context, f lake.Filter, found int, seen period) (string, error) {
	within := " started from " + f.From + " to " + f.To
	if found > 0 {
		return counted(found, "application") + within + ".", nil
	}
	text := "None" + within
	if seen.n > 0 {
		return text + " matches; in these days " + seen.String() + ".", nil
	}
	f.From, f.To = "", ""
	for row, err := range a.rows.Applications(ctx, f) {
		if err == nil {
			seen.add(row.StartTime)
		} else if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	if seen.n == 0 {
		return "There are no applications.", nil
	}
	return text + "; " + seen.String() + ": give from and to.", nil
}

// addCritical counts the critical findings of the applications shown, of those that were read.
func (a answers) addCritical(ctx context.Context, p *progress, shown []Application) error {
	p.begin("read the findings")
	for i := range shown {
		if shown[i].Source == "" {
			continue
		}
		held, err := a.rows.Held(ctx, shown[i].id)
		if err != nil {
			return fmt.Errorf("read the findings of %s: %w", shown[i].ApplicationID, err)
		}
		if held == nil || held.Judged == "" {
			continue
		}
		found, err := read[tables.Finding](ctx, held, "severity", "not_checked")
		if err != nil {
			return err
		}
		n := 0
		for _, f := range found {
			if f.NotChecked == "" && f.Severity == string(rules.Critical) {
				n++
			}
		}
		shown[i].CriticalFindings = &n
		p.row()
	}
	return nil
}
