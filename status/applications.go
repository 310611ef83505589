package status

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/report"
	"github.com/emr-observatory/emr-observatory/rules"
	"github.com/emr-observatory/emr-observatory/verdict"
)

// ApplicationsPath is below which the pages of applications are served: pages for browsers and
// JSON for programs, as /status is.
const ApplicationsPath = platform.StatusApplicationsPath

const (
	applicationTimeout = 30 * time.Second // the profiler reads the tables in S3
	maxApplication     = 4 << 20          // bytes; the profiler bounds what a page lists
)

// errNotInTables is the error of an application that the profiler has not read.
var errNotInTables = errors.New("neither its history nor its metrics are known")

// inTables asks the profiler for the page of an application.
func (s Source) inTables(ctx context.Context, id string) (report.Application, error) {
	var page report.Application
	endpoint, configured := s.Config.Endpoints[platform.WorkloadProfiler]
	if !configured {
		return page, errNotInTables
	}
	body, err := get(ctx, s.Client, applicationTimeout, endpoint.URL+serve.ApplicationsPath+"/"+id)
	if refused, ok := errors.AsType[*refusal](err); ok && refused.status == http.StatusNotFound {
		return page, errNotInTables
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

// liveWindow is how long after its end an application has a page without a profiler.
const liveWindow = 24 * time.Hour

// live makes the page of an application from its metrics, as long as nobody has read its
// history. seen is when its driver has sent the last of them.
func (s Source) live(ctx context.Context, id string) (page report.Application, seen time.Time, err error) {
	samples, err := s.query(ctx, phasesQuery([]string{id}, liveWindow))
	if err != nil {
		return report.Application{}, seen, fmt.Errorf("read the phases of application %s: %w", id, err)
	}
	readings, err := readingsOf(samples)
	if err != nil {
		return report.Application{}, seen, fmt.Errorf("read the phases of application %s: %w", id, err)
	}
	last, sent := latest(readings, id)
	steps := []Step{{Phases: last.phases(id, false)}}
	if !sent || len(steps[0].Phases) == 0 {
		return report.Application{}, seen, fmt.Errorf("application %s: %w%s", id, errNotInTables, s.whenRead(ctx, id))
	}
	long := !steps[0].Phases[0].Ended && steps[0].Phases[0].wall() > liveWindow.Seconds()
	if long {
		err = s.ofLastDay(ctx, &steps[0].Phases[0])
	} else {
		err = s.addVerdicts(ctx, steps, liveWindow)
	}
	if err != nil {
		return report.Application{}, seen, fmt.Errorf("application %s: %w", id, err)
	}
	of := steps[0].Phases[0]
	page = report.Application{
		ID: id, Name: cmp.Or(last.name, id), Cluster: last.cluster, Step: last.step, Spark: last.spark, Airflow: last.airflow, Live: true,
		Outcome:     "Running, or its driver was killed",
		Approximate: of.Approximate, Missing: []string{"The history is not in the tables yet" + s.whenRead(ctx, id) + "."},
	}
	started, seen := last.lastSeen()
	if page.Started = started; of.Ended {
		page.Outcome, page.Ended = "Ended", seen
	}
	wall := of.wall()
	page.Wall = lasting(wall)
	for _, phase := range platform.Phases() {
		if took := of.Seconds[phase]; took > 0 {
			page.Phases = append(page.Phases, report.PhaseOf(string(phase), lasting(took), took/wall))
		}
	}
	addFindings(&page, *of.Verdict)
	if long {
		page.Since = seen.Add(-page.Wall)
	}
	return page, seen, nil
}

func lasting(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// addFindings adds what the rules say by the metrics.
func addFindings(page *report.Application, v verdict.Verdict) {
	seen := map[rules.ID]bool{}
	for _, f := range v.Findings {
		seen[f.Rule] = true
		shown := report.Finding{
			Rule: f.Rule, Title: f.Title, Severity: f.Severity, Summary: "By the metrics: " + f.Cost() + ".", Recipe: f.Recipe,
			Advice: f.Title + ": see the recipe for its causes.",
		}
		if f.Impact != nil && f.Share != nil {
			shown.Impact, shown.Share = new(lasting(*f.Impact)), *f.Share
		}
		for _, setting := range f.Settings {
			property, value, _ := strings.Cut(setting, "=")
			shown.Settings = append(shown.Settings, report.Setting{Property: property, Value: value})
		}
		page.Findings = append(page.Findings, shown)
	}
	for _, id := range v.NeedHistory {
		seen[id] = true
		page.NotChecked = append(page.NotChecked, report.NotChecked{Title: rules.Get(id).Title})
	}
	for _, rule := range rules.All() {
		if rule.Query != (rules.Query{}) && !seen[rule.ID] {
			page.Clean = append(page.Clean, rule.Title)
		}
	}
}

// whenRead says when the profiler reads an application.
func (s Source) whenRead(ctx context.Context, id string) string {
	const byHand = "; `observatory profile report` makes a page from its event log at any time"
	state, err := s.history(ctx)
	if err != nil || state == nil {
		return byHand
	}
	return byHand + "; the profiler: " + cmp.Or(wokenLine(state, id, time.Now()), historyLine(state, time.Now()))
}

// wokenLine says when an application is read whose end has woken the profiler; "" if none has.
func wokenLine(state *serve.State, id string, now time.Time) string {
	at := slices.IndexFunc(state.Woken, func(w serve.Woken) bool { return slices.Contains(w.Applications, id) })
	if at < 0 {
		return ""
	}
	woken := state.Woken[at]
	when := "reads cluster " + woken.Cluster + " now"
	if left := woken.Next.Sub(now); left > 0 {
		when = "reads cluster " + woken.Cluster + " in " + brief(left)
	}
	switch {
	case woken.Error != "":
		return when + "; the last time it could not: " + woken.Error
	case woken.From != "":
		return when + "; the last time it was not in " + woken.From
	}
	return when
}

// serveApplication answers with the page of an application.
func (s server) serveApplication(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !platform.IsYARNApplicationID(id) {
		http.Error(w, fmt.Sprintf("application %q: must be an id such as application_1700000000000_0001", id), http.StatusBadRequest)
		return
	}
	shown, err := s.application(r.Context(), id, absentFor(r))
	switch {
	case errors.Is(err, errNotInTables):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Vary", "Accept, "+platform.ServicesHeader+", "+platform.AbsentHeader)
	page := shown.page
	page.Links = s.page(r, shown.status).linksOf(shown.step, s.config.StepLinks)
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
