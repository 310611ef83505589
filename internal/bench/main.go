// Command bench measures what the platform costs, and writes bench.json. Every
// figure that depends on the machine is a ratio of two things measured by turns
// in the same run, or stands beside the machine it was measured on. It brings
// up a local cloud of its own, and with -cold a second one from a fresh clone
// with empty caches (half an hour). Nothing here is asserted: tests do not wait
// for an idle machine.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/emr-observatory/emr-observatory/internal/bench/jvm"
)

// result is bench.json. Seconds and GiB are of this machine; ratios are medians
// of pairs.
type result struct {
	Machine string    `json:"machine"`
	When    time.Time `json:"when"`
	Load    float64   `json:"load_before"` // load average of the minute before

	UpNoopOverEmpty float64            `json:"up_noop_over_empty"`       // engine's part of an up without changes, to an empty program
	ColdSeconds     float64            `json:"make_up_cold_s,omitempty"` // only with -cold
	WarmSeconds     float64            `json:"make_up_warm_s"`
	WarmParts       map[string]float64 `json:"make_up_warm_parts_s"`
	BootstrapMB     float64            `json:"bootstrap_mb"` // what one node downloads, 10^6 bytes
	BootstrapS      float64            `json:"bootstrap_s"`  // of the slowest node
	IdleGiB         float64            `json:"mem_idle_gib"` // proportional set size of all processes
	JobGiB          float64            `json:"mem_job_gib"`  // highest of a job
	IdleMiB         map[string]float64 `json:"mem_idle_mib_by_process"`
	JobMiB          map[string]float64 `json:"mem_job_mib_by_process"`
	JobRatio        float64            `json:"job_ratio"` // step with telemetry to the same without: no launcher, collectors stopped
	JobPairs        int                `json:"job_ratio_pairs"`
	JobRatios       []float64          `json:"job_ratios"`
	JobSeconds      float64            `json:"job_without_s"`
	JobCPURatio     float64            `json:"job_cpu_ratio"` // the whole machine's CPU time meanwhile, stores of the control node among it
	JobCPUSeconds   float64            `json:"job_cpu_without_s"`
	StartCPU        float64            `json:"jvm_start_cpu_s"`
	MainDelay       float64            `json:"jvm_main_delay_s"`
}

type options struct {
	pairs, rows int
	cold        bool
	out         string
}

func main() {
	var o options
	flag.IntVar(&o.pairs, "pairs", 7, "pairs of jobs and of JVM starts")
	flag.IntVar(&o.rows, "rows", 17_000_000, "rows of the job, so many that it takes a minute")
	flag.BoolVar(&o.cold, "cold", false, "measure also make up from a fresh clone with empty caches")
	flag.StringVar(&o.out, "o", "bench.json", "file to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures one part after the other. What has been measured is written
// even where a later part fails.
func run(ctx context.Context, o options) error {
	r := result{Machine: fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), When: time.Now().UTC().Truncate(time.Second), Load: load()}
	dir, err := os.MkdirTemp("", "observatory-bench-")
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // accounts of the nodes pass through it
		return err
	}
	c := cloud{state: filepath.Join(dir, "state"), program: "bin/observatory"}
	for _, part := range []struct {
		name    string
		measure func(context.Context, *result, options) error
	}{
		{"up, warm", c.warm}, {"bootstrap", c.bootstrap}, {"memory when idle", c.idle},
		{"up without changes", c.noop}, {"memory in a job", c.memoryInAJob}, {"jobs", c.jobs}, {"down", c.down}, {"JVM starts", jvms}, {"up, cold", cold},
	} {
		begun := time.Now()
		say("%s", part.name)
		err = part.measure(ctx, &r, o)
		if err != nil {
			err = fmt.Errorf("%s: %w", part.name, err)
			break
		}
		say("%s: measured in %s", part.name, time.Since(begun).Round(time.Second))
	}
	ended := c.end() // where a part failed before down
	if ended == nil {
		ended = os.RemoveAll(dir)
	}
	err = errors.Join(err, ended)
	text, fault := json.MarshalIndent(r, "", "  ")
	if fault == nil {
		fault = os.WriteFile(o.out, append(text, '\n'), 0o644) //nolint:gosec // for everyone to read
	}
	r.render()
	return errors.Join(err, fault)
}

func jvms(ctx context.Context, r *result, o options) error {
	got, err := jvm.Measure(ctx, o.pairs)
	r.StartCPU, r.MainDelay = got.StartCPU, got.MainDelay
	return err
}

// render shows the figures beside the bars they are held against.
func (r result) render() {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"what", "measured", "at most"})
	for _, row := range []struct {
		what     string
		measured float64
		bar      string
	}{
		{"up without changes : empty program", r.UpNoopOverEmpty, "2.0"},
		{"make up, cold, s", r.ColdSeconds, "720"},
		{"make up, warm, s", r.WarmSeconds, "120"},
		{"bootstrap, MB", r.BootstrapMB, "60"},
		{"bootstrap, s", r.BootstrapS, "15"},
		{"memory idle, GiB", r.IdleGiB, "2.5"},
		{"memory in a job, GiB", r.JobGiB, "5"},
		{"job with telemetry : without", r.JobRatio, "1.05"},
		{"start of a JVM, s CPU", r.StartCPU, "2"},
		{"main delayed, s", r.MainDelay, "0.1"},
	} {
		measured := "not measured"
		if row.measured != 0 {
			measured = fmt.Sprintf("%.2f", row.measured)
		}
		t.AppendRow(table.Row{row.what, measured, row.bar})
	}
	t.Render()
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
