package workloadconfig_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery"
)

// Stores that are killed at any moment lose nothing that was accepted, even if they
// were stopped before for longer than a running one needs to write, and no line is
// stored twice. A killed redelivery loses nothing either.
func TestKilledStoresLoseNothing(t *testing.T) {
	l := newLab(t)
	stores := []platform.Workload{platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs, platform.WorkloadTempo}
	for _, w := range stores {
		l.start(w)
	}
	l.startCollector()
	for w, s := range l.running {
		s.ready(t, workloadRecord(t, w).ReadyURL())
	}
	f := &flood{begun: time.Now().Add(-time.Hour)}
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	repeated, when := 0, "at first"
	floodFor := func(d time.Duration) {
		for begun := time.Now(); time.Since(begun) < d; <-pace.C {
			require.True(t, f.sendAll(), "the collector accepts what the stores do not")
			repeated++ // equal lines may come in one second, the resolution of Spark's timestamps
			record := `{"timeUnixNano":"%d","body":{"stringValue":"the flood repeats itself ` + when + `"}}`
			send(t, "logs", resource(`"scopeLogs":[{"logRecords":[`+record+`]}]`, f.begun.UnixNano()))
		}
	}
	floodFor(5 * time.Second)
	before := len(f.lines) // lines that are in flight now may be stored twice
	repeated, when = 0, "at last"
	l.running[platform.WorkloadRedelivery].kill()
	l.start(platform.WorkloadRedelivery)
	// A store that is killed earlier would lose what the killed redelivery kept.
	floodFor(redelivery.Settled + 2*time.Second)
	for _, pause := range []time.Duration{0, redelivery.Settled + 2*time.Second, 0, 0} {
		floodFor(time.Second + rand.N(5*time.Second))
		for _, w := range stores {
			require.NoError(t, l.running[w].cmd.Process.Signal(syscall.SIGSTOP))
		}
		floodFor(pause)
		for _, w := range stores {
			l.running[w].kill()
			l.start(w)
		}
		t.Logf("killed after %d items of each signal and a pause of %s", len(f.lines), pause)
	}
	require.True(t, waitFor(testenv.Arrival, f.linesStored), "accepted lines are missing")
	require.True(t, waitFor(testenv.Arrival, f.samplesStored), "accepted samples are missing")
	// On a busy machine Tempo takes seconds to return a trace of a thousand spans, and
	// redelivery resends them one request after another.
	if !waitFor(testenv.Start, f.spansStored) {
		_, metrics := request("GET", "http://redelivery:4319/metrics", "", "")
		missing := f.missingSpans()
		t.Fatalf("%d of %d accepted spans are missing: %v\n%s", len(missing), len(f.spans), missing, metrics)
	}
	// Wait until nothing is in flight.
	eventually(t, testenv.Arrival, "GET", "http://redelivery:4319/metrics", contains(redelivery.MetricKept+`{store="victoria-logs"} 0`))
	eventually(t, testenv.Arrival, "GET", "http://collector:13134/metrics", func(_ int, body string) bool {
		return regexp.MustCompile(`otelcol_exporter_queue_size\{[^}]*logs[^}]*\} 0`).MatchString(body)
	})
	stored := storedLines()
	for _, line := range f.lines[before:] {
		require.Equalf(t, 1, strings.Count(stored, line+" "), "stored %s", line)
	}
	require.Equal(t, repeated, strings.Count(stored, "repeats itself at last"))
	for _, store := range stores {
		eventually(t, testenv.Answer, "GET", "http://redelivery:4319/metrics", contains(redelivery.MetricRefused+`{store="`+string(store)+`"} 0`))
	}
}
