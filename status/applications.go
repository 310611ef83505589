package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/report"
)

// ApplicationsPath is below which the pages of applications are served: pages for browsers and
// JSON for programs, as /status is.
const ApplicationsPath = Path + "/applications"

const (
	applicationTimeout = 30 * time.Second // the profiler reads the tables in S3
	maxApplication     = 4 << 20          // bytes; the profiler bounds what a page lists
)

// errNotInTables is the error of an application that the profiler has not read.
var errNotInTables = errors.New("its history is not in the tables yet")

// application asks the profiler for the page of an application.
func (s Source) application(ctx context.Context, id string) (report.Application, error) {
	var page report.Application
	endpoint, configured := s.Config.Endpoints[platform.WorkloadProfiler]
	if !configured {
		return page, fmt.Errorf("application %s: %w: no profiler runs (profiler.enabled)", id, errNotInTables)
	}
	body, err := get(ctx, s.Client, applicationTimeout, endpoint.URL+serve.ApplicationsPath+"/"+id)
	if refused, ok := errors.AsType[*refusal](err); ok && refused.status == http.StatusNotFound {
		text := fmt.Sprintf("; `observatory profile report` makes a page from its event log at any time%s", s.whenRead(ctx))
		return page, fmt.Errorf("application %s: %w%s", id, errNotInTables, text)
	}
	if err != nil {
		return page, fmt.Errorf("read the page of application %s: %w", id, err)
	}
	defer body.Close()
	if err := json.NewDecoder(http.MaxBytesReader(nil, body, maxApplication)).Decode(&page); err != nil {
		return page, fmt.Errorf("read the page of application %s from %s: %w", id, endpoint.URL, err)
	}
	return page, nil
}

// whenRead says when the profiler reads again.
func (s Source) whenRead(ctx context.Context) string {
	state, err := s.history(ctx)
	if err != nil || state == nil {
		return ""
	}
	return "; the profiler: " + historyLine(state, time.Now())
}

// serveApplication answers with the page of an application.
func (s server) serveApplication(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !application.MatchString(id) {
		http.Error(w, fmt.Sprintf("application %q: must be an id such as application_1700000000000_0001", id), http.StatusBadRequest)
		return
	}
	page, err := s.application(r.Context(), id)
	switch {
	case errors.Is(err, errNotInTables):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Vary", "Accept")
	if !prefersPage(r.Header) {
		writeJSON(w, http.StatusOK, page)
		return
	}
	var body bytes.Buffer // an error does not end the page in the middle
	if err := report.Write(&body, page, platform.SourceURL); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", report.Policy())
	w.Header().Set("Referrer-Policy", "no-referrer")
	_, _ = body.WriteTo(w) // fails only if the client is gone
}
