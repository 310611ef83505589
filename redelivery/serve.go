package redelivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"github.com/emr-observatory/emr-observatory/platform"
)

// maxRequestBytes is more than the collector's largest request, uncompressed
// (max_size of its queues' batches).
const maxRequestBytes = 8 << 20

var storeName = regexp.MustCompile(`^[a-z][a-z-]*$`)

// Redelivery relays requests to stores.
type Redelivery struct {
	stores  []*store
	metrics *metrics.Set
}

// New creates a relay to stores, given as name=URL without a path. It reports every
// malformed one at once.
func New(stores []string) (*Redelivery, error) {
	d, errs := &Redelivery{metrics: metrics.NewSet()}, []error(nil)
	for _, s := range stores {
		name, address, _ := strings.Cut(s, "=")
		u, err := url.Parse(address)
		switch {
		case err != nil || !storeName.MatchString(name) || u.Port() == "" || address != "http://"+u.Host:
			errs = append(errs, fmt.Errorf("store %q: must be name=http://host:port, with lower-case letters and dashes as name", s))
		case slices.ContainsFunc(d.stores, func(other *store) bool { return other.name == name }):
			errs = append(errs, fmt.Errorf("store %q: there is another %s; give each its own name", s, name))
		default:
			d.stores = append(d.stores, newStore(name, address, d.metrics))
		}
	}
	if len(stores) == 0 {
		errs = append(errs, errors.New("no store: give at least one as name=http://host:port"))
	}
	return d, errors.Join(errs...)
}

// Handler forwards POST /<store>/<path> to the store's /<path>, and serves
// /healthz and /metrics.
func (d *Redelivery) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, s := range d.stores {
		mux.Handle("POST /"+s.name+"/", http.StripPrefix("/"+s.name, http.HandlerFunc(s.relay)))
	}
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
	}
	if !s.buffer(r) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, fmt.Sprintf("%s has not yet written %d MiB", s.name, maxBufferedBytes>>20), http.StatusServiceUnavailable)
		return
	}
	response, err := s.send(in.Context(), r)
	s.acknowledge(r, err == nil && response.StatusCode/100 == 2)
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
