// Package status reports the state of the platform: the S3 layout, the control node,
// the nodes that send telemetry, the last steps of their clusters, which workloads are
// ready, and how the profiler's last run went. It serves this as /status on the control node, fetches it and renders it
// for people.
//
// It stores nothing: for each request, nodes are read from VictoriaMetrics, workloads
// from their own readiness URLs, and steps from EMR, whose answer is kept for seconds.
package status

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/basicauth"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Path is where the status is served.
const Path = platform.StatusPath

// Handler serves GET /status and /healthz for the server itself. /status is a page
// for browsers and JSON for programs, by their header Accept; ?section= is one part
// of it as JSON. /status/phases has the phases of one step's applications, and
// /status/applications lists applications, and has the page of each below it.
// All but /healthz requires the password of platform.StatusUser.
func Handler(source Source, password string) http.Handler {
	return server{source.Config, source.Read, source.readPhases, source.readApplication, source.listApplications}.handler(password)
}

// server serves what its functions return.
type server struct {
	config Config
	read   func(context.Context) Status
	phases func(context.Context, Step, map[platform.Workload]string) (Status, error) // of one step

	application  func(ctx context.Context, id string, absent map[platform.Workload]string) (shownApplication, error)
	applications func(context.Context) (ApplicationList, error)
}

func (s server) handler(password string) http.Handler {
	protected := http.NewServeMux()
	protected.Handle("GET /{$}", http.RedirectHandler(Path, http.StatusFound)) // the stack output statusUrl has no path
	protected.HandleFunc("GET "+Path, s.serve)
	protected.HandleFunc("GET "+stylePath, writeStyle)
	protected.HandleFunc("GET "+phasesPath, s.servePhases)
	protected.HandleFunc("GET "+ApplicationsPath, s.serveApplications)
	protected.HandleFunc("GET "+ApplicationsPath+"/{id}", s.serveApplication)
	mux := http.NewServeMux()
	mux.Handle("/", basicauth.Require(password, protected))
	mux.HandleFunc("GET "+platform.HealthPath, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // fails only if the client is gone
	})
	return withoutCaches(mux)
}

// withoutCaches keeps responses out of caches, and browsers from guessing their types.
func withoutCaches(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// serve answers with the whole status, or the part that ?section= names.
func (s server) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept, "+platform.ServicesHeader+", "+platform.AbsentHeader)
	section := r.URL.Query().Get("section")
	if section != "" && !slices.Contains(Sections(), section) {
		_, err := Status{}.Section(section)
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	read := s.read(r.Context()).markAbsent(absentFor(r))
	shown := s.page(r, read)
	read = shown.Status // with the links that depend on the client
	switch {
	case section != "":
		part, err := read.Section(section)
		if err != nil {
			writeJSON(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
			return
		}
		writeJSON(w, http.StatusOK, part)
	case prefersPage(r.Header):
		writePage(w, pageHTML, shown)
	default:
		writeJSON(w, http.StatusOK, read)
	}
}

// absentFor returns the workloads that do not run where the server runs, with the reasons.
func absentFor(r *http.Request) map[platform.Workload]string {
	return platform.DecodeAbsent(r.Header.Get(platform.AbsentHeader))
}

// page lays a status out for the client of a request.
func (s server) page(r *http.Request, read Status) page {
	return newPage(read, s.config, platform.DecodeServices(r.Header.Get(platform.ServicesHeader)), time.Now())
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(value) // fails only if the client is gone: the types always encode
}

// prefersPage reports whether a client prefers a page over JSON: it names text/html,
// as browsers do, with at least the quality of application/json. Programs that accept
// anything get JSON.
func prefersPage(header http.Header) bool {
	page, data := 0.0, 0.0
	for _, one := range strings.Split(strings.Join(header.Values("Accept"), ","), ",") {
		kind, parameters, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, given := parameters["q"]; given {
			if quality, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		switch kind {
		case "text/html":
			page = max(page, quality)
		case "application/json":
			data = max(data, quality)
		}
	}
	return page > 0 && page >= data
}
