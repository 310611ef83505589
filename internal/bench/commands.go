package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/internal/bench/collector"
	"github.com/emr-observatory/emr-observatory/internal/bench/history"
	"github.com/emr-observatory/emr-observatory/internal/bench/jvm"
	"github.com/emr-observatory/emr-observatory/internal/bench/stats"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// measureUnchangedUp runs up without changes and the update of an empty program
// in turn. up itself measures its guard and its update.
func (c cloud) measureUnchangedUp(ctx context.Context, r *result, _ options) error {
	empty, err := emptyStack(ctx, filepath.Join(filepath.Dir(c.state), "empty"))
	if err != nil {
		return err
	}
	var emptySeconds, updates, guarded []float64
	for range 7 {
		start := time.Now()
		if _, err := empty.Up(ctx, optup.SuppressProgress()); err != nil {
			return err
		}
		base := time.Since(start).Seconds()
		var up upResult
		if err := c.observatory(ctx, &up, "up", "--no-job", "--json"); err != nil {
			return err
		}
		preview, update := up.Seconds["guard"], up.Seconds["stack"]
		if preview == 0 || update == 0 {
			return fmt.Errorf("up measured no guard or no update: %v", up.Seconds)
		}
		logf("up without changes: preview %.2f s, update %.2f s; update of an empty program %.2f s", preview, update, base)
		emptySeconds = append(emptySeconds, base)
		updates, guarded = append(updates, update/base), append(guarded, (preview+update)/base)
	}
	r.EmptyUpdateSeconds, r.UpdateRatio, r.GuardedUpdateRatio = stats.Median(emptySeconds), stats.Median(updates), stats.Median(guarded)
	return nil
}

// emptyStack returns a stack without resources on the same engine.
func emptyStack(ctx context.Context, dir string) (auto.Stack, error) {
	engine, err := servers.Find(ctx, servers.Pulumi)
	if err != nil {
		return auto.Stack{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return auto.Stack{}, err
	}
	// The Automation API looks for the engine in this process's PATH.
	if err := os.Setenv("PATH", filepath.Dir(engine)+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		return auto.Stack{}, err
	}
	nothing := func(*pulumi.Context) error { return nil }
	return auto.UpsertStackInlineSource(ctx, "empty", "empty", nothing, auto.EnvVars(map[string]string{
		"PULUMI_BACKEND_URL": "file://" + dir, "PULUMI_CONFIG_PASSPHRASE": "empty", "PULUMI_HOME": filepath.Join(dir, "home"),
		"PULUMI_SKIP_UPDATE_CHECK": "true", "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "true",
	}))
}

// measureRehearsal runs a rehearsal once to build what is missing, then three
// times.
func measureRehearsal(ctx context.Context, r *result, _ options) error {
	var seconds []float64
	for i := range 4 {
		start := time.Now()
		out, err := exec.CommandContext(ctx, program, "rehearse", "--stack", "dev").CombinedOutput()
		if err != nil {
			return fmt.Errorf("observatory rehearse: %w\n%s", err, out)
		}
		if i > 0 {
			seconds = append(seconds, time.Since(start).Seconds())
		}
	}
	logf("rehearsals of stack dev: %.1f s", seconds)
	r.RehearsalSeconds = stats.Median(seconds)
	return nil
}

// busyJVM is how long two cores of a JVM run tasks.
const busyJVM = 90 * time.Second

func measureJVMStarts(ctx context.Context, r *result, o options) (err error) {
	r.jvmFigures, err = jvm.Measure(ctx, o.pairs, busyJVM)
	return err
}

// samplingPairs take one or two minutes.
const samplingPairs = 30

func measureSampling(ctx context.Context, r *result, _ options) (err error) {
	r.SamplingRatio, err = jvm.MeasureSampling(ctx, samplingPairs)
	return err
}

// historyPairs are the turns of readers of a log: each reads for some seconds.
const historyPairs = 3

func measureHistory(ctx context.Context, r *result, o options) (err error) {
	r.historyFigures, err = history.Measure(ctx, ".", o.historyMB*1_000_000, historyPairs)
	return err
}

// queryPairs are the turns of a question to the tables of a year and to their compacted objects.
const queryPairs = 5

func measureQueries(ctx context.Context, r *result, _ options) (err error) {
	python := os.Getenv("OBSERVATORY_PYTHON")
	if python == "" {
		return errors.New("OBSERVATORY_PYTHON is not set: `make bench` sets it to a Python with DuckDB")
	}
	r.queryFigures, err = history.MeasureQueries(ctx, ".", python, queryPairs)
	return err
}

func measureCollectors(ctx context.Context, r *result, o options) error {
	got, err := collector.Measure(ctx, o.pairs)
	r.collectorFigures = collectorFigures{
		ReleaseCPU: got.Release.CPU, DevelopmentCPU: got.Development.CPU, BuildCPURatio: got.CPURatio,
		ReleaseMB: got.Release.BinaryMB, DevelopmentMB: got.Development.BinaryMB,
		ReleaseDownloadMB: got.Release.DownloadMB, DevelopmentDownloadMB: got.Development.DownloadMB,
	}
	return err
}

// measureCold measures make up from a fresh clone with every cache empty.
func measureCold(ctx context.Context, r *result, o options) error {
	if !o.cold {
		logf("skipped: only with -cold")
		return nil
	}
	dir, err := os.MkdirTemp("", "observatory-cold-")
	if err != nil {
		return err
	}
	defer func() {
		_ = exec.Command("chmod", "-R", "u+w", dir).Run() // Go's module cache is read-only
		_ = os.RemoveAll(dir)
	}()
	clone := filepath.Join(dir, "clone")
	if err := errors.Join(os.Chmod(dir, 0o755), exec.CommandContext(ctx, "git", "clone", "-q", ".", clone).Run()); err != nil {
		return err
	}
	inClone := func(ctx context.Context, target string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "make", target)
		cmd.Dir = clone
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir+"/cache", "GOCACHE="+dir+"/go-build", "GOMODCACHE="+dir+"/go-mod",
			"MAVEN_ARGS=-Dmaven.repo.local="+dir+"/m2", "PIP_CACHE_DIR="+dir+"/pip")
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		return cmd
	}
	start := time.Now()
	err = inClone(ctx, "up").Run()
	r.ColdSeconds = time.Since(start).Seconds()
	return errors.Join(err, inClone(context.WithoutCancel(ctx), "down").Run())
}
