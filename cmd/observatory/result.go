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
	URLs    map[string]string `json:"urls"`          // by service

	Seconds map[string]float64 `json:"seconds"` // what each part took: materials, cloud, guard, stack, job
}

// took notes what a part took since begun.
func (r *upResult) took(part string, begun time.Time) {
	if r.Seconds == nil {
		r.Seconds = map[string]float64{}
	}
	r.Seconds[part] = time.Since(begun).Seconds()
}

// look counts the objects and collects where to look.
func (o session) look(ctx context.Context, stack string, have outputs.Outputs, r *upResult) error {
	r.Stack, r.Cluster, r.Bucket, r.Objects, r.URLs = stack, have.EMRClusterID, have.DataBucket, map[string]int{}, urls(o.running)
	counts, err := objectCounts(ctx, have.DataBucket)
	if err != nil {
		return err
	}
	for _, prefix := range platform.Prefixes() {
		r.Objects[prefix.URI(have.DataBucket)] = counts[prefix]
	}
	return nil
}

// services are what a person may look at, in the order in which help is wanted.
func services() []struct{ name, what, path string } {
	return []struct{ name, what, path string }{
		{"resourcemanager", "YARN ResourceManager", ""},
		{"history", "Spark history", ""},
		{string(platform.WorkloadVictoriaMetrics), "metrics (VictoriaMetrics)", "/vmui"},
		{string(platform.WorkloadVictoriaLogs), "logs (VictoriaLogs)", "/select/vmui"},
		{string(platform.WorkloadPyroscope), "profiles (Pyroscope)", ""},
		{string(platform.WorkloadTempo), "traces (Tempo API)", "/api/search"},
		{"status", "status", "/status"},
		{"s3", "S3", ""},
		{"emr", "EMR API", ""},
	}
}

func urls(running localcloud.Running) map[string]string {
	out := map[string]string{}
	for _, s := range services() {
		out[s.name] = running.URL(s.name) + s.path
	}
	return out
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
	var paths, places []table.Row
	for _, path := range slices.Sorted(maps.Keys(r.Objects)) {
		paths = append(paths, table.Row{path, r.Objects[path]})
	}
	for _, s := range services() {
		places = append(places, table.Row{s.what, r.URLs[s.name]})
	}
	writeTable(out, table.Row{"S3 path", "objects"}, paths)
	writeTable(out, table.Row{"what", "URL"}, places)
	fmt.Fprint(out, "\nTry next:\n"+
		"  bin/observatory dashboards check                 every panel's query, run against this data\n"+
		"  bin/observatory submit --wait your-job.py        your own job on the same cluster\n"+
		"  bin/observatory status                           what runs, and what cannot be had locally\n")
}

func writeTable(out io.Writer, header table.Row, rows []table.Row) {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(header)
	t.AppendRows(rows)
	t.Render()
}
