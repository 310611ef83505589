package phases_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/phases/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
)

// divide divides the run's wall clock with the Go engine.
func (r *run) divide(t *testing.T) phases.Result {
	t.Helper()
	id := r.application(t)
	logs, err := filepath.Glob(r.path("events/" + id + "*"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	file, err := os.Open(logs[0])
	require.NoError(t, err)
	defer file.Close()
	engine := phases.NewEngine()
	_, err = eventlog.Lines(file, logs[0], engine.Add)
	require.NoError(t, err)
	return engine.Result()
}

// The bars of a phase against the job's own clock.
const (
	tolerance      = 500 * time.Millisecond
	toleranceShare = 0.02
)

// requireAccount compares a division with the job's own account.
func requireAccount(t *testing.T, own account, got phases.Result) {
	t.Helper()
	t.Log(table(own, got))
	sum := int64(0)
	for _, millis := range got.Phases {
		sum += millis
	}
	require.InDelta(t, got.End-got.Begin, sum, 1, "the phases sum to the wall clock")
	sums := own.phases()
	for _, phase := range platform.Phases() {
		bar := max(float64(tolerance.Milliseconds()), toleranceShare*float64(sums[phase]))
		require.LessOrEqual(t, math.Abs(float64(got.Phases[phase]-sums[phase])), bar,
			"%s: %d ms by the engine, %d ms by the job's own clock", phase, got.Phases[phase], sums[phase])
	}
}

// table shows both divisions.
func table(own account, got phases.Result) string {
	lines := []string{fmt.Sprintf("%-14s %10s %10s %6s", "ms", "own clock", "engine", "off")}
	sums := own.phases()
	line := func(name string, own, engine int64) {
		lines = append(lines, fmt.Sprintf("%-14s %10d %10d %6d", name, own, engine, engine-own))
	}
	line("wall", own.end-own.begin, got.End-got.Begin)
	for _, phase := range platform.Phases() {
		if sums[phase] != 0 || got.Phases[phase] != 0 {
			line(string(phase), sums[phase], got.Phases[phase])
		}
	}
	return "\n" + strings.Join(lines, "\n")
}

// jobs are the suite's jobs that need nothing around them.
func (c *cluster) jobs() []job {
	static := map[string]string{"spark.dynamicAllocation.enabled": "false", "spark.executor.instances": "1"}
	return []job{
		{name: "client-static", mode: "compute", args: []string{"4", "no"}, conf: static},
		{name: "cluster-static", mode: "compute", args: []string{"4", "no"}, conf: static, inCluster: true},
		{name: "client-dynamic", mode: "compute", conf: map[string]string{"spark.executor.cores": "1"}},
		{name: "rename", mode: "write", args: []string{"s3a://slow-rename/out", "4", "24"}},
		{name: "noop", mode: "noop", args: []string{"4"}},
		{name: "rdd", mode: "rdd", args: []string{"file://" + c.path("rdd"), "4"}, inCluster: true},
		{name: "driver", mode: "driver", args: []string{"5"}},
		{name: "threads", mode: "threads", args: []string{"s3a://slow-threads/out"}},
	}
}

func TestPhasesEqualTheJobsOwnClock(t *testing.T) {
	c := startCluster(t)
	require.NoError(t, c.store.bucket(t.Context(), "slow-rename", speed{latency: 60 * time.Millisecond}))
	require.NoError(t, c.store.bucket(t.Context(), "slow-threads", speed{bytesPerSecond: 1 << 20}))
	for _, j := range c.jobs() {
		t.Run(j.name, func(t *testing.T) {
			r := c.submit(t, j)
			r.wait(t)
			requireAccount(t, r.account(t, 0), r.divide(t))
		})
	}
}

var _ = slices.Sorted[string]
var _ = maps.Keys[map[string]int]
