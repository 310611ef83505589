// Package redelivery relays OTLP from the control node's collector to its stores,
// and resends what a killed store had acknowledged but not yet written.
//
// VictoriaMetrics, VictoriaLogs and Tempo acknowledge a request before its data is
// on disk, and none of them has a log to replay for that interval. The collector
// forgets a request once it is acknowledged. So the relay buffers each request for
// as long as the store may need to write it, and a little longer (Settled). The
// time is counted in heartbeats answered by the process that took the request: a
// stopped process writes nothing. If another process answers at the store's
// address, everything buffered may be lost, and is resent. Duplicates do no harm:
// VictoriaMetrics drops equal samples (-dedup.minScrapeInterval), Tempo merges
// spans by their id, and VictoriaLogs, which does neither, is first queried for
// the lines that it has.
//
// It is not a queue. When a store does not answer, or refuses, the collector
// retries from its own disk; each request gets the store's own answer. Nothing
// here is on disk: losing the relay costs nothing, unless a store is killed within
// the same seconds.
//
// On the way it leaves out what is beyond a cluster's share (package limit).
package redelivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery/limit"
)

// maxRequestBytes is more than the collector's largest request, uncompressed
// (max_size of its queues' batches).
const maxRequestBytes = 8 << 20

var storeName = regexp.MustCompile(`^[a-z][a-z-]*$`)

// Redelivery relays requests to stores.
type Redelivery struct {
	stores  []*store
	metrics *metrics.Set
	limiter *limit.Limiter
}

// New creates a relay to stores, given as name=URL without a path, of what the limits of each
// cluster allow, given as signal=number. It reports everything malformed at once.
func New(stores, limits []string) (*Redelivery, error) {
	set := metrics.NewSet()
	parsed, err := limit.Parse(limits)
	p := newPacking()
	d, errs := &Redelivery{metrics: set, limiter: limit.New(parsed, set)}, []error{err}
	for _, s := range stores {
		name, address, _ := strings.Cut(s, "=")
		switch {
		case !storeName.MatchString(name) || !isHostPort(address):
			errs = append(errs, fmt.Errorf("store %q: must be name=http://host:port, with lower-case letters and dashes as name", s))
		case slices.ContainsFunc(d.stores, func(other *store) bool { return other.name == name }):
			errs = append(errs, fmt.Errorf("store %q: there is another %s; give each its own name", s, name))
		default:
			d.stores = append(d.stores, newStore(name, address, d.metrics, d.limiter, p))
		}
	}
	if len(stores) == 0 {
		errs = append(errs, errors.New("no store: give at least one as name=http://host:port"))
	}
	return d, errors.Join(errs...)
}

// isHostPort reports whether an address is http://host:port and nothing more.
func isHostPort(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Port() != "" && address == "http://"+u.Host
}

// Handler forwards POST /<store>/<path> to the store's /<path>, takes the clusters of all senders at
// SendersPath, and serves /healthz and /metrics.
func (d *Redelivery) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, s := range d.stores {
		mux.Handle("POST /"+s.name+"/", http.StripPrefix("/"+s.name, http.HandlerFunc(s.relay)))
	}
	mux.HandleFunc("POST "+platform.SendersPath, d.setSenders)
	mux.HandleFunc("GET "+platform.HealthPath, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // fails only if the client is gone
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		d.metrics.WritePrometheus(w)
		metrics.WriteProcessMetrics(w)
	})
	return mux
}

// relay forwards a request, keeps it in the buffer if the store accepted it, and
// returns the store's response.
func (s *store) relay(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, in.Body, maxRequestBytes))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	r := &request{id: s.nextID(), path: in.URL.RequestURI(), header: http.Header{}, body: body}
	for _, name := range []string{"Content-Type", "Content-Encoding", streamFields} {
		if value := in.Header.Get(name); value != "" {
			r.header.Set(name, value)
		}
	}
	if s.keepsDuplicates {
		r.header.Set(extraFields, FieldDelivery+"="+r.id)
		r.header.Set(ignoredFields, platform.AttributeSender)
	}
	admitted, err := s.limit(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.body == nil {
		admitted.Stored()
		return
	}
	if !s.buffer(r) {
		admitted.Lost()
		w.Header().Set("Retry-After", "1")
		http.Error(w, fmt.Sprintf("%s has not yet written %d MiB", s.name, maxBufferedBytes>>20), http.StatusServiceUnavailable)
		return
	}
	response, err := s.send(in.Context(), r)
	accepted := err == nil && response.StatusCode/100 == 2
	s.acknowledge(r, accepted)
	if accepted {
		admitted.Stored()
	} else {
		admitted.Lost()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer func() { _ = response.Body.Close() }()
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body) // a client that is gone retries
}

// Run watches the stores until ctx is done.
func (d *Redelivery) Run(ctx context.Context) {
	var watchers sync.WaitGroup
	for _, s := range d.stores {
		watchers.Go(func() { s.watch(ctx) })
	}
	watchers.Wait()
}

// resendAll resends the requests that are due, the oldest first. Those that the store
// cannot accept now, or for which the time is over, are due again at the next
// heartbeat.
func (s *store) resendAll(ctx context.Context, due []*request) {
	if len(due) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	sent, lastError := 0, ""
	for _, r := range due {
		status, err := s.resendOne(ctx, r)
		if err != nil {
			lastError = err.Error()
			if ctx.Err() != nil {
				break
			}
			continue
		}
		if status/100 == 2 {
			sent++
		} else {
			lastError = http.StatusText(status)
		}
		if !retryable(status) {
			s.recordResult(r, status)
		}
	}
	if sent > 0 || lastError != s.lastError { // not every second while a disk is full
		slog.Info("resent", "store", s.name, "requests", sent, "of", len(due), "lastError", lastError)
	}
	s.lastError = lastError
}

// recordResult records the status with which the store answered a resent request.
func (s *store) recordResult(r *request, status int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	r.resend, r.beats, r.lookups = false, 0, 0
	if status/100 == 2 {
		s.resent.Inc()
		return
	}
	s.refused.Inc() // the store will never accept it
	s.removeWhere(func(other *request) bool { return other == r })
}

// resendOne resends a request, without the lines that the store has.
func (s *store) resendOne(ctx context.Context, r *request) (status int, err error) {
	if s.keepsDuplicates && r.lookups < maxLookups {
		lookup, cancel := context.WithTimeout(ctx, lookupTimeout)
		missing, err := s.missingLines(lookup, r)
		cancel()
		if err != nil {
			r.lookups++
			return 0, err
		}
		if missing == nil {
			return http.StatusOK, nil
		}
		r = missing
	}
	response, err := s.send(ctx, r)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, response.Body) // leaves the connection reusable
	_ = response.Body.Close()
	return response.StatusCode, nil
}

// retryable reports whether a sender must retry after an HTTP status (OTLP
// specification, "Retryable response codes"); the collector does the same.
func retryable(status int) bool {
	return slices.Contains([]int{
		http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, status)
}
