package collector

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/internal/bench/stats"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Lines are the log lines of a run.
const Lines = 100_000

// Figures are about one build.
type Figures struct {
	CPU        float64 // CPU time for Lines, in seconds: median
	BinaryMB   float64
	DownloadMB float64 // what a node downloads: the binary gzipped
}

// Result compares the builds.
type Result struct {
	Release, Development Figures
	// CPURatio is the release build's CPU time relative to the development build's:
	// median of pairs.
	CPURatio float64
}

// Measure runs pairs of collectors in turn, one of each build, some 15 s a run. It
// needs unshare and go: it compiles a build that the artifact store lacks, which
// takes minutes. A run fails unless every line arrives.
func Measure(ctx context.Context, pairs int) (r Result, err error) {
	if pairs < 1 {
		return r, fmt.Errorf("measure collectors: pairs: %d: must be at least 1", pairs)
	}
	dir, err := os.MkdirTemp("", "bench-collector-")
	if err != nil {
		return r, fmt.Errorf("measure collectors: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	figures := map[artifacts.Build]*Figures{artifacts.Release: &r.Release, artifacts.Development: &r.Development}
	for build, f := range figures {
		if *f, err = unpack(ctx, build, filepath.Join(dir, string(build))); err != nil {
			return r, fmt.Errorf("measure collectors: unpack the %s build: %w", build, err)
		}
	}
	order := []artifacts.Build{artifacts.Release, artifacts.Development}
	cpu := map[artifacts.Build][]float64{}
	var ratios []float64
	for range pairs {
		for _, build := range order {
			seconds, err := runMachine(ctx, filepath.Join(dir, string(build)))
			if err != nil {
				return r, fmt.Errorf("measure collectors: run the %s build: %w", build, err)
			}
			cpu[build] = append(cpu[build], seconds)
		}
		last := len(cpu[artifacts.Release]) - 1
		ratios = append(ratios, cpu[artifacts.Release][last]/cpu[artifacts.Development][last])
		slices.Reverse(order)
	}
	for build, f := range figures {
		f.CPU = stats.Median(cpu[build])
	}
	r.CPURatio = stats.Median(ratios)
	return r, nil
}

// unpack writes a build's binary to path and returns its sizes.
func unpack(ctx context.Context, build artifacts.Build, path string) (f Figures, err error) {
	store, err := artifacts.DefaultStore()
	if err != nil {
		return f, err
	}
	name := platform.ArtifactCollector(runtime.GOARCH)
	if err := artifacts.Ensure(ctx, store, build, nil, name); err != nil {
		return f, err
	}
	locked, err := artifacts.Locked(build)
	if err != nil {
		return f, err
	}
	a := locked[slices.IndexFunc(locked, func(a artifacts.Artifact) bool { return a.Name == name })] // Ensure has found it
	packed, err := store.Path(a)
	if err != nil {
		return f, err
	}
	size, err := gunzip(packed, path)
	return Figures{BinaryMB: float64(size) / 1e6, DownloadMB: float64(a.Size) / 1e6}, err
}

// gunzip unpacks a file into an executable one and returns its size.
func gunzip(from, to string) (size int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", from, err)
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(out, z) //nolint:gosec // an artifact whose checksum the lock file has
	return size, errors.Join(err, out.Close())
}

// runMachine starts this program again, in namespaces of its own and with RunMachine
// as its task, and returns the collector's CPU time.
func runMachine(ctx context.Context, binary string) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "unshare", "--map-root-user", "--user", "--mount", "--net", "--pid", "--fork", "--kill-child",
		self, MachineCommand, binary)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	var run machineRun
	if err := json.Unmarshal(out, &run); err != nil {
		return 0, fmt.Errorf("read the result %q: %w", out, err)
	}
	return run.CPU, nil
}
