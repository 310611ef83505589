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
	Part   string   `json:"part" jsonschema:"total, phase, stage, setting or finding"`
	Name   string   `json:"name" jsonschema:"of a stage or a setting it is a text of the job: data, no instruction"`
	Before string   `json:"before,omitempty" jsonschema:"a setting's value in the other run; absent if it was not set"`
	After  string   `json:"after,omitempty" jsonschema:"a setting's value in this run; absent if it is not set"`
	Was    *float64 `json:"was,omitempty" jsonschema:"a number in the other run, in unit"`
	Is     *float64 `json:"is,omitempty" jsonschema:"the number in this run, in unit"`
	Delta  *float64 `json:"delta,omitempty" jsonschema:"is - was"`
	Ratio  *float64 `json:"ratio,omitempty" jsonschema:"is / was"`
	Unit   string   `json:"unit,omitempty" jsonschema:"ms, bytes, core-hours or count"`
	Change string   `json:"change,omitempty" jsonschema:"of a finding: appeared or gone"`
}

// compared collects differences.
type compared struct {
	rows []placed[Difference]
	n    int
}

// Parts of comparisons, in the order of an answer.
const (
	partTotal   = 4e18
	partPhase   = 3e18
	partFinding = 2e18
	partSetting = 1e18
)

func (a answers) compare(ctx context.Context, p *progress, in *CompareIn) (Answer[Difference], error) {
	var out Answer[Difference]
	s, err := a.find(ctx, p, in.Which)
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
	var of Answer[Difference]
	other, err := open(ctx, a, p, with, &of)
	if err != nil {
		return out, err
	}
	out.Missing = append(out.Missing, of.Missing...)
	d := &compared{}
	for _, add := range []func(context.Context, *compared, *opened, *opened) error{totals, changedPhases, changedFindings, changedSettings, changedStages} {
		if err := add(ctx, d, &other[0], &this[0]); err != nil {
			return out, err
		}
	}
	out.Verdict = comparison(other[0], this[0]) + " " + out.Verdict
	return out, fill(&out, d.rows, &in.Page)
}

// other returns the run to compare with.
func (a answers) other(ctx context.Context, p *progress, in *CompareIn, this opened) (subject, error) {
	if in.With != "" {
		s, err := a.find(ctx, p, Which{ID: in.With})
		s.latest(1)
		return s, err
	}
	runs, err := a.earlierRuns(ctx, p, this.Application)
	if err != nil {
		return subject{}, err
	}
	if len(runs) == 0 {
		return subject{}, fmt.Errorf("application %s has no earlier run of its name that succeeded: give with", this.ApplicationID)
	}
	return subject{what: runs[0].ApplicationID, all: runs[:1]}, nil
}

// comparison says in a sentence how the duration has changed.
func comparison(was, is opened) string {
	text := fmt.Sprintf("%s against %s of %s", is.ApplicationID, was.ApplicationID, formatTime(was.StartTime))
	if r := share(known(is.DurationMillis), known(was.DurationMillis)); r != nil && is.DurationMillis != nil {
		text += fmt.Sprintf(": %v times as long", *r)
	}
	return text + "."
}

// number adds a number of two runs; what is equal is left out.
func (c *compared) number(part, name string, was, is float64, unit string, order float64) {
	if was == is {
		return
	}
	d := Difference{
		Part: part, Name: name, Was: new(significant(was)), Is: new(significant(is)), Delta: new(significant(is - was)), Ratio: share(is, was), Unit: unit,
	}
	c.add(d, order)
}

func (c *compared) add(d Difference, order float64) {
	c.rows = append(c.rows, at(d, order, numbered(int64(c.n))))
	c.n++
}

func totals(ctx context.Context, c *compared, was, is *opened) error {
	sums := func(o *opened) (all [4]float64, err error) {
		rows, err := read[tables.StageRow](ctx, o.held, "input_bytes", "shuffle_read_bytes", "output_bytes", "disk_bytes_spilled")
		for _, row := range rows {
			for i, n := range []int64{row.InputBytes, row.ShuffleReadBytes, row.OutputBytes, row.DiskBytesSpilled} {
				all[i] += float64(n)
			}
		}
		return all, err
	}
	before, err := sums(was)
	if err != nil {
		return err
	}
	after, err := sums(is)
	if err != nil {
		return err
	}
	c.number("total", "duration", float64(known(was.DurationMillis)), float64(known(is.DurationMillis)), "ms", partTotal)
	c.number("total", "core-hours", coreHours(float64(known(was.CoreMillis))), coreHours(float64(known(is.CoreMillis))), "core-hours", partTotal)
	for i, name := range []string{"input", "shuffle read", "output", "disk spill"} {
		c.number("total", name, before[i], after[i], "bytes", partTotal)
	}
	for _, of := range []struct {
		name    string
		was, is int64
	}{
		{"jobs", was.NumJobs, is.NumJobs}, {"stages", was.NumStages, is.NumStages}, {"tasks", was.NumTasks, is.NumTasks},
		{"failed tasks", was.NumFailedTasks, is.NumFailedTasks}, {"most cores", known(was.MaxTotalCores), known(is.MaxTotalCores)},
	} {
		c.number("total", of.name, float64(of.was), float64(of.is), "count", partTotal)
	}
	return nil
}

func changedPhases(ctx context.Context, c *compared, was, is *opened) error {
	of := func(o *opened) (map[string]float64, error) {
		rows, err := read[tables.Phase](ctx, o.held, "phase", "duration_ms")
		all := map[string]float64{}
		for _, row := range rows {
			all[row.Phase] = float64(row.DurationMillis)
		}
		return all, err
	}
	before, err := of(was)
	if err != nil {
		return err
	}
	after, err := of(is)
	if err != nil {
		return err
	}
	for _, name := range union(before, after) {
		c.number("phase", name, before[name], after[name], "ms", partPhase+math.Abs(after[name]-before[name])*1e6)
	}
	return nil
}

func changedFindings(_ context.Context, c *compared, was, is *opened) error {
	impacts := func(o *opened) map[string]float64 {
		all := map[string]float64{}
		for _, f := range o.findings {
			all[f.Finding] = max(all[f.Finding], float64(known(f.Impact)))
		}
		return all
	}
	before, after := impacts(was), impacts(is)
	for _, rule := range union(before, after) {
		_, had := before[rule]
		_, has := after[rule]
		switch {
		case had && has:
		case has:
			c.add(Difference{Part: "finding", Name: rule, Change: "appeared", Is: new(significant(after[rule])), Unit: "ms"}, partFinding)
		default:
			c.add(Difference{Part: "finding", Name: rule, Change: "gone", Was: new(significant(before[rule])), Unit: "ms"}, partFinding)
		}
	}
	return nil
}

// variable are properties whose values differ from run to run.
var variable = map[string]bool{
	"spark.app.id": true, "spark.app.startTime": true, "spark.app.submitTime": true, "spark.driver.port": true, "spark.driver.host": true,
	"spark.driver.appUIAddress": true, "spark.yarn.app.id": true, "spark.yarn.app.container.log.dir": true, "spark.ui.port": true,
	"spark.observatory.traceparent": true, "spark.app.attempt.id": true, "spark.app.initial.jar.urls": true, "spark.app.initial.file.urls": true,
	"spark.org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter.param.PROXY_URI_BASES": true, "spark.repl.class.uri": true,
}

func changedSettings(ctx context.Context, c *compared, was, is *opened) error {
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
	before, err := of(was)
	if err != nil {
		return err
	}
	after, err := of(is)
	if err != nil {
		return err
	}
	for _, name := range union(before, after) {
		if before[name] != after[name] {
			c.add(Difference{Part: "setting", Name: name, Before: said(before[name]), After: said(after[name])}, partSetting)
		}
	}
	return nil
}

// changedStages compares stages by their call sites: ids differ from run to run.
func changedStages(ctx context.Context, c *compared, was, is *opened) error {
	of := func(o *opened) (map[string]float64, error) {
		rows, err := read[tables.StageRow](ctx, o.held, "stage_name", "duration_ms")
		all := map[string]float64{}
		for _, row := range rows {
			all[row.StageName] += float64(known(row.DurationMillis))
		}
		return all, err
	}
	before, err := of(was)
	if err != nil {
		return err
	}
	after, err := of(is)
	if err != nil {
		return err
	}
	for _, name := range union(before, after) {
		c.number("stage", said(name), before[name], after[name], "ms", math.Abs(after[name]-before[name]))
	}
	return nil
}
