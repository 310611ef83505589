package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/emr-observatory/emr-observatory/platform"
)

// firstRetry is the wait after a run that failed or found no cluster. It doubles with each
// further one, up to the interval. A new platform's profiler starts before its clusters.
const firstRetry = time.Minute

// Server repeats a run.
type Server struct {
	run      func(context.Context) Report
	interval time.Duration
	metrics  *metrics.Set
	runs     map[Result]*metrics.Counter
	objects  *metrics.Counter

	mu      sync.Mutex
	state   State
	retries int // runs in a row that failed or found no cluster

	applications http.Handler // nil: there are no pages
	waker        *waker       // nil: nobody can wake it
	wakes        map[string]*metrics.Counter
}

// ServeApplications serves GET ApplicationsPath/ID by another handler, which finds the id as the
// path value "id".
func (s *Server) ServeApplications(pages http.Handler) { s.applications = pages }

// New returns a server that repeats run. The interval is between the starts of two runs. run
// returns what it did, and Failed with an error if its context ends.
func New(run func(context.Context) Report, interval time.Duration) *Server {
	s := &Server{
		run: run, interval: interval, metrics: metrics.NewSet(), runs: map[Result]*metrics.Counter{}, wakes: map[string]*metrics.Counter{},
	}
	s.register()
	return s
}

// Limits of the HTTP server.
const (
	headerTimeout   = 5 * time.Second
	shutdownTimeout = 5 * time.Second
)

// Listen serves Handler at an address and repeats the run until ctx is done.
func (s *Server) Listen(ctx context.Context, address string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve the profiler's state: %w", err)
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTimeout}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(listener)
		stop() // nobody can see the state of a profiler that is not served
	}()
	s.Run(ctx)
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err = server.Shutdown(shutdown)
	if stopped := <-served; !errors.Is(stopped, http.ErrServerClosed) {
		err = errors.Join(stopped, err)
	}
	if err != nil {
		return fmt.Errorf("serve the profiler's state on %s: %w", address, err)
	}
	return nil
}

// Run repeats the run until ctx is done, starting at once. Between runs it reads the clusters
// that were woken: only one run at a time may write the tables.
func (s *Server) Run(ctx context.Context) {
	var changed chan struct{}
	if s.waker != nil {
		changed = s.waker.changed
	}
	for next := time.Now(); ctx.Err() == nil; {
		woken, waits := s.due()
		wakes := waits && woken.Next.Before(next)
		at := next
		if wakes {
			at = woken.Next
		}
		timer := time.NewTimer(time.Until(at))
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
			if wakes {
				s.readWoken(ctx, woken)
			} else if report := s.round(ctx); ctx.Err() == nil {
				next = s.finish(report, time.Now())
			}
		}
		timer.Stop()
	}
}

// round runs once.
func (s *Server) round(ctx context.Context) Report {
	s.mu.Lock()
	s.state.Running, s.state.Next = true, nil
	s.mu.Unlock()
	started := time.Now()
	report := s.run(ctx)
	report.Started, report.Ended = started.UTC(), time.Now().UTC()
	return report
}

// finish records a run that ended, and returns when the next one starts.
func (s *Server) finish(report Report, now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := report.Started.Add(s.interval)
	if report.Result == Failed || report.ClustersFound == 0 {
		next = now.Add(min(s.interval, firstRetry<<min(s.retries, 10)))
		s.retries++
	} else {
		s.retries = 0
	}
	if report.Result != Failed {
		s.state.Success = &report.Ended
	}
	if next.Before(now) {
		next = now
	}
	next = next.UTC()
	s.state.Running, s.state.Last, s.state.Next = false, &report, &next
	s.runs[report.Result].Inc()
	s.objects.Add(report.Objects)
	return next
}

// State returns the current state.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state
	state.Woken = s.wokenClusters()
	return state
}

// Handler serves the state, metrics and /healthz.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+platform.HealthPath, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // fails only if the client is gone
	})
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.State()) // fails only if the client is gone: the types always encode
	})
	if s.applications != nil {
		mux.Handle("GET "+ApplicationsPath+"/{id}", s.applications)
	}
	if s.waker != nil {
		mux.Handle("POST "+WakePath, s.wakeHandler())
	}
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		s.metrics.WritePrometheus(w)
		metrics.WriteProcessMetrics(w)
	})
	return mux
}

// Metrics of the profiler. Gauges other than the interval describe the last run, and are 0
// before the first has ended.
const (
	MetricRuns         = "observatory_profiler_runs_total" // by LabelResult
	MetricObjects      = "observatory_profiler_written_objects_total"
	MetricSuccess      = "observatory_profiler_last_success_timestamp_seconds" // of any run
	MetricInterval     = "observatory_profiler_interval_seconds"               // between the starts of two runs
	MetricDuration     = "observatory_profiler_run_duration_seconds"
	MetricClusters     = "observatory_profiler_clusters"     // found
	MetricApplications = "observatory_profiler_applications" // read
	MetricIncomplete   = "observatory_profiler_incomplete"
	MetricWakes        = "observatory_profiler_wakes_total" // by LabelResult
	LabelResult        = "result"
)

// register registers the metrics.
func (s *Server) register() {
	for _, result := range Results() {
		s.runs[result] = s.metrics.NewCounter(fmt.Sprintf("%s{%s=%q}", MetricRuns, LabelResult, result))
	}
	s.objects = s.metrics.NewCounter(MetricObjects)
	s.metrics.NewGauge(MetricSuccess, func() float64 {
		if at := s.State().Success; at != nil {
			return float64(at.Unix())
		}
		return 0
	})
	s.metrics.NewGauge(MetricInterval, s.interval.Seconds)
	last := func(name string, value func(*Report) float64) {
		s.metrics.NewGauge(name, func() float64 {
			if report := s.State().Last; report != nil {
				return value(report)
			}
			return 0
		})
	}
	last(MetricDuration, func(r *Report) float64 { return r.Took().Seconds() })
	last(MetricClusters, func(r *Report) float64 { return float64(r.ClustersFound) })
	last(MetricApplications, func(r *Report) float64 { return float64(r.Applications) })
	last(MetricIncomplete, func(r *Report) float64 { return float64(r.IncompleteCount) })
}
