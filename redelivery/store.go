package redelivery

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/emr-observatory/emr-observatory/platform"
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

	// Settled is how long a store runs until what it took is taken to be on its
	// disk. VictoriaMetrics needs longest, six to ten seconds: raw rows wait for two
	// and are looked at each two, their part in memory likewise, and once more if it
	// is being merged (lib/storage/raw_row.go, partition.go).
	Settled = 15 * time.Second

	// keptBytes bounds what is kept for one store, compressed as the collector
	// sends it. The collector keeps the rest: more is refused until some has settled.
	keptBytes = 24 << 20

	// patience is the collector's own with a store. It bounds a round of sending
	// again too: the stores close a connection that was not used for a minute.
	patience = 30 * time.Second

	// dialPatience is short: who dials for long may reach another process.
	dialPatience = 5 * time.Second

	// questions is how often a VictoriaLogs is asked for a request's lines, and
	// questionPatience how long each time. If it has no answer by then, they are
	// sent all the same: twice is better than never.
	questions        = 5
	questionPatience = 5 * time.Second
)

// request is one that a store has, or is being given.
type request struct {
	id       string // no other has it
	path     string
	header   http.Header
	body     []byte
	answered bool // the store took it
	beats    int  // since then, of the process that took it
	again    bool // another process answers now
	asked    int  // how often in vain, of this process, what it has of it
}

// store is where requests go, and those of them that may not be on its disk.
type store struct {
	name   string
	url    string // scheme and host
	lines  bool   // VictoriaLogs: it stores what comes twice twice
	client *http.Client
	pinger *http.Client // of one connection: it ends with the store's process
	conn   net.Conn     // on which the store answered last; only look uses it
	fault  string       // of the last round of sending again; only look uses it

	resent  *metrics.Counter // requests
	refused *metrics.Counter

	born  string // when
	taken atomic.Uint64

	lock  sync.Mutex
	kept  []*request
	bytes int
}

func newStore(name, url string, set *metrics.Set) *store {
	s := &store{name: name, url: url, born: strconv.FormatInt(time.Now().UnixNano(), 36), lines: name == string(platform.WorkloadVictoriaLogs), client: &http.Client{Timeout: patience}}
	s.pinger = &http.Client{Timeout: patience, Transport: &http.Transport{
		MaxConnsPerHost: 1, DialContext: (&net.Dialer{Timeout: dialPatience}).DialContext,
	}}
	metric := func(m string) string { return fmt.Sprintf("%s{%s=%q}", m, LabelStore, name) }
	s.resent, s.refused = set.NewCounter(metric(MetricResent)), set.NewCounter(metric(MetricRefused))
	set.NewGauge(metric(MetricKept), func() float64 {
		s.lock.Lock()
		defer s.lock.Unlock()
		return float64(s.bytes)
	})
	return s
}

// nextID also tells this process's requests from its predecessor's.
func (s *store) nextID() string {
	return s.born + "-" + strconv.FormatUint(s.taken.Add(1), 36)
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
			ticks.Reset(heartbeat) // a look that took long is not two
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
	var conn net.Conn // compared: GotConnInfo.Reused is also true of one dialed for an earlier ping
	trace := httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { conn = c.Conn }}
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
	same, s.conn = conn == s.conn, conn
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
			r.again, r.asked = true, 0
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

// sendAgain sends what is due, the oldest first. What the store cannot take now,
// or what there is no time for, is due at the next beat too.
func (s *store) sendAgain(ctx context.Context, due []*request) {
	if len(due) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	sent, fault := 0, ""
	for _, r := range due {
		status, err := s.deliver(ctx, r)
		if err != nil {
			fault = err.Error()
			if ctx.Err() != nil {
				break
			}
			continue
		}
		if status/100 == 2 {
			sent++
		} else {
			fault = http.StatusText(status)
		}
		if !mayTakeLater(status) {
			s.delivered(r, status)
		}
	}
	if sent > 0 || fault != s.fault { // not each second that a disk is full
		slog.Info("sent again", "store", s.name, "requests", sent, "of", len(due), "lastFault", fault)
	}
	s.fault = fault
}

// delivered notes the answer to a request that was sent again.
func (s *store) delivered(r *request, status int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	r.again, r.beats, r.asked = false, 0, 0
	if status/100 == 2 {
		s.resent.Inc()
		return
	}
	s.refused.Inc() // as it is the store will never take it
	s.forget(func(kept *request) bool { return kept == r })
}

// deliver sends what the store lacks of a request.
func (s *store) deliver(ctx context.Context, r *request) (status int, err error) {
	if s.lines && r.asked < questions {
		asking, cancel := context.WithTimeout(ctx, questionPatience)
		lacking, err := s.linesLacking(asking, r)
		cancel()
		if err != nil {
			r.asked++
			return 0, err
		}
		if lacking == nil {
			return http.StatusOK, nil
		}
		r = lacking
	}
	response, err := s.send(ctx, r)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection is used again
	_ = response.Body.Close()
	return response.StatusCode, nil
}

// mayTakeLater is OTLP's rule for HTTP (specification, "Retryable response
// codes"), and so the collector's.
func mayTakeLater(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
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
