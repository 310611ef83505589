package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
	"github.com/emr-observatory/emr-observatory/submit"
)

// upResult is what came of `up`: for people a few tables, for programs JSON.
type upResult struct {
	Stack   string            `json:"stack"`
	Cluster string            `json:"cluster"` // j-…
	Bucket  string            `json:"bucket"`
	Job     *submit.Result    `json:"job,omitempty"` // left out with --no-job
	Objects map[string]int    `json:"objects"`       // by S3 path
	URLs    map[string]string `json:"urls"`          // by what is there
}

// look counts the objects and collects where to look.
func (o session) look(ctx context.Context, stack string, have outputs.Outputs, job *submit.Result) (upResult, error) {
	r := upResult{Stack: stack, Cluster: have.EMRClusterID, Bucket: have.DataBucket, Job: job, Objects: map[string]int{}, URLs: urls(o.running)}
	counts, err := objectCounts(ctx, have.DataBucket)
	if err != nil {
		return r, err
	}
	for _, prefix := range platform.Prefixes() {
		r.Objects[prefix.URI(have.DataBucket)] = counts[prefix]
	}
	return r, nil
}

func urls(running localcloud.Running) map[string]string {
	return map[string]string{
		"YARN ResourceManager":      running.URL("resourcemanager"),
		"Spark history":             running.URL("history"),
		"metrics (VictoriaMetrics)": running.URL(string(platform.WorkloadVictoriaMetrics)) + "/vmui",
		"logs (VictoriaLogs)":       running.URL(string(platform.WorkloadVictoriaLogs)) + "/select/vmui",
		"profiles (Pyroscope)":      running.URL(string(platform.WorkloadPyroscope)),
		"traces (Tempo API)":        running.URL(string(platform.WorkloadTempo)) + "/api/search",
		"status":                    running.URL("status") + "/status",
		"S3":                        running.URL("s3"),
		"EMR API":                   running.URL("emr"),
	}
}

// render says what came of it, where to look, and what to try next.
func (r upResult) render(out io.Writer) {
	fmt.Fprintln(out)
	if j := r.Job; j != nil {
		took := ""
		if j.Started != nil && j.Ended != nil {
			took = " in " + j.Ended.Sub(*j.Started).Round(time.Second).String()
		}
		fmt.Fprintf(out, "Job %s: step %s %s%s, trace %s\n\n", j.Name, j.StepID, j.State, took, j.TraceID)
	}
	two(out, "S3 path", "objects", r.Objects)
	two(out, "what", "URL", r.URLs)
	fmt.Fprint(out, "\nTry next:\n"+
		"  bin/observatory dashboards check                 every panel's query, run against this data\n"+
		"  bin/observatory submit --wait your-job.py        your own job on the same cluster\n"+
		"  bin/observatory status                           what runs, and what cannot be had locally\n")
}

// two writes a table of two columns, sorted by the first.
func two[V any](out io.Writer, left, right string, rows map[string]V) {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{left, right})
	for _, k := range slices.Sorted(maps.Keys(rows)) {
		t.AppendRow(table.Row{k, rows[k]})
	}
	t.Render()
}
