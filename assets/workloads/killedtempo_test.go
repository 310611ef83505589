package workloadconfig_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery"
)

// TestKilledTempoLosesNothing kills Tempo thirty times on a busy machine. Every second kill waits for the moment at which a
// write-ahead block's meta.json is truncated and not yet written.
func TestKilledTempoLosesNothing(t *testing.T) {
	testenv.RequireLong(t, "TestKilledStoresLoseNothing kills Tempo, too, and TestTempoReplaysBlockWithTruncatedMeta has such a meta.json")
	const kills = 30
	l := newLab(t)
	l.startTempo(true)
	l.startCollector()
	for w, s := range l.running {
		s.ready(t, workloadRecord(t, w).ReadyURL())
	}
	stopLoad := keepBusy(t, 2)
	sent := sendTraces()
	truncated := 0
	for n := range kills {
		// Sometimes longer than the redelivery keeps requests: then only the write-ahead
		// log has the older spans.
		wait := time.Second + rand.N(redelivery.Settled*4/3)
		if n == 0 {
			wait = redelivery.Settled + 5*time.Second
		}
		time.Sleep(wait)
		if n%2 == 1 {
			l.awaitTruncatedMeta(10 * time.Second)
		}
		l.running[platform.WorkloadTempo].kill()
		sent.trace.Add(1)
		unreadable := len(l.truncatedMetas())
		truncated += unreadable
		began := time.Now()
		l.startTempo(true)
		t.Logf("kill %d after %s: %d meta.json empty, ready after %s", n+1, wait.Round(time.Millisecond), unreadable,
			time.Since(began).Round(time.Millisecond))
	}
	sent.stop()
	stopLoad()
	lost := 0
	for trace, spans := range sent.accepted {
		found := 0
		waitFor(testenv.Arrival, func() bool {
			_, body := request("GET", "http://tempo:3200/api/traces/"+trace, "", "")
			found = countContained(body, spans)
			return found == len(spans)
		})
		if found < len(spans) {
			t.Errorf("trace %s: %d of %d spans found", trace, found, len(spans))
		}
		lost += len(spans) - found
	}
	t.Logf("killed %d times, %d times with an empty meta.json: %d spans accepted in %d traces, %d lost",
		kills, truncated, sent.total, len(sent.accepted), lost)
	require.Greater(t, sent.total, 10*kills)
}

// traces sends twenty spans a second until stop is called.
type traces struct {
	trace    atomic.Int64 // the trace that spans go to
	accepted map[string][]string
	total    int
	stop     func()
}

func sendTraces() *traces {
	s := &traces{accepted: map[string][]string{}}
	done, stopped := make(chan struct{}), make(chan struct{})
	s.stop = func() { close(done); <-stopped }
	go func() {
		defer close(stopped)
		pace := time.NewTicker(50 * time.Millisecond)
		defer pace.Stop()
		for n := 1; ; n++ {
			select {
			case <-done:
				return
			case <-pace.C:
				s.send(n)
			}
		}
	}()
	return s
}

func (s *traces) send(n int) {
	trace, name, now := fmt.Sprintf("5b8efff7980381%018x", s.trace.Load()), fmt.Sprintf("span %06d", n), time.Now().UnixNano()
	if accepts("traces", resource(fmt.Sprintf(`"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%016x","name":"%s","kind":1,`+
		`"startTimeUnixNano":"%d","endTimeUnixNano":"%%d"}]}]`, trace, n, name, now-1000), now)) {
		s.accepted[trace] = append(s.accepted[trace], name)
		s.total++
	}
}

// truncatedMetas returns the write-ahead blocks' meta.json that are empty.
func (l *lab) truncatedMetas() []string {
	found, _ := filepath.Glob(filepath.Join(l.dirs[platform.WorkloadTempo], "data", "wal", "*+*", "meta.json"))
	var truncated []string
	for _, path := range found {
		if info, err := os.Stat(path); err == nil && info.Size() == 0 {
			truncated = append(truncated, path)
		}
	}
	return truncated
}

// awaitTruncatedMeta waits until it sees an empty meta.json, without a pause: one
// stays empty for microseconds.
func (l *lab) awaitTruncatedMeta(within time.Duration) {
	for began := time.Now(); time.Since(began) < within; {
		found, _ := filepath.Glob(filepath.Join(l.dirs[platform.WorkloadTempo], "data", "wal", "*+*", "meta.json"))
		for range 5000 {
			for _, path := range found {
				var s syscall.Stat_t
				if syscall.Stat(path, &s) == nil && s.Size == 0 {
					return
				}
			}
		}
	}
}

// keepBusy runs n endless loops until the function that it returns is called, or
// the test ends.
func keepBusy(t *testing.T, n int) (stopLoad func()) {
	t.Helper()
	var loops []*exec.Cmd
	for range n {
		loop := exec.Command("sh", "-c", "while :; do :; done")
		loop.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		require.NoError(t, loop.Start())
		loops = append(loops, loop)
	}
	stopLoad = sync.OnceFunc(func() {
		for _, loop := range loops {
			_ = loop.Process.Kill()
			_ = loop.Wait()
		}
	})
	t.Cleanup(stopLoad)
	return stopLoad
}
