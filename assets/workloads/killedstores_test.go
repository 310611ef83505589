package workloadconfig_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery"
)

// Stores that are killed at any moment, and also after they have stood still
// for longer than a running one needs to write, lose nothing of what was taken,
// and no line is stored twice. Nor does a killed redelivery lose anything.
func TestKilledStoresLoseNothing(t *testing.T) {
	l := newLab(t)
	stores := map[platform.Workload]func(){
		platform.WorkloadVictoriaMetrics: l.startMetrics,
		platform.WorkloadVictoriaLogs:    l.startLogs,
		platform.WorkloadTempo:           l.startTempo,
	}
	for _, start := range stores {
		start()
	}
	l.startCollector()
	for w, s := range l.running {
		s.ready(t, workloadconfig.ReadyURLs()[w])
	}
	f := &flood{begun: time.Now().Add(-time.Hour)}
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	repeated, when := 0, "at first"
	floodFor := func(d time.Duration) {
		for begun := time.Now(); time.Since(begun) < d; <-pace.C {
			require.True(t, f.all(), "the collector takes what the stores do not")
			repeated++ // a line may come often in one second, which is all that Spark says of time
			send(t, "logs", resource(`"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d","body":{"stringValue":"the flood repeats itself `+when+`"}}]}]`, f.begun.UnixNano()))
		}
	}
	floodFor(5 * time.Second)
	before := len(f.lines) // what is on its way now may come twice
	repeated, when = 0, "at last"
	l.running[platform.WorkloadRedelivery].kill()
	l.start(platform.WorkloadRedelivery, workloadconfig.Redelivery(), nil)
	// A store that is killed before this would lose what the first one kept.
	floodFor(redelivery.Settled + 2*time.Second)
	for _, still := range []time.Duration{0, redelivery.Settled + 2*time.Second, 0, 0} {
		floodFor(time.Second + rand.N(5*time.Second))
		for w := range stores {
			require.NoError(t, l.running[w].cmd.Process.Signal(syscall.SIGSTOP))
		}
		floodFor(still)
		for w, start := range stores {
			l.running[w].kill()
			start()
		}
		t.Logf("killed after %d of each signal, having stood still for %s", len(f.lines), still)
	}
	require.True(t, waitFor(time.Minute, f.linesStored), "lines taken and not stored")
	require.True(t, waitFor(time.Minute, f.samplesStored), "samples taken and not stored")
	require.True(t, waitFor(time.Minute, f.spansStored), "spans taken and not stored")
	// Nothing more is on its way.
	eventually(t, time.Minute, "GET", "http://redelivery:4319/metrics", contains(redelivery.MetricKept+`{store="victoria-logs"} 0`))
	eventually(t, 10*time.Second, "GET", "http://collector:8888/metrics", func(_ int, body string) bool {
		return regexp.MustCompile(`otelcol_exporter_queue_size\{[^}]*logs[^}]*\} 0`).MatchString(body)
	})
	stored := storedLines()
	for _, line := range f.lines[before:] {
		require.Equalf(t, 1, strings.Count(stored, line+" "), "stored %s", line)
	}
	require.Equal(t, repeated, strings.Count(stored, "repeats itself at last"))
	for store := range stores {
		eventually(t, 5*time.Second, "GET", "http://redelivery:4319/metrics", contains(redelivery.MetricRefused+`{store="`+string(store)+`"} 0`))
	}
}
