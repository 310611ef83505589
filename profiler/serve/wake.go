package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/basicauth"
	"github.com/emr-observatory/emr-observatory/platform"
)

// WakePath is where a Wake is posted, as JSON, with the password of platform.StatusUser.
const WakePath = "/wake"

// Wake asks to read a cluster before the next run, since these of its applications have ended.
type Wake struct {
	Cluster      string   `json:"cluster"`
	Applications []string `json:"applications"`
}

// Limits of what waits. A cluster runs few steps at once; more would come from a mistake.
const (
	MaxWakeApplications = 500 // of a cluster
	maxWoken            = 100 // clusters
	maxWakeBody         = 64 << 10
)

// Validate returns every violation of the rules for a Wake.
func (w Wake) Validate() error {
	var violations []error
	if !platform.IsClusterID(w.Cluster) {
		violations = append(violations, fmt.Errorf("cluster: %q: must be an EMR cluster id, j-…", w.Cluster))
	}
	if n := len(w.Applications); n == 0 || n > MaxWakeApplications {
		violations = append(violations, fmt.Errorf("applications: %d: must be 1 to %d", n, MaxWakeApplications))
	}
	for i, id := range w.Applications {
		if !platform.IsYARNApplicationID(id) {
			violations = append(violations, fmt.Errorf("applications[%d]: %q: must be an id such as application_1700000000000_0001", i, id))
		}
	}
	return errors.Join(violations...)
}

// Woken is a cluster that is read before the next run.
type Woken struct {
	Wake

	Since time.Time `json:"since"`          // of the first request
	Next  time.Time `json:"next"`           // when it is read
	Tries int       `json:"tries"`          // so far
	From  string    `json:"from,omitempty"` // what the last try read, in words
	Error string    `json:"error,omitempty"`
}

// Waits before a woken cluster is read. Steps of one cluster end together, and one reading is
// for all. A running cluster's history server shows an application within seconds, and the
// persistent UI of a waiting one minutes later: EMR says no more than that.
const (
	coalescing    = 10 * time.Second
	wakeRetry     = time.Minute
	steadyRetries = 5 // after which the waits double
	wakeLimit     = 20 * time.Minute
)

// Found is what a reading of a woken cluster found.
type Found struct {
	From    string   // what was read, in words: "its event logs in S3"
	Missing []string // applications whose end is not in the tables
	// Excluded reports that the options exclude the cluster: nobody reads it.
	Excluded bool
}

// waker reads woken clusters.
type waker struct {
	password string
	read     func(context.Context, Wake) (Found, error)
	woken    map[string]*Woken // by cluster; Server.mu guards it
	changed  chan struct{}     // has an element if a wake was added
}

// ServeWakes serves POST WakePath to those who have the password. read reads one cluster, and
// reports which of the applications it has not found to the end: those are tried again, until
// wakeLimit.
func (s *Server) ServeWakes(password string, read func(context.Context, Wake) (Found, error)) {
	s.waker = &waker{password: password, read: read, woken: map[string]*Woken{}, changed: make(chan struct{}, 1)}
	for _, result := range wakeResults() {
		s.wakes[result] = s.metrics.NewCounter(fmt.Sprintf("%s{%s=%q}", MetricWakes, LabelResult, result))
	}
}

// Results of wakes.
const (
	wakeRead     = "read"     // all applications are in the tables
	wakeExcluded = "excluded" // by the options
	wakeExpired  = "expired"  // left to the next run
)

func wakeResults() []string { return []string{wakeRead, wakeExcluded, wakeExpired} }

// serveWake adds a wake.
func (s *Server) serveWake(w http.ResponseWriter, r *http.Request) {
	var wake Wake
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxWakeBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&wake); err != nil {
		http.Error(w, fmt.Sprintf("read the request: %v", err), http.StatusBadRequest)
		return
	}
	if err := wake.Validate(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.wake(wake, time.Now()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// wake adds applications to those of a cluster that wait to be read.
func (s *Server) wake(wake Wake, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.waker.woken[wake.Cluster]
	if waiting == nil {
		if len(s.waker.woken) == maxWoken {
			return fmt.Errorf("%d clusters wait to be read: no more are accepted; the next run reads all", maxWoken)
		}
		waiting = &Woken{Wake: Wake{Cluster: wake.Cluster}, Since: now.UTC()}
		s.waker.woken[wake.Cluster] = waiting
	}
	all := slices.Concat(waiting.Applications, wake.Applications)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > MaxWakeApplications {
		return fmt.Errorf("%d applications of %s wait to be read: no more are accepted; the next run reads all", MaxWakeApplications,
			wake.Cluster)
	}
	if len(all) > len(waiting.Applications) {
		waiting.Applications, waiting.Since, waiting.Tries, waiting.Next = all, now.UTC(), 0, now.Add(coalescing).UTC()
	}
	select {
	case s.waker.changed <- struct{}{}:
	default: // it has one
	}
	return nil
}

// due returns when the next woken cluster is to be read, which one it is, and whether there is
// one.
func (s *Server) due() (next Woken, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.wokenClusters(); len(all) > 0 {
		return all[0], true
	}
	return next, false
}

// readWoken reads a woken cluster, and decides what follows.
func (s *Server) readWoken(ctx context.Context, due Woken) {
	found, err := s.waker.read(ctx, due.Wake)
	if ctx.Err() != nil {
		return
	}
	s.tried(due, found, err, time.Now())
}

// tried records a reading. Applications that were added meanwhile stay.
func (s *Server) tried(due Woken, found Found, err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.waker.woken[due.Cluster]
	added := len(waiting.Applications) > len(due.Applications)
	if err != nil {
		found.Missing, waiting.Error = due.Applications, err.Error()
	} else {
		waiting.Error = ""
	}
	waiting.From = cmp.Or(found.From, waiting.From)
	waiting.Applications = slices.DeleteFunc(waiting.Applications, func(id string) bool {
		return slices.Contains(due.Applications, id) && !slices.Contains(found.Missing, id)
	})
	var result string
	switch {
	case found.Excluded:
		result = wakeExcluded
	case len(waiting.Applications) == 0:
		result = wakeRead
	case added:
		return // its next reading was set when they were added
	default:
		waiting.Tries++
		waiting.Next = now.Add(wakeRetry << max(0, waiting.Tries-steadyRetries)).UTC()
		if waiting.Next.Sub(waiting.Since) <= wakeLimit {
			return
		}
		result = wakeExpired
	}
	s.wakes[result].Inc()
	delete(s.waker.woken, due.Cluster)
}

// wokenClusters lists the clusters that wait to be read, in the order in which they are.
func (s *Server) wokenClusters() (all []Woken) {
	if s.waker == nil {
		return nil
	}
	for _, waiting := range s.waker.woken {
		one := *waiting
		one.Applications = slices.Clone(waiting.Applications) // the original changes
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Woken) int { return cmp.Or(a.Next.Compare(b.Next), cmp.Compare(a.Cluster, b.Cluster)) })
	return all
}

// wakeHandler serves wakes to those who have the password.
func (s *Server) wakeHandler() http.Handler {
	return basicauth.Require(s.waker.password, http.HandlerFunc(s.serveWake))
}
