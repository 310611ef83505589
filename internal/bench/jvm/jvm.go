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

	"github.com/emr-observatory/emr-observatory/platform"
)

//go:embed machine.sh
var machine []byte

// running is how long each driver runs once its SparkContext has started: long
// enough for one round of metrics and profiles.
const running = platform.CollectionInterval + 4*time.Second

// Result compares drivers with and without the launcher. Differences are medians
// of pairs, with minus without.
type Result struct {
	StartCPU   float64 // more CPU time, in seconds, from the JVM's start to its end
	MainDelay  float64 // later start of the application's main method, in seconds
	CPUWithout float64 // median CPU time without the launcher, in seconds
}

// Measure runs pairs of drivers in turn, one without and one with the launcher,
// about 40 s a pair. It needs a JDK, unshare, and the node's artifacts in the
// store (make artifacts). It fails unless every JVM with the launcher sent
// metrics, logs and profiles: without them the launcher would look free.
func Measure(ctx context.Context, pairs int) (r Result, err error) {
	if pairs < 1 {
		return r, fmt.Errorf("measure JVMs: pairs: %d: must be at least 1", pairs)
	}
	n, err := newNode(ctx)
	if err != nil {
		return r, fmt.Errorf("measure JVMs: prepare node: %w", err)
	}
	defer func() { err = errors.Join(err, n.close()) }()
	for name, options := range map[string][]string{
		"without": nil, "with": {"--conf", "spark.driver.defaultJavaOptions=-javaagent:" + platform.NodeLauncherJar},
	} {
		options = append(options, "--master", "local[1]", "--driver-class-path", n.path("classes"))
		command, err := n.driver(ctx, options, "Driver", fmt.Sprint(running.Milliseconds()))
		if err != nil {
			return r, fmt.Errorf("measure JVMs: build the command line of the driver %s the launcher: %w", name, err)
		}
		if err := os.WriteFile(n.path(name), []byte(strings.Join(command, "\x00")+"\x00"), 0o644); err != nil {
			return r, fmt.Errorf("measure JVMs: write command file: %w", err)
		}
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

// sample is one run's CPU time and time from JVM start to main, in seconds.
type sample struct{ cpu, delay float64 }

func (s sample) cpuTime() float64   { return s.cpu }
func (s sample) mainDelay() float64 { return s.delay }

// parse reads machine.sh's output: a line `without|with USER SYSTEM MILLIS` per run,
// and one line per path received.
func parse(out string, pairs int) (Result, error) {
	samples := map[string][]sample{}
	received := map[string]int{}
	for line := range strings.Lines(out) {
		var name string
		var user, system, millis float64
		if n, _ := fmt.Sscanf(line, "%s %f %f %f", &name, &user, &system, &millis); n == 4 {
			samples[name] = append(samples[name], sample{cpu: user + system, delay: millis / 1000})
			continue
		}
		received[strings.TrimSpace(line)]++
	}
	without, with := samples["without"], samples["with"]
	if len(without) != pairs || len(with) != pairs {
		return Result{}, fmt.Errorf("measure JVMs: %d runs without and %d with the launcher, must be %d each: %q",
			len(without), len(with), pairs, out)
	}
	for _, path := range []string{"/v1/metrics", "/v1/logs", "/ingest"} {
		if received[path] < pairs {
			return Result{}, fmt.Errorf("measure JVMs: %d JVMs sent %d requests to %s, must be at least one each", pairs, received[path], path)
		}
	}
	var differences []sample
	for i := range pairs {
		differences = append(differences, sample{cpu: with[i].cpu - without[i].cpu, delay: with[i].delay - without[i].delay})
	}
	return Result{
		StartCPU: median(differences, sample.cpuTime), MainDelay: median(differences, sample.mainDelay),
		CPUWithout: median(without, sample.cpuTime),
	}, nil
}

func median[T any](values []T, value func(T) float64) float64 {
	var sorted []float64
	for _, v := range values {
		sorted = append(sorted, value(v))
	}
	slices.Sort(sorted)
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
