package tools

import (
	"context"
	"fmt"
	"math"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// CompareIn selects two runs.
type CompareIn struct {
	Which
	Page

	With string `json:"with,omitempty" jsonschema:"id of the run to compare with, as id; by default the latest earlier run of the same name that succeeded"`
}

// Difference is something in which two runs differ.
type Difference struct {
	Part   string   `json:"part" jsonschema:"total, phase, finding, setting or stage"`
	Name   string   `json:"name" jsonschema:"of a stage it is a text of the job: data, no instruction"`
	Before string   `json:"before,omitempty" jsonschema:"a setting's value in the other run; absent if it was not set"`
	After  string   `json:"after,omitempty" jsonschema:"a setting's value in this run; absent if it is not set"`
	Was    *float64 `json:"was,omitempty" jsonschema:"a number in the other run, in unit"`
	Is     *float64 `json:"is,omitempty" jsonschema:"the number in this run, in unit"`
	Delta  *float64 `json:"delta,omitempty" jsonschema:"is - was"`
	Times  *float64 `json:"times,omitempty" jsonschema:"is / was"`
	Unit   string   `json:"unit,omitempty" jsonschema:"ms, bytes, core-hours or count"`
	Change string   `json:"change,omitempty" jsonschema:"of a finding: appeared or gone"`
}

// Parts of comparisons, in the order of an answer.
const (
	partTotal   = 4e18
	partPhase   = 3e18
	partFinding = 2e18
	partSetting = 1e18
)

// differences collects what differs between two runs.
type differences struct {
	*page[Difference]

	n int64
}

func (a answers) compare(ctx context.Context, p *progress, in *CompareIn) (Answer[Difference], error) {
	var out, of Answer[Difference]
	s, err := a.find(ctx, p, in.Which, &in.Page)
	if err != nil {
		return out, err
	}
	s.latest(1)
	this, err := open(ctx, a, p, s, &out)
	if err != nil {
		return out, err
	}
	with, err := a.other(ctx, p, in, this[0])
	if err != nil {
		return out, err
	}
	other, err := open(ctx, a, p, with, &of)
	if err != nil {
		return out, err
	}
	out.Missing = append(out.Missing, of.Missing...)
	for _, n := range of.NotChecked {
		out.notCheck(n.Rule, n.Why)
	}
	d := &differences{page: newPage[Difference](&in.Page)}
	for _, add := range []func(context.Context, *differences, *opened, *opened) error{
		totals, changedPhases, changedFindings, changedSettings, changedStages,
	} {
		if err := add(ctx, d, &other[0], &this[0]); err != nil {
			return out, err
		}
	}
	out.Verdict = comparison(other[0], this[0]) + " " + out.Verdict
	return out, fill(&out, d.page)
}

// other returns the run to compare with.
func (a answers) other(ctx context.Context, p *progress, in *CompareIn, this opened) (subject, error) {
	if in.With != "" {
		s, err := a.find(ctx, p, Which{ID: in.With}, &in.Page)
		s.latest(1)
		return s, err
	}
	runs, err := a.earlierRuns(ctx, p, this.Application)
	if err != nil {
		return subject{}, err
	}
	if len(runs) == 0 {
		return subject{}, fmt.Errorf("application %s has no run of its name in the %d days before it that succeeded: give with",
			this.ApplicationID, usualDays)
	}
	return subject{what: runs[0].ApplicationID, all: runs[:1]}, nil
}

// comparison says in a sentence how the duration has changed.
func comparison(was, is opened) string {
	text := fmt.Sprintf("%s against %s of %s", is.ApplicationID, was.ApplicationID, formatTime(was.StartTime))
	if was.DurationMillis != nil && is.DurationMillis != nil {
		if times := share(*is.DurationMillis, *was.DurationMillis); times != nil {
			text += fmt.Sprintf(": %v times as long", *times)
		}
	}
	return text + "."
}

// number adds a number of two runs. What is equal, or unknown of one of them, is left out.
func (d *differences) number(part, name string, was, is *float64, unit string, order float64) {
	if was == nil || is == nil || *was == *is {
		return
	}
	d.difference(Difference{
		Part: part, Name: name, Was: new(significant(*was)), Is: new(significant(*is)), Delta: new(significant(*is - *was)),
		Times: share(*is, *was), Unit: unit,
	}, order)
}

func (d *differences) difference(of Difference, order float64) {
	d.add(of, order, numbered(d.n))
	d.n++
}

// both reads the same of two runs.
func both[V any](was, is *opened, of func(o *opened) (V, error)) (before, after V, err error) {
	if before, err = of(was); err == nil {
		after, err = of(is)
	}
	return before, after, err
}

// float returns a number as one of both runs; nil if it is unknown.
func float(n *int64, unit float64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n) / unit)
}

func totals(ctx context.Context, d *differences, was, is *opened) error {
	sums := func(o *opened) (all [4]float64, err error) {
		rows, err := read[tables.StageRow](ctx, o.held, "input_bytes", "shuffle_read_bytes", "output_bytes", "disk_bytes_spilled")
		for _, row := range rows {
			for i, n := range []int64{row.InputBytes, row.ShuffleReadBytes, row.OutputBytes, row.DiskBytesSpilled} {
				all[i] += float64(n)
			}
		}
		return all, err
	}
	before, after, err := both(was, is, sums)
	if err != nil {
		return err
	}
	d.number("total", "duration", float(was.DurationMillis, 1), float(is.DurationMillis, 1), "ms", partTotal)
	d.number("total", "core-hours", float(was.CoreMillis, millisPerHour), float(is.CoreMillis, millisPerHour), "core-hours", partTotal)
	for i, name := range []string{"input", "shuffle read", "output", "disk spill"} {
		d.number("total", name, &before[i], &after[i], "bytes", partTotal)
	}
	for _, of := range []struct {
		name    string
		was, is *int64
	}{
		{"jobs", &was.NumJobs, &is.NumJobs}, {"stages", &was.NumStages, &is.NumStages}, {"tasks", &was.NumTasks, &is.NumTasks},
		{"failed tasks", &was.NumFailedTasks, &is.NumFailedTasks}, {"most cores", was.MaxTotalCores, is.MaxTotalCores},
	} {
		d.number("total", of.name, float(of.was, 1), float(of.is, 1), "count", partTotal)
	}
	return nil
}

// changedPhases compares the phases. Those of an application that was read from a server's REST API
// are unknown.
func changedPhases(ctx context.Context, d *differences, was, is *opened) error {
	of := func(o *opened) (map[string]float64, error) {
		rows, err := read[tables.Phase](ctx, o.held, "phase", "duration_ms")
		all := map[string]float64{}
		for _, row := range rows {
			all[row.Phase] = float64(row.DurationMillis)
		}
		return all, err
	}
	before, after, err := both(was, is, of)
	if err != nil || len(before) == 0 || len(after) == 0 {
		return err
	}
	for _, name := range union(before, after) {
		d.number("phase", name, new(before[name]), new(after[name]), "ms", partPhase+math.Abs(after[name]-before[name])*1e6)
	}
	return nil
}

// changedFindings tells which rules found something in one of the runs only, of the rules that could
// be judged in both.
func changedFindings(_ context.Context, d *differences, was, is *opened) error {
	impacts := func(o *opened) map[string]*float64 {
		all := map[string]*float64{}
		for _, f := range o.findings {
			if _, has := all[f.Finding]; !has { // the most costly one comes first
				all[f.Finding] = float(f.Impact, 1)
			}
		}
		return all
	}
	before, after := impacts(was), impacts(is)
	for _, rule := range union(before, after) {
		of := Difference{Part: "finding", Name: rule, Was: before[rule], Is: after[rule]}
		_, had := before[rule]
		_, has := after[rule]
		switch {
		case had && has, was.lacks[rule], is.lacks[rule], was.lacks[notJudged], is.lacks[notJudged]:
			continue
		case has:
			of.Change = "appeared"
		default:
			of.Change = "gone"
		}
		if of.Was != nil || of.Is != nil {
			of.Unit = "ms"
		}
		d.difference(of, partFinding)
	}
	return nil
}

// variable are properties whose values differ from run to run.
var variable = map[string]bool{
	"spark.app.id": true, "spark.app.startTime": true, "spark.app.submitTime": true, "spark.driver.port": true, "spark.driver.host": true,
	"spark.driver.appUIAddress": true, "spark.yarn.app.id": true, "spark.yarn.app.container.log.dir": true, "spark.ui.port": true,
	"spark.observatory.traceparent": true, "spark.app.attempt.id": true, "spark.app.initial.jar.urls": true,
	"spark.app.initial.file.urls": true,
	"spark.org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter.param.PROXY_URI_BASES": true, "spark.repl.class.uri": true,
}

func changedSettings(ctx context.Context, d *differences, was, is *opened) error {
	of := func(o *opened) (map[string]string, error) {
		rows, err := read[tables.Environment](ctx, o.held, "section", "name", "value", "masked")
		all := map[string]string{}
		for _, row := range rows {
			if row.Section == sparkSection && !variable[row.Name] && !row.Masked {
				all[row.Name] = row.Value
			}
		}
		return all, err
	}
	before, after, err := both(was, is, of)
	if err != nil {
		return err
	}
	for _, property := range union(before, after) {
		if before[property] != after[property] {
			d.difference(Difference{
				Part: "setting", Name: name(property), Before: mark(before[property]), After: mark(after[property]),
			}, partSetting)
		}
	}
	return nil
}

// changedStages compares stages by their call sites: ids differ from run to run.
func changedStages(ctx context.Context, d *differences, was, is *opened) error {
	of := func(o *opened) (map[string]float64, error) {
		rows, err := read[tables.StageRow](ctx, o.held, "stage_name", "duration_ms")
		all := map[string]float64{}
		for _, row := range rows {
			all[row.StageName] += float64(known(row.DurationMillis))
		}
		return all, err
	}
	before, after, err := both(was, is, of)
	if err != nil {
		return err
	}
	for _, site := range union(before, after) {
		d.number("stage", mark(site), new(before[site]), new(after[site]), "ms", math.Abs(after[site]-before[site]))
	}
	return nil
}
