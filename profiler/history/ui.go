package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Applications lists the applications that the server knows, including running ones.
func (c *Client) Applications(ctx context.Context) ([]Application, error) {
	var all []Application
	if err := c.do(ctx, request{path: "/applications"}, decodeInto(&all, c.o.MaxBody)); err != nil {
		return nil, fmt.Errorf("list applications: %w", err)
	}
	for i := range all {
		for j := range all[i].Attempts {
			a := &all[i].Attempts[j]
			a.Start, a.End = cmp.Or(a.Start, a.StartText), cmp.Or(a.End, a.EndText)
		}
	}
	return all, nil
}

// Endpoint is a resource of an application attempt.
type Endpoint string

// Endpoints.
const (
	Jobs        Endpoint = "jobs"
	Stages      Endpoint = "stages"
	TaskSummary Endpoint = "taskSummary"
	TaskList    Endpoint = "taskList"
	Executors   Endpoint = "allexecutors"
	Env         Endpoint = "environment"
	SQL         Endpoint = "sql"
	Logs        Endpoint = "logs"
)

// UI reads one application attempt from the server. It is safe for concurrent use. Its
// first request is sent alone and may take Options.ColdTimeout. An endpoint that failed
// Options.Failures times is left out from then on, and so are all endpoints if as many
// requests failed before any succeeded.
type UI struct {
	c    *Client
	path string

	mu       sync.Mutex
	warm     bool // the server has responded, so its event log is replayed
	failures map[Endpoint]int
	failed   int // over all endpoints
}

// UI returns the UI of an application attempt. attempt is "" in client mode.
func (c *Client) UI(application, attempt string) *UI {
	path := "/applications/" + url.PathEscape(application)
	if attempt != "" {
		path += "/" + url.PathEscape(attempt)
	}
	return &UI{c: c, path: path, failures: map[Endpoint]int{}}
}

// Jobs lists the jobs, including failed ones.
func (u *UI) Jobs(ctx context.Context) (all []tables.Job, err error) {
	err = u.get(ctx, Jobs, "/jobs", nil, decodeInto(&all, u.c.o.MaxBody, ofRows))
	return all, err
}

// Stages lists the stage attempts of every status. It leaves out their tasks, for which the
// server would have to read every task.
func (u *UI) Stages(ctx context.Context) (all []tables.StageRow, err error) {
	err = u.get(ctx, Stages, "/stages", nil, decodeInto(&all, u.c.o.MaxBody, ofRows))
	return all, err
}

// Executors lists the executors, including removed ones, and the driver.
func (u *UI) Executors(ctx context.Context) (all []Executor, err error) {
	err = u.get(ctx, Executors, "/allexecutors", nil, decodeInto(&all, u.c.o.MaxBody, ofRows))
	return all, err
}

// Environment returns the configuration.
func (u *UI) Environment(ctx context.Context) (e Environment, err error) {
	err = u.get(ctx, Env, "/environment", nil, decodeInto(&e, u.c.o.MaxBody))
	return e, err
}

// TaskSummary returns quantiles of the task metrics of a stage attempt, nil if no task
// succeeded.
func (u *UI) TaskSummary(ctx context.Context, stage, attempt int64, quantiles []float64) (*tables.Distributions, error) {
	var texts []string
	for _, q := range quantiles {
		texts = append(texts, strconv.FormatFloat(q, 'g', -1, 64))
	}
	var d tables.Distributions
	path := fmt.Sprintf("/stages/%d/%d/taskSummary", stage, attempt)
	err := u.get(ctx, TaskSummary, path, url.Values{"quantiles": {strings.Join(texts, ",")}}, decodeInto(&d, u.c.o.MaxBody, ofRows))
	switch {
	// StagesResource.taskSummary: "No tasks reported metrics for 7 / 0 yet."
	case errors.Is(err, ErrNotFound) && strings.Contains(err.Error(), "No tasks reported metrics"):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &d, nil
}

// get sends a request to an endpoint unless it has failed too often.
func (u *UI) get(ctx context.Context, e Endpoint, path string, query url.Values, consume consumer) error {
	r := request{path: u.path + path, query: query}
	if skip, cold := u.begin(e); skip {
		return fmt.Errorf("GET %s: %w", r.path, ErrLeftOut)
	} else if cold {
		r.cold, r.slots = true, u.c.o.Concurrency
	}
	return u.end(ctx, e, u.c.do(ctx, r, consume))
}

// begin reports whether to skip a request because the endpoint is left out, and whether the
// server is cold: it has not yet replayed the event log.
func (u *UI) begin(e Endpoint) (skip, cold bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	limit := u.c.o.Failures
	return u.failures[e] >= limit || (!u.warm && u.failed >= limit), !u.warm
}

// end counts the result of a request, and returns err. Responses that are too long or say
// that something does not exist are no failures. A request that the caller gave up says
// nothing about the server.
func (u *UI) end(ctx context.Context, e Endpoint, err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLong):
		u.warm = true
	case errors.Is(err, ErrForbidden): // permanent
		u.failures[e], u.failed = u.c.o.Failures, u.c.o.Failures
	case ctx.Err() == nil:
		u.failures[e]++
		u.failed++
	}
	return err
}
