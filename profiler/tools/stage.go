package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// StageIn selects a stage.
type StageIn struct {
	Which
	Page

	StageID        *int64 `json:"stage_id,omitempty" jsonschema:"stage; getsloweststages lists them. It must be given, unless there is a cursor"`
	StageAttemptID *int64 `json:"stage_attempt_id,omitempty" jsonschema:"attempt of the stage, from 0; by default all"`
}

// StageDetail is a stage with what its tasks did.
type StageDetail struct {
	Stage

	Quantiles []Quantiles   `json:"quantiles" jsonschema:"over its successful tasks"`
	Hosts     []HostTasks   `json:"hosts" jsonschema:"the hosts whose tasks took longest, at most 5"`
	Failures  []TaskFailure `json:"failures" jsonschema:"why attempts of tasks failed, grouped; needs the table tasks"`
	Findings  []Finding     `json:"findings"`
}

// Quantiles are those of a metric.
type Quantiles struct {
	Metric string `json:"metric"`
	Min    int64  `json:"min"`
	P25    int64  `json:"p25"`
	P50    int64  `json:"p50"`
	P75    int64  `json:"p75"`
	Max    int64  `json:"max"`
}

// HostTasks are the tasks of a stage that ran on a host.
type HostTasks struct {
	Host       string `json:"host"`
	Tasks      int64  `json:"tasks"`
	MeanMillis int64  `json:"mean_ms"`
}

// TaskFailure groups failures of tasks.
type TaskFailure struct {
	Reason string `json:"reason" jsonschema:"text of the job, cut"`
	Tasks  int    `json:"tasks"`
	Host   string `json:"host" jsonschema:"of the first one"`
}

func (a answers) stage(ctx context.Context, p *progress, in *StageIn) (Answer[StageDetail], error) {
	var out Answer[StageDetail]
	if in.StageID == nil {
		return out, errors.New("stage_id: must be given; getsloweststages lists the stages")
	}
	s, err := a.find(ctx, p, in.Which, &in.Page)
	if err != nil {
		return out, err
	}
	s.latest(1)
	all, err := open(ctx, a, p, s, &out)
	if err != nil {
		return out, err
	}
	o := &all[0] // open leaves one at least
	stages, err := stagesOf(ctx, p, o)
	if err != nil {
		return out, err
	}
	rows := newPage[StageDetail](&in.Page)
	for _, stage := range stages {
		if stage.StageID != *in.StageID || in.StageAttemptID != nil && *in.StageAttemptID != stage.StageAttemptID {
			continue
		}
		detail, collected, err := detailOf(ctx, o, stage)
		if err != nil {
			return out, err
		}
		if !collected {
			out.notCheck("tasks", "the table tasks was not collected (--include-tasks): only the slowest host is shown, and no failures")
		}
		rows.add(detail, 0, numbered(stage.StageAttemptID))
	}
	if rows.total == 0 {
		return out, fmt.Errorf("stage_id %d: application %s has no such stage that ran, among %d; getsloweststages lists them", *in.StageID,
			o.ApplicationID, len(stages))
	}
	return out, fill(&out, rows)
}

// detailOf describes a stage by its rows of all tables. collected reports whether the application
// has the table tasks.
func detailOf(ctx context.Context, o *opened, s stage) (d StageDetail, collected bool, err error) {
	d = StageDetail{Stage: s.Stage, Quantiles: []Quantiles{}, Hosts: []HostTasks{}, Failures: []TaskFailure{}, Findings: []Finding{}}
	for _, of := range []struct {
		metric string
		values []float64
	}{
		{"duration_ms", s.summary.Duration}, {"gc_time_ms", s.summary.JVMGCTime}, {"input_bytes", s.summary.InputBytes},
		{"shuffle_read_bytes", s.summary.ShuffleReadBytes}, {"disk_bytes_spilled", s.summary.DiskBytesSpilled},
	} {
		if v := of.values; len(v) > tables.Highest {
			d.Quantiles = append(d.Quantiles, Quantiles{of.metric, measured(v[0]), measured(v[1]), measured(v[2]), measured(v[3]), measured(v[4])})
		}
	}
	for _, f := range o.findings {
		if f.StageID != nil && *f.StageID == s.StageID && known(f.StageTry) == s.StageAttemptID {
			d.Findings = append(d.Findings, newFinding(f, ""))
		}
	}
	if o.held.Rows(tables.Table((*tables.Task)(nil))) > 0 {
		return d, true, d.addTasks(ctx, o)
	}
	if s.summary.WorstHost != nil {
		d.Hosts = append(d.Hosts, HostTasks{*s.summary.WorstHost, known(s.summary.WorstHostTasks), measured(known(s.summary.WorstHostMean))})
	}
	return d, o.NumTasks == 0, nil
}

const mostHosts = 5

// addTasks groups the tasks of the stage: the successful ones by host, the failed ones by why they
// failed.
func (d *StageDetail) addTasks(ctx context.Context, o *opened) error {
	hosts, failures := map[string]*HostTasks{}, map[string]*TaskFailure{}
	total := map[string]int64{}
	for t, err := range lake.ReadSelected[tables.Task](ctx, o.held, lake.Selection{
		Columns: []string{"stage_id", "stage_attempt_id", "host", "status", "duration", "error_message"},
	}) {
		switch {
		case err != nil:
			return err // names the table
		case t.StageID != d.StageID || t.StageAttemptID != d.StageAttemptID:
		case t.Status == taskSucceeded && t.Duration != nil:
			if hosts[t.Host] == nil {
				hosts[t.Host] = &HostTasks{Host: t.Host}
			}
			hosts[t.Host].Tasks++
			total[t.Host] += *t.Duration
		case t.Status == taskFailed:
			reason := mark(firstLine(known(t.ErrorMessage)))
			if failures[reason] == nil {
				failures[reason] = &TaskFailure{Reason: reason, Host: t.Host}
			}
			failures[reason].Tasks++
		}
	}
	for name, host := range hosts {
		host.MeanMillis = measured(float64(total[name]) / float64(host.Tasks))
		d.Hosts = append(d.Hosts, *host)
	}
	slices.SortFunc(d.Hosts, func(a, b HostTasks) int { return order(a.MeanMillis, b.MeanMillis, a.Host, b.Host) })
	d.Hosts = d.Hosts[:min(mostHosts, len(d.Hosts))]
	for _, failure := range failures {
		d.Failures = append(d.Failures, *failure)
	}
	slices.SortFunc(d.Failures, func(a, b TaskFailure) int { return order(int64(a.Tasks), int64(b.Tasks), a.Reason, b.Reason) })
	d.Failures = d.Failures[:min(mostHosts, len(d.Failures))]
	return nil
}

// Statuses of tasks (tables.Task).
const (
	taskSucceeded = "SUCCESS"
	taskFailed    = "FAILED"
)
