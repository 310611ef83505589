package redelivery

import (
	"bytes"
	"context"
	"fmt"
	"io"
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
	"github.com/emr-observatory/emr-observatory/redelivery/limit"
)

// The relay's own metrics, per store by its name in LabelStore.
const (
	MetricResent  = "observatory_redelivery_resent_requests_total"
	MetricRefused = "observatory_redelivery_refused_requests_total" // when resent: lost
	MetricKept    = "observatory_redelivery_kept_bytes"
	LabelStore    = "store"
)

const (
	// heartbeat is how often a store is checked for being the same process.
	heartbeat = time.Second

	// Settled is how long a store must run until what it acknowledged counts as
	// written. VictoriaMetrics takes longest, six to ten seconds: raw rows wait for
	// two and are checked every two, their in-memory part likewise, and once more
	// if it is being merged (lib/storage/raw_row.go, partition.go).
	Settled = 15 * time.Second

	// maxBufferedBytes bounds what is buffered for one store, compressed as the
	// collector sends it. Beyond it requests are refused until some have settled;
	// the collector queues them.
	maxBufferedBytes = 24 << 20

	// requestTimeout is the collector's own timeout for a store. It also bounds a
	// round of resending: the stores close a connection after a minute without use.
	requestTimeout = 30 * time.Second

	// dialTimeout is short: a long dial may reach another process.
	dialTimeout = 5 * time.Second

	// maxLookups is how often VictoriaLogs is queried for a request's lines, and
	// lookupTimeout how long each time. Without an answer the lines are resent all
	// the same: a duplicate is better than a loss.
	maxLookups    = 5
	lookupTimeout = 5 * time.Second
)

// request is one that was forwarded to a store, or is about to be.
type request struct {
	id       string // unique
	path     string
	header   http.Header
	body     []byte
	accepted bool // the store acknowledged it
	beats    int  // heartbeats since then of the process that acknowledged it
	resend   bool // another process answers now, so it must be resent
	lookups  int  // how many lookups of its lines in this process have failed
}

// store is a store's client, with the buffer of requests that may not be on the
// store's disk yet.
type store struct {
	name   string
	url    string // scheme and host
	client *http.Client

	// keepsDuplicates is set for VictoriaLogs, which stores a line again if it is sent
	// again.
	keepsDuplicates bool

	pinger    *http.Client // with one connection, which ends with the store's process
	conn      net.Conn     // of the last answer; only check uses it
	lastError string       // of the last round of resending; only check uses it

	packing *packing
	limiter *limit.Limiter
	signal  string // of what the store takes; "" of a store that is none of the platform's

	resent  *metrics.Counter // requests
	refused *metrics.Counter

	idPrefix string // of request ids; differs between processes
	lastID   atomic.Uint64

	lock     sync.Mutex
	requests []*request
	bytes    int // of the requests' bodies
}

func newStore(name, url string, set *metrics.Set, limiter *limit.Limiter, p *packing) *store {
	s := &store{
		name: name, url: url, keepsDuplicates: name == string(platform.WorkloadVictoriaLogs),
		limiter: limiter, packing: p,
		idPrefix: strconv.FormatInt(time.Now().UnixNano(), 36),
		client:   &http.Client{Timeout: requestTimeout},
		pinger: &http.Client{Timeout: requestTimeout, Transport: &http.Transport{
			MaxConnsPerHost: 1, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext,
		}},
	}
	if at := slices.IndexFunc(platform.Workloads().Stores(), func(w platform.WorkloadRecord) bool { return string(w.Name) == name }); at >= 0 {
		s.signal = platform.Workloads().Stores()[at].Intake.Signal
	}
	metric := func(m string) string { return fmt.Sprintf("%s{%s=%q}", m, LabelStore, name) }
	s.resent, s.refused = set.NewCounter(metric(MetricResent)), set.NewCounter(metric(MetricRefused))
	set.NewGauge(metric(MetricKept), func() float64 {
		s.lock.Lock()
		defer s.lock.Unlock()
		return float64(s.bytes)
	})
	return s
}

// nextID returns a request id that is unique, also among those of earlier processes.
func (s *store) nextID() string {
	return s.idPrefix + "-" + strconv.FormatUint(s.lastID.Add(1), 36)
}

// buffer adds a request before it is sent: the store may answer and be killed
// before the answer is read. It reports whether there was room.
func (s *store) buffer(r *request) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.bytes+len(r.body) > maxBufferedBytes {
		return false
	}
	s.requests = append(s.requests, r)
	s.bytes += len(r.body)
	return true
}

// acknowledge records the store's answer. A request that it did not accept is
// removed: its sender retries.
func (s *store) acknowledge(r *request, accepted bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	r.accepted = accepted
	if !accepted {
		s.removeWhere(func(other *request) bool { return other == r })
	}
}

// removeWhere takes requests out of the buffer. The caller holds the lock.
func (s *store) removeWhere(which func(*request) bool) {
	s.requests = slices.DeleteFunc(s.requests, func(r *request) bool {
		if which(r) {
			s.bytes -= len(r.body)
			return true
		}
		return false
	})
}

// watch checks the store at each heartbeat until ctx is done.
func (s *store) watch(ctx context.Context) {
	ticks := time.NewTicker(heartbeat)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			s.check(ctx)
			ticks.Reset(heartbeat) // no second check at once after a slow one
		}
	}
}

// check pings the store and resends what it may have lost. Without an answer it
// does nothing.
func (s *store) check(ctx context.Context) {
	if same, err := s.ping(ctx); err == nil {
		s.resendAll(ctx, s.countHeartbeat(same))
	}
}

// ping reports whether the store answers as the same process as before.
func (s *store) ping(ctx context.Context) (same bool, err error) {
	// Connections are compared: GotConnInfo.Reused is also true of one dialed for
	// an earlier ping.
	var conn net.Conn
	trace := httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { conn = c.Conn }}
	get, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &trace), http.MethodGet, s.url, nil)
	if err != nil {
		return false, fmt.Errorf("ping %s: %w", s.name, err)
	}
	response, err := s.pinger.Do(get)
	if err != nil {
		return false, fmt.Errorf("ping %s: %w", s.name, err)
	}
	// Only a response that is read to its end leaves the connection reusable.
	_, err = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	same, s.conn = conn == s.conn, conn
	if err != nil {
		return same, fmt.Errorf("ping %s: %w", s.name, err)
	}
	return same, nil
}

// countHeartbeat counts an answer of the store and removes what has settled. If another
// process answered, everything buffered is due to be resent.
func (s *store) countHeartbeat(same bool) (due []*request) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, r := range s.requests {
		switch {
		case !same:
			r.resend, r.lookups = true, 0
		case r.accepted && !r.resend:
			r.beats++
		}
		if r.accepted && r.resend {
			due = append(due, r)
		}
	}
	s.removeWhere(func(r *request) bool { return r.beats >= int(Settled/heartbeat) })
	return due
}

// send sends a request to the store and returns the response.
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
