package jvm

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/platform"
)

var (
	//go:embed machine.sh
	machine []byte
	//go:embed java/Executor.java
	executor []byte
	//go:embed java/Receiver.java
	receiver []byte
)

// lifetime of each JVM: longer than platform.CollectionInterval, at which metrics
// and profiles are sent, so that one round is counted.
const lifetime = 16 * time.Second

// Result is what was measured. Times are in seconds; the differences are
// medians of pairs, with minus without.
type Result struct {
	Pairs      int     `json:"pairs"`
	StartCPU   float64 `json:"jvm_start_cpu_s"`   // more CPU time, user and system, of a JVM of 16 s
	MainDelay  float64 `json:"main_delay_s"`      // later start of the main method
	CPUWithout float64 `json:"jvm_cpu_without_s"` // median without telemetry
	CPUWith    float64 `json:"jvm_cpu_with_s"`    // median with telemetry
}

// Measure runs pairs of JVMs by turns, one without and one with the launcher,
// about 33 s each pair. It needs a JDK, unshare, and the node's artifacts in
// the store (make artifacts). It fails if a JVM with the launcher sent no
// metrics or no profiles: an empty measurement would look good.
func Measure(ctx context.Context, pairs int) (Result, error) {
	if pairs < 1 {
		return Result{}, fmt.Errorf("measure JVMs: pairs: %d: must be at least 1", pairs)
	}
	dir, err := os.MkdirTemp("", "bench-jvm-")
	if err != nil {
		return Result{}, fmt.Errorf("measure JVMs: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := errors.Join(layNode(filepath.Join(dir, "node")), compile(ctx, dir)); err != nil {
		return Result{}, fmt.Errorf("measure JVMs: %w", err)
	}
	script := filepath.Join(dir, "machine.sh")
	if err := os.WriteFile(script, machine, 0o644); err != nil {
		return Result{}, fmt.Errorf("measure JVMs: %w", err)
	}
	out, err := run(ctx, "unshare", "--map-root-user", "--user", "--mount", "--net", "--pid", "--fork", "--kill-child",
		"bash", script, dir, platform.NodeInstallDir, fmt.Sprint(pairs), fmt.Sprint(lifetime.Milliseconds()),
		fmt.Sprint(int(platform.OTLPHTTP)), fmt.Sprint(int(platform.Pyroscope)))
	if err != nil {
		return Result{}, fmt.Errorf("measure JVMs: %w", err)
	}
	return parse(out, pairs)
}

// layNode puts what the bootstrap action leaves for a JVM.
func layNode(dir string) error {
	locked, err := artifacts.Locked()
	if err != nil {
		return err
	}
	store, err := artifacts.DefaultStore()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	facts := platform.FactControl + "=127.0.0.1\n"
	for _, label := range platform.HostLabels() {
		facts += string(label) + "=bench\n"
	}
	faults := []error{os.WriteFile(filepath.Join(dir, path.Base(platform.NodeFactsFile)), []byte(facts), 0o644)}
	for name, target := range map[string]string{
		platform.ArtifactLauncher: platform.NodeLauncherJar, platform.ArtifactProfiler: platform.NodeProfilerJar,
	} {
		i := slices.IndexFunc(locked, func(a artifacts.Artifact) bool { return a.Name == name })
		if i < 0 {
			faults = append(faults, fmt.Errorf("artifact %q: the lock has none of this name", name))
			continue
		}
		faults = append(faults, place(store, locked[i], filepath.Join(dir, path.Base(target))))
	}
	return errors.Join(faults...)
}

func place(store artifacts.Store, a artifacts.Artifact, target string) error {
	file, err := store.Path(a)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(target, content, 0o644)
}

func compile(ctx context.Context, dir string) error {
	args := []string{"-d", filepath.Join(dir, "classes")}
	for name, source := range map[string][]byte{"YarnCoarseGrainedExecutorBackend.java": executor, "Receiver.java": receiver} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, source, 0o644); err != nil {
			return err
		}
		args = append(args, file)
	}
	_, err := run(ctx, "javac", args...)
	return err
}

func run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(faults.String()))
	}
	return out.String(), nil
}

// sample is one JVM: seconds.
type sample struct{ cpu, delay float64 }

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
		return Result{}, fmt.Errorf("measure JVMs: %d runs without and %d with telemetry, wanted %d of each: %q", len(without), len(with), pairs, out)
	}
	for _, path := range []string{"/v1/metrics", "/ingest"} {
		if received[path] < pairs {
			return Result{}, fmt.Errorf("measure JVMs: %d requests of %s from %d JVMs: telemetry did not work", received[path], path, pairs)
		}
	}
	cpu := func(s sample) float64 { return s.cpu }
	r := Result{Pairs: pairs, CPUWithout: median(without, cpu), CPUWith: median(with, cpu)}
	var differences []sample
	for i := range pairs {
		differences = append(differences, sample{cpu: with[i].cpu - without[i].cpu, delay: with[i].delay - without[i].delay})
	}
	r.StartCPU = median(differences, cpu)
	r.MainDelay = median(differences, func(s sample) float64 { return s.delay })
	return r, nil
}

func median(samples []sample, value func(sample) float64) float64 {
	var values []float64
	for _, s := range samples {
		values = append(values, value(s))
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
