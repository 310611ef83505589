package redelivery

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// What a redelivery tells of itself, of each store by its name in LabelStore.
const (
	MetricResent  = "observatory_redelivery_resent_requests_total"
	MetricRefused = "observatory_redelivery_refused_requests_total" // when sent again: lost
	MetricKept    = "observatory_redelivery_kept_bytes"
	LabelStore    = "store"
)

const (
	// heartbeat is how often a store is asked whether it is the same process still.
	heartbeat = time.Second

	// Settled is how long a store runs until what it took is surely on its disk.
	// VictoriaMetrics takes longest: raw rows wait for two seconds, their part in
	// memory for two, and the flusher looks each two (lib/storage/partition.go).
	Settled = 10 * time.Second

	// keptBytes bounds what is kept for one store, compressed as the collector
	// sends it. The collector keeps the rest: more is refused until some has settled.
	keptBytes = 24 << 20

	// patience is the collector's own with a store.
	patience = 30 * time.Second
)

// request is one that a store has, or is being given.
type request struct {
	path     string
	header   http.Header
	body     []byte
	answered bool // the store took it
	beats    int  // since then, of the process that took it
	again    bool // another process answers now
}

// store is where requests go, and those of them that may not be on its disk.
type store struct {
	name    string
	url     string // scheme and host
	lacking func(context.Context, *store, *request) (*request, error)
	client  *http.Client
	pinger  *http.Client // of one connection: it ends with the store's process

	resent  *metrics.Counter // requests
	refused *metrics.Counter

	lock  sync.Mutex
	kept  []*request
	bytes int
}

func newStore(name, url string, set *metrics.Set) *store {
	s := &store{name: name, url: url, client: &http.Client{Timeout: patience}}
	s.pinger = &http.Client{Timeout: patience, Transport: &http.Transport{MaxConnsPerHost: 1}}
	metric := func(m string) string { return fmt.Sprintf("%s{%s=%q}", m, LabelStore, name) }
	s.resent, s.refused = set.NewCounter(metric(MetricResent)), set.NewCounter(metric(MetricRefused))
	set.NewGauge(metric(MetricKept), func() float64 {
		s.lock.Lock()
		defer s.lock.Unlock()
		return float64(s.bytes)
	})
	if name == linesStore {
		s.lacking = linesLacking
	}
	return s
}

// keep remembers a request from before it is sent: its store may answer and end
// before the answer is read. False without room.
func (s *store) keep(r *request) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.bytes+len(r.body) > keptBytes {
		return false
	}
	s.kept = append(s.kept, r)
	s.bytes += len(r.body)
	return true
}

// answer says whether the store took a request; otherwise it is the sender's again.
func (s *store) answer(r *request, taken bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	r.answered = taken
	if !taken {
		s.forget(func(kept *request) bool { return kept == r })
	}
}

// forget needs the lock.
func (s *store) forget(which func(*request) bool) {
	s.kept = slices.DeleteFunc(s.kept, func(r *request) bool {
		if which(r) {
			s.bytes -= len(r.body)
			return true
		}
		return false
	})
}

// watch looks after what is kept until ctx ends.
func (s *store) watch(ctx context.Context) {
	ticks := time.NewTicker(heartbeat)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			s.look(ctx)
		}
	}
}

// look asks the store for a sign of life, and acts on it. No answer is none.
func (s *store) look(ctx context.Context) {
	if same, err := s.ping(ctx); err == nil {
		s.sendAgain(ctx, s.beat(same))
	}
}

// ping asks whether the store answers, and whether as the process that it was.
func (s *store) ping(ctx context.Context) (same bool, err error) {
	trace := httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { same = c.Reused }}
	asked, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &trace), http.MethodGet, s.url, nil)
	if err != nil {
		return false, fmt.Errorf("ask %s: %w", s.name, err)
	}
	response, err := s.pinger.Do(asked)
	if err != nil {
		return false, fmt.Errorf("ask %s: %w", s.name, err)
	}
	// Read to its end: the connection is to be used again. What it says does not matter.
	_, err = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return same, err
}

// beat counts an answer of the store: what has settled is forgotten. Of another
// process all that is kept is to be sent again.
func (s *store) beat(same bool) (due []*request) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, r := range s.kept {
		switch {
		case !same:
			r.again = true
		case r.answered && !r.again:
			r.beats++
		}
		if r.answered && r.again {
			due = append(due, r)
		}
	}
	s.forget(func(r *request) bool { return r.beats >= int(Settled/heartbeat) })
	return due
}

// sendAgain sends what is due, the oldest first, and leaves for the next beat
// what cannot be sent now.
func (s *store) sendAgain(ctx context.Context, due []*request) {
	for _, r := range due {
		status, err := s.deliver(ctx, r)
		if err != nil {
			slog.Warn("not sent again yet", "store", s.name, "error", err)
			return
		}
		s.lock.Lock()
		r.again, r.beats = false, 0
		if status/100 == 2 {
			s.resent.Inc()
		} else { // as it is now the store will never take it
			s.refused.Inc()
			s.forget(func(kept *request) bool { return kept == r })
		}
		s.lock.Unlock()
		slog.Info("sent again", "store", s.name, "bytes", len(r.body), "status", status)
	}
}

// deliver sends what the store lacks of a request. An error is worth another try.
func (s *store) deliver(ctx context.Context, r *request) (status int, err error) {
	if s.lacking != nil {
		if r, err = s.lacking(ctx, s, r); err != nil {
			return 0, err
		}
		if r == nil {
			return http.StatusOK, nil
		}
	}
	response, err := s.send(ctx, r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(response.Body, 200))
	if mayTakeLater(response.StatusCode) {
		return 0, fmt.Errorf("%s says %s: %q", s.name, response.Status, said)
	}
	return response.StatusCode, nil
}

// mayTakeLater is OTLP's rule for HTTP (specification, "Retryable response codes").
func mayTakeLater(status int) bool {
	return status == http.StatusTooManyRequests || status/100 == 5
}

func (s *store) send(ctx context.Context, r *request) (*http.Response, error) {
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w", s.name, err)
	}
	post.Header = r.header
	response, err := s.client.Do(post)
	if err != nil {
		return nil, fmt.Errorf("send to %s: %w", s.name, err)
	}
	return response, nil
}
