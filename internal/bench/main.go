// Command bench measures what the platform costs and writes bench.json. Figures
// that depend on the machine are ratios of two measurements that alternate in the
// same run, or are listed with the machine that they were measured on. It brings
// up a local cloud of its own, and with -cold a second one from a fresh clone with
// empty caches (half an hour). It asserts nothing: tests run on busy machines too.
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
	"regexp"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/bench/collector"
	"github.com/emr-observatory/emr-observatory/internal/bench/history"
)

type options struct {
	pairs, rows int
	historyMB   int64
	cold        bool
	run         string
	out         string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) == 3 && os.Args[1] == collector.MachineCommand {
		exitOn(collector.RunMachine(ctx, os.Args[2], os.Stdout))
		return
	}
	if len(os.Args) > 2 && os.Args[1] == history.ReadCommand {
		exitOn(history.Run(ctx, os.Args[2:], os.Stdout))
		return
	}
	var o options
	flag.IntVar(&o.pairs, "pairs", 9, "turns of jobs, of JVM starts and of node collectors")
	flag.IntVar(&o.rows, "rows", 17_000_000, "rows of the job; the default takes about a minute")
	flag.Int64Var(&o.historyMB, "history-mb", 10_000, "10^6 bytes of the event log that history parse reads, uncompressed")
	flag.BoolVar(&o.cold, "cold", false, "also measure make up from a fresh clone with empty caches")
	flag.StringVar(&o.run, "run", "", "measure only the parts whose name matches this regular expression")
	flag.StringVar(&o.out, "o", "bench.json", "file to write")
	flag.Parse()
	exitOn(run(ctx, o))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// part is one measurement. It fills its keys of the result.
type part struct {
	name    string
	measure func(context.Context, *result, options) error
}

const program = "bin/observatory"

// run measures one part after the other and writes what has been measured, also
// if a part fails.
func run(ctx context.Context, o options) error {
	only, err := regexp.Compile(o.run)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	r := result{
		Machine: fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		When:    time.Now().UTC().Truncate(time.Second), Load: loadAverage(),
	}
	excluded := func(p part) bool { return !only.MatchString(p.name) }
	err = measureOnCloud(ctx, &r, o, excluded)
	if err == nil {
		err = measureParts(ctx, &r, o, slices.DeleteFunc([]part{
			{"rehearsal", measureRehearsal}, {"preview", measurePreviews}, {"JVM starts", measureJVMStarts}, {"sampling", measureSampling},
			{"node collector", measureCollectors}, {"history parse", measureHistory}, {"queries", measureQueries},
			{"up, cold", measureCold},
		}, excluded))
	}
	text, writeErr := json.MarshalIndent(r, "", "  ")
	if writeErr == nil {
		writeErr = os.WriteFile(o.out, append(text, '\n'), 0o644)
	}
	r.render()
	return errors.Join(err, writeErr)
}

// measureOnCloud brings up a local cloud in a temporary folder if a part needs
// one, and takes it down at the end. What follows is measured without it.
func measureOnCloud(ctx context.Context, r *result, o options, excluded func(part) bool) error {
	dir, err := os.MkdirTemp("", "observatory-bench-")
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	c := cloud{state: filepath.Join(dir, "state")}
	up := part{"up, warm", c.measureWarmUp}
	parts := slices.DeleteFunc([]part{
		{"node bootstrap", c.readBootstrapReports}, {"memory when idle", c.measureIdleMemory},
		{"up without changes", c.measureUnchangedUp}, {"processes of a job", c.measureJobProcesses},
		{"jobs", c.measureJobPairs},
	}, excluded)
	if len(parts) == 0 && excluded(up) {
		return os.RemoveAll(dir)
	}
	err = measureParts(ctx, r, o, append([]part{up}, parts...))
	if downErr := c.down(); downErr != nil {
		return errors.Join(err, downErr) // the folder names what still runs
	}
	return errors.Join(err, os.RemoveAll(dir))
}

func measureParts(ctx context.Context, r *result, o options, parts []part) error {
	for _, p := range parts {
		start := time.Now()
		logf("%s", p.name)
		if err := p.measure(ctx, r, o); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		logf("%s: measured in %s", p.name, time.Since(start).Round(time.Second))
	}
	return nil
}

func logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
