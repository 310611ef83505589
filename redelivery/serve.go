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
)

// requestBytes is above what the collector sends at once, uncompressed (max_size
// of its queues' batches).
const requestBytes = 8 << 20

var storeName = regexp.MustCompile(`^[a-z][a-z-]*$`)

// Redelivery is the stores' way in.
type Redelivery struct {
	stores  []*store
	metrics *metrics.Set
}

// New takes stores as name=URL, the URL without a path. What is wrong with any
// of them is said at once.
func New(stores []string) (*Redelivery, error) {
	d, faults := &Redelivery{metrics: metrics.NewSet()}, []error(nil)
	for _, s := range stores {
		name, address, _ := strings.Cut(s, "=")
		u, err := url.Parse(address)
		switch {
		case err != nil || !storeName.MatchString(name) || u.Port() == "" || address != "http://"+u.Host:
			faults = append(faults, fmt.Errorf("store %q: must be name=http://host:port, the name of lower-case letters and dashes", s))
		case slices.ContainsFunc(d.stores, func(other *store) bool { return other.name == name }):
			faults = append(faults, fmt.Errorf("store %q: there is another %s; give each a name of its own", s, name))
		default:
			d.stores = append(d.stores, newStore(name, address, d.metrics))
		}
	}
	if len(stores) == 0 {
		faults = append(faults, errors.New("no store: give at least one as name=http://host:port"))
	}
	return d, errors.Join(faults...)
}

// Handler forwards POST /<store>/<path> to the store's /<path>, and serves
// /healthz and /metrics.
func (d *Redelivery) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, s := range d.stores {
		mux.Handle("POST /"+s.name+"/", http.StripPrefix("/"+s.name, http.HandlerFunc(s.take)))
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // the asker has gone otherwise
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		d.metrics.WritePrometheus(w)
		metrics.WriteProcessMetrics(w)
	})
	return mux
}

// take forwards a request, keeps it if the store took it, and gives its answer.
func (s *store) take(w http.ResponseWriter, asked *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, asked.Body, requestBytes))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	r := &request{id: s.nextID(), path: asked.URL.RequestURI(), header: http.Header{}, body: body}
	for _, name := range []string{"Content-Type", "Content-Encoding", streamFields} {
		if value := asked.Header.Get(name); value != "" {
			r.header.Set(name, value)
		}
	}
	if s.lines {
		r.header.Set(extraFields, FieldDelivery+"="+r.id)
	}
	if !s.keep(r) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, fmt.Sprintf("%s has %d MiB still to write", s.name, keptBytes>>20), http.StatusServiceUnavailable)
		return
	}
	response, err := s.send(asked.Context(), r)
	s.answer(r, err == nil && response.StatusCode/100 == 2)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer func() { _ = response.Body.Close() }()
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body) // a sender that has gone asks again
}

// Run watches the stores until ctx ends.
func (d *Redelivery) Run(ctx context.Context) {
	var watching sync.WaitGroup
	for _, s := range d.stores {
		watching.Go(func() { s.watch(ctx) })
	}
	watching.Wait()
}
