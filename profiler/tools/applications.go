package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// ApplicationsIn selects applications.
type ApplicationsIn struct {
	Page
	Period

	ID     string `json:"id,omitempty" jsonschema:"id of an application, a cluster, an EMR step (s-…) or a trace, or a part of an application's name; by default all applications"`
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
	USD              *float64 `json:"usd,omitempty" jsonschema:"its part of what the cluster's nodes cost at list prices; absent if unknown"`
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
		id: row.Attempt, ClusterID: row.ClusterID, ClusterName: name(row.ClusterName), ApplicationID: row.ApplicationID, AttemptID: row.AttemptID,
		Name: mark(row.ApplicationName), User: name(row.SparkUser), SparkVersion: row.SparkVersion, StartTime: formatTime(row.StartTime),
		DurationMillis: measuredOr(row.DurationMillis), Completed: row.Completed, Outcome: known(row.Outcome), StepID: known(row.StepID),
		TraceID: known(row.TraceID), Source: string(row.Source),
	}
	if row.ClusterName == row.ClusterID {
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

// failed reports whether an application is known to have failed or to have been killed.
func failed(row *tables.Application) bool {
	return row.Outcome != nil && *row.Outcome != tables.Succeeded
}

// troubled reports whether an application failed, did not end, or has failed jobs; unknown, if its
// failed jobs are not known.
func troubled(row *tables.Application) (is, unknown bool) {
	if failed(row) || !row.Completed || row.NumFailedJobs > 0 {
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
	chosen, rows, uncounted := selects(in.ID, &f), newPage[Application](&in.Page), 0
	p.begin("find applications")
	seen, missing, err := a.list(ctx, p, f, &in.Page, func(row tables.Application) {
		if !chosen.matches(row) {
			return
		}
		if is, unknown := troubled(&row); in.Failed && !is {
			if unknown {
				uncounted++
			}
			return
		}
		rows.add(listed(&row), float64(row.StartTime), row.ClusterID+"/"+row.ApplicationID+"/"+row.AttemptID)
	})
	if err != nil {
		return out, err
	}
	out.Missing = missing
	if out.Verdict, err = a.ofDays(ctx, f, rows.total, seen); err != nil {
		return out, err
	}
	if uncounted > 0 {
		out.Verdict += fmt.Sprintf(" Whether jobs failed is unknown for %s.", counted(uncounted, "more application"))
	}
	if err := a.addCritical(ctx, p, rows.candidates()); err != nil {
		return out, err
	}
	a.addCosts(ctx, p, rows.candidates())
	return out, fill(&out, rows)
}

// addCosts adds what the applications shown cost.
func (a answers) addCosts(ctx context.Context, p *progress, shown []*Application) {
	p.begin("read the costs")
	usd := map[tables.Cluster]map[string]*float64{}
	for _, row := range shown {
		of, known := usd[row.id.Cluster]
		if !known {
			of = map[string]*float64{}
			usd[row.id.Cluster] = of
			f := lake.Filter{Account: row.id.Account, Region: row.id.Region, ClusterID: row.ClusterID}
			for cost, err := range a.rows.Costs(ctx, f) {
				if err != nil {
					break // unknown, which is no fault of the list
				}
				of[cost.ApplicationID+"/"+cost.AttemptID] = cost.USD
			}
			p.row()
		}
		row.USD = rounded(of[row.ApplicationID+"/"+row.AttemptID])
	}
}

// addCritical counts the critical findings of the applications shown, of those that were read.
func (a answers) addCritical(ctx context.Context, p *progress, shown []*Application) error {
	p.begin("read the findings")
	counts := lake.Ahead(ctx, len(shown), a.rows.AtOnce(), func(ctx context.Context, i int) (*int, error) {
		return a.critical(ctx, shown[i])
	})
	i := 0
	for count, err := range counts {
		if err != nil {
			return fmt.Errorf("read the findings of %s: %w", shown[i].ApplicationID, err)
		}
		shown[i].CriticalFindings = count
		i++
		p.row()
	}
	return nil
}

// critical counts the critical findings of an application, nil if it was not read or is not judged.
func (a answers) critical(ctx context.Context, row *Application) (*int, error) {
	if row.Source == "" {
		return nil, nil
	}
	held, err := a.rows.Held(ctx, row.id)
	if _, unread := errors.AsType[*Unread](err); unread || err == nil && (held == nil || held.Judged == "") {
		return nil, nil
	}
	if err != nil {
		return nil, err // callers name the application
	}
	found, err := read[tables.Finding](ctx, held, "severity", "not_checked")
	n := 0
	for _, f := range found {
		if f.NotChecked == "" && f.Severity == string(rules.Critical) {
			n++
		}
	}
	return &n, err
}
