package jvm

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/bench/stats"
	"github.com/emr-observatory/emr-observatory/platform"
)

//go:embed machine.sh
var machine []byte

// running is how long each driver runs once its SparkContext has started: long
// enough for one round of metrics and profiles.
const running = platform.CollectionInterval + 4*time.Second

// Result compares drivers in local mode with and without the launcher. Differences are
// medians of pairs, with minus without, in seconds.
type Result struct {
	// More CPU time, from the JVM's start to its end some 14 seconds after its
	// SparkContext has started.
	StartCPU float64 `json:"jvm_start_cpu_s"`
	// PluginStartCPU is what of StartCPU the Spark plugin adds to the launcher: the
	// same with the plugin minus without, both with the launcher.
	PluginStartCPU float64 `json:"jvm_start_plugin_cpu_s"`
	// CPU time of threads in a JVM that runs tasks on two cores, relative to the whole
	// JVM's: the launcher's without the profiler's, and the listener of the plugin.
	ExporterShare float64 `json:"jvm_exporter_cpu_share"`
	ListenerShare float64 `json:"jvm_listener_cpu_share"`
	CPUWithout    float64 `json:"jvm_start_cpu_without_s"` // median without the launcher
	// Later start of the application's main method, which Spark's SparkSubmit calls.
	MainDelay float64 `json:"jvm_main_delay_s"`
}

// Measure runs pairs of drivers in turn, without and with the launcher, and a third
// with a launcher that has no plugin: about 60 s a pair. At last a driver runs
// queries for some time. It needs a JDK, unshare, and the node's artifacts in the
// store (make artifacts). It fails unless every JVM with the launcher sent metrics,
// logs and profiles, and those with the plugin spans: without them the launcher would
// look free.
func Measure(ctx context.Context, pairs int, busy time.Duration) (r Result, err error) {
	if pairs < 1 {
		return r, fmt.Errorf("measure JVMs: pairs: %d: must be at least 1", pairs)
	}
	n, err := newNode(ctx)
	if err != nil {
		return r, fmt.Errorf("measure JVMs: prepare node: %w", err)
	}
	defer func() { err = errors.Join(err, n.close()) }()
	if err := n.writeCommands(ctx, busy); err != nil {
		return r, fmt.Errorf("measure JVMs: %w", err)
	}
	script := n.path("machine.sh")
	if err := os.WriteFile(script, machine, 0o644); err != nil {
		return r, fmt.Errorf("measure JVMs: write script: %w", err)
	}
	out, err := n.run(ctx, "unshare", "--map-root-user", "--user", "--mount", "--net", "--pid", "--fork", "--kill-child",
		"bash", script, n.dir, platform.NodeInstallDir, fmt.Sprint(pairs),
		fmt.Sprint(int(platform.OTLPHTTP)), fmt.Sprint(int(platform.Pyroscope)))
	if err != nil {
		return r, fmt.Errorf("measure JVMs: run machine.sh: %w", err)
	}
	return parse(out, pairs)
}

// writeCommands writes the command lines that machine.sh runs. Only a launcher names
// the plugin, in a property that a job can replace.
func (n node) writeCommands(ctx context.Context, busy time.Duration) error {
	launcher := []string{"--conf", "spark.driver.defaultJavaOptions=-javaagent:" + platform.NodeLauncherJar}
	for _, d := range []struct {
		name    string
		options []string
		class   string
		runs    time.Duration
	}{
		{"without", nil, "Driver", running},
		{"unplugged", append([]string{"--conf", "spark.plugins.defaultList="}, launcher...), "Driver", running},
		{"with", launcher, "Driver", running},
		{"busy", append([]string{"--master", "local[2]"}, launcher...), "Busy", busy},
	} {
		options := slices.Concat([]string{"--master", "local[1]", "--driver-class-path", n.path("classes"),
			"--conf", platform.SparkSamplingRatio + "=1"}, d.options)
		command, err := n.driver(ctx, options, d.class, fmt.Sprint(d.runs.Milliseconds()))
		if err != nil {
			return fmt.Errorf("build the command line %s: %w", d.name, err)
		}
		if err := os.WriteFile(n.path(d.name), []byte(strings.Join(command, "\x00")+"\x00"), 0o644); err != nil {
			return fmt.Errorf("write the command line %s: %w", d.name, err)
		}
	}
	return nil
}

// sample is one run's CPU time and time from JVM start to main, in seconds.
type sample struct{ cpu, delay float64 }

func (s sample) cpuTime() float64   { return s.cpu }
func (s sample) mainDelay() float64 { return s.delay }

// parse reads machine.sh's output: a line `NAME USER SYSTEM MILLIS` per run, a line
// `threads EXPORTER LISTENER JVM` of the busy one, and one line per path received.
func parse(out string, pairs int) (r Result, err error) {
	samples := map[string][]sample{}
	received := map[string]int{}
	for line := range strings.Lines(out) {
		var name string
		var a, b, c float64
		switch n, _ := fmt.Sscanf(line, "%s %f %f %f", &name, &a, &b, &c); {
		case n == 4 && name == "threads":
			r.ExporterShare, r.ListenerShare = a/c, b/c
		case n == 4:
			samples[name] = append(samples[name], sample{cpu: a + b, delay: c / 1000})
		default:
			received[strings.TrimSpace(line)]++
		}
	}
	if r.ExporterShare <= 0 || r.ListenerShare <= 0 {
		return Result{}, fmt.Errorf("measure JVMs: no CPU time of the launcher's threads, or of the plugin's: %q", out)
	}
	without, unplugged, with := samples["without"], samples["unplugged"], samples["with"]
	if len(without) != pairs || len(unplugged) != pairs || len(with) != pairs {
		return Result{}, fmt.Errorf("measure JVMs: %d runs without, %d with the launcher alone and %d with all, must be %d each: %q",
			len(without), len(unplugged), len(with), pairs, out)
	}
	for path, least := range map[string]int{"/v1/metrics": 2 * pairs, "/v1/logs": 2 * pairs, "/ingest": 2 * pairs, "/v1/traces": pairs} {
		if received[path] < least {
			return Result{}, fmt.Errorf("measure JVMs: %d requests to %s, must be at least %d", received[path], path, least)
		}
	}
	all, plugin := differences(with, without), differences(with, unplugged)
	r.StartCPU, r.MainDelay = median(all, sample.cpuTime), median(all, sample.mainDelay)
	r.CPUWithout, r.PluginStartCPU = median(without, sample.cpuTime), median(plugin, sample.cpuTime)
	return r, nil
}

// differences returns more of the runs minus less, of the same turn.
func differences(more, less []sample) (found []sample) {
	for i := range more {
		found = append(found, sample{cpu: more[i].cpu - less[i].cpu, delay: more[i].delay - less[i].delay})
	}
	return found
}

func median[T any](values []T, value func(T) float64) float64 {
	var found []float64
	for _, v := range values {
		found = append(found, value(v))
	}
	return stats.Median(found)
}
