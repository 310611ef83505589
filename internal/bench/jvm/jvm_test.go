package jvm

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

// How much it costs is for an idle machine: see make bench.
func TestMeasureRunsRealDrivers(t *testing.T) {
	testenv.RequireLong(t, "make test-long runs JVMs for minutes, as make bench does")
	var r Result
	for range 2 { // a difference of milliseconds may be 0 by chance
		var err error
		r, err = Measure(t.Context(), 1, 10*time.Second)
		require.NoError(t, err)
		t.Logf("%+v", r)
		if r.StartCPU != 0 && r.MainDelay != 0 && r.PluginStartCPU != 0 {
			break
		}
	}
	require.Greater(t, r.CPUWithout, 1.0, "Spark has started")
	require.NotZero(t, r.StartCPU)
	require.NotZero(t, r.MainDelay)
	require.NotZero(t, r.PluginStartCPU)
	require.InDelta(t, 0, r.ExporterShare+r.ListenerShare, 0.5)
}

func TestMeasureSamplingRunsRealQueries(t *testing.T) {
	testenv.RequireLong(t, "make test-long runs JVMs for minutes, as make bench does")
	ratio, err := MeasureSampling(t.Context(), 7) // one pair was off by 0.55 beside other work
	require.NoError(t, err)
	t.Log(ratio)
	require.InDelta(t, 1, ratio, 0.5)
}

func TestMeasureRefuses(t *testing.T) {
	_, err := Measure(t.Context(), 0, time.Second)
	require.ErrorContains(t, err, "pairs: 0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Measure(ctx, 1, time.Second)
	require.ErrorIs(t, err, context.Canceled)
}

// A node without its launcher must not be measured as one that costs nothing.
func TestNodeNeedsTheArtifacts(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	store, err := artifacts.DefaultStore()
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Dir(store.Dir)); err == nil {
		entries, err := os.ReadDir(store.Dir)
		require.True(t, err != nil || len(entries) == 0, "the store of this test is not empty: %s", store.Dir)
	}
	n := node{dir: t.TempDir()}
	require.ErrorContains(t, n.install(), "make artifacts")
}

func TestCommandLine(t *testing.T) {
	words, err := commandLine("\x00\n/usr/bin/java\x00-cp\x00/conf/:/jars/*\x00org.apache.spark.deploy.SparkSubmit\x00--name\x00a b\x00")
	require.NoError(t, err)
	require.Equal(t, []string{"/usr/bin/java", "-cp", "/conf/:/jars/*", "org.apache.spark.deploy.SparkSubmit", "--name", "a b"}, words)
	for _, out := range []string{"", "\x00\n", "Error: Could not find or load main class"} {
		_, err := commandLine(out)
		require.Error(t, err, out)
	}
}

func TestParse(t *testing.T) {
	const received = "ready\n/v1/logs\n/v1/metrics\n/ingest\n/v1/metrics\n/v1/logs\n/ingest\n/v1/traces\n"
	runs := "without 4.000 0.500 1500\nunplugged 4.200 0.600 1530\nwith 4.300 0.600 1540\n" +
		"unplugged 4.200 0.600 1500\nwith 4.400 0.500 1500\nwithout 4.200 0.500 1480\nbusy 20 1 1600\nthreads 0.08 0.02 20\n"
	r, err := parse(runs+received+received, 2)
	require.NoError(t, err)
	require.InDelta(t, 0.3, r.StartCPU, 1e-9)
	require.InDelta(t, 0.03, r.MainDelay, 1e-9)
	require.InDelta(t, 4.6, r.CPUWithout, 1e-9)
	require.InDelta(t, 0.1, r.PluginStartCPU, 1e-9)
	require.InDelta(t, 0.004, r.ExporterShare, 1e-9)
	require.InDelta(t, 0.001, r.ListenerShare, 1e-9)
	_, err = parse(runs+received, 3)
	require.ErrorContains(t, err, "2 runs without, 2 with the launcher alone and 2 with all, must be 3 each")
	_, err = parse(runs+strings.ReplaceAll(received, "/v1/traces\n", ""), 2)
	require.ErrorContains(t, err, "requests to ")
	_, err = parse(strings.ReplaceAll(runs, "0.02", "0")+received+received, 2)
	require.ErrorContains(t, err, "of the plugin's")
}

func TestParsePairs(t *testing.T) {
	pairs, err := parsePairs("1.1 1.0\n1.3 1.0\n1.0 1.0\n", 3)
	require.NoError(t, err)
	require.InDelta(t, 1.1, median(pairs, pair.ratio), 1e-9)
	for _, out := range []string{"", "1.1 1.0\n1.1 1.0\n", "1.1 0\n", "out of memory\n"} {
		_, err := parsePairs(out, 1)
		require.Error(t, err, out)
	}
}
