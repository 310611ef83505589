package jvm

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// pair is one query's CPU time, in seconds, while the profiler records, and
// again while it does not.
type pair struct{ with, without float64 }

func (p pair) ratio() float64 { return p.with / p.without }

// MeasureSampling returns the CPU time of a Spark query while async-profiler
// records, relative to the same query without: the median of pairs in one warm
// JVM. async-profiler samples in signal handlers and allocation callbacks, on the
// threads that it samples, so no thread's CPU time shows this cost. Starting,
// stopping and sending a recording are not in it. It needs a JDK and the node's
// artifacts in the store (make artifacts).
func MeasureSampling(ctx context.Context, pairs int) (ratio float64, err error) {
	n, err := newNode(ctx)
	if err != nil {
		return 0, fmt.Errorf("measure sampling: %w", err)
	}
	defer func() { err = errors.Join(err, n.close()) }()
	classes := n.path("classes") + string(filepath.ListSeparator) + n.installed(platform.NodeLauncherJar)
	command, err := n.driver(ctx, []string{
		"--master", "local[2]", "--driver-class-path", classes, "--conf", "spark.ui.enabled=false",
	}, "observatory.launcher.Sampling", n.path("node"), fmt.Sprint(pairs))
	if err != nil {
		return 0, fmt.Errorf("measure sampling: %w", err)
	}
	out, err := n.run(ctx, command[0], command[1:]...)
	if err != nil {
		return 0, fmt.Errorf("measure sampling: %w", err)
	}
	found, err := parsePairs(out, pairs)
	if err != nil {
		return 0, fmt.Errorf("measure sampling: %w", err)
	}
	return median(found, pair.ratio), nil
}

// parsePairs reads what Sampling.java prints.
func parsePairs(out string, pairs int) ([]pair, error) {
	var found []pair
	for line := range strings.Lines(out) {
		var p pair
		if _, err := fmt.Sscan(line, &p.with, &p.without); err != nil || p.without <= 0 {
			return nil, fmt.Errorf("line %q: must be two CPU times", line)
		}
		found = append(found, p)
	}
	if len(found) == 0 || len(found) != pairs {
		return nil, fmt.Errorf("%d pairs, must be %d and at least 1: %q", len(found), pairs, out)
	}
	return found, nil
}
