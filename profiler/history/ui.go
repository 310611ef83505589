package history

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// Applications lists the applications that the server knows, running ones too.
func (c *Client) Applications(ctx context.Context) ([]Application, error) {
	var all []Application
	if err := c.do(ctx, request{path: "/applications"}, decodeInto(&all, c.o.MaxBody)); err != nil {
		return nil, fmt.Errorf("list applications: %w", err)
	}
	for i := range all {
		for j := range all[i].Attempts {
			a := &all[i].Attempts[j]
			a.Start, a.End = either(a.Start, a.StartText), either(a.End, a.EndText)
		}
	}
	return all, nil
}

func either(epoch, text Millis) Millis {
	if epoch != 0 {
		return epoch
	}
	return text
}

// Endpoint is a resource of an attempt.
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

// UI is what the server has of one attempt of an application. It is safe for concurrent
// use. Its first request goes out alone and may take Options.ColdTimeout. An endpoint
// that failed Options.Failures times is left out from then on, and so are all if as many
// requests failed before any succeeded.
type UI struct {
	c    *Client
	path string

	mu       sync.Mutex
	warm     bool
	failures map[Endpoint]int
	failed   int
}

// UI returns the UI of an attempt. attempt is empty in client mode.
func (c *Client) UI(application, attempt string) *UI {
	path := "/applications/" + url.PathEscape(application)
	if attempt != "" {
		path += "/" + url.PathEscape(attempt)
	}
	return &UI{c: c, path: path, failures: map[Endpoint]int{}}
}

// Jobs lists the jobs, those that failed too.
func (u *UI) Jobs(ctx context.Context) (all []Job, err error) {
	err = u.get(ctx, Jobs, "/jobs", nil, decodeInto(&all, u.c.o.MaxBody))
	return all, err
}

// Stages lists the attempts of stages, of every status, without their tasks: with them
// the server would read every task that it has.
func (u *UI) Stages(ctx context.Context) (all []Stage, err error) {
	err = u.get(ctx, Stages, "/stages", nil, decodeInto(&all, u.c.o.MaxBody))
	return all, err
}

// Executors lists the executors and the driver, those that are gone too.
func (u *UI) Executors(ctx context.Context) (all []Executor, err error) {
	err = u.get(ctx, Executors, "/allexecutors", nil, decodeInto(&all, u.c.o.MaxBody))
	return all, err
}

// Environment returns the configuration.
func (u *UI) Environment(ctx context.Context) (e Environment, err error) {
	err = u.get(ctx, Env, "/environment", nil, decodeInto(&e, u.c.o.MaxBody))
	return e, err
}

// TaskSummary returns quantiles of the metrics of a stage's attempt; nil if no task of
// it succeeded.
func (u *UI) TaskSummary(ctx context.Context, stage, attempt int64, quantiles []float64) (*Distributions, error) {
	var words []string
	for _, q := range quantiles {
		words = append(words, strconv.FormatFloat(q, 'g', -1, 64))
	}
	var d Distributions
	path := fmt.Sprintf("/stages/%d/%d/taskSummary", stage, attempt)
	err := u.get(ctx, TaskSummary, path, url.Values{"quantiles": {strings.Join(words, ",")}}, decodeInto(&d, u.c.o.MaxBody))
	switch {
	// StagesResource.taskSummary: "No tasks reported metrics for 7 / 0 yet."
	case errors.Is(err, ErrNotFound) && strings.Contains(err.Error(), "No tasks reported metrics"):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &d, nil
}

// get sends a request to an endpoint, within its budget of failures.
func (u *UI) get(ctx context.Context, e Endpoint, path string, query url.Values, take take) error {
	r := request{path: u.path + path, query: query}
	if left, cold := u.begin(e); left {
		return fmt.Errorf("GET %s: %w", r.path, ErrLeftOut)
	} else if cold {
		r.cold, r.slots = true, u.c.o.Concurrency
	}
	return u.end(ctx, e, u.c.do(ctx, r, take))
}

func (u *UI) begin(e Endpoint) (left, cold bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	most := u.c.o.Failures
	return u.failures[e] >= most || (!u.warm && u.failed >= most), !u.warm
}

// end counts what came of a request. An answer that something does not exist or is too
// long is an answer, too; what the caller gave up says nothing about the server.
func (u *UI) end(ctx context.Context, e Endpoint, err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLong):
		u.warm = true
	case errors.Is(err, ErrForbidden): // it stays so
		u.failures[e], u.failed = u.c.o.Failures, u.c.o.Failures
	case ctx.Err() == nil:
		u.failures[e]++
		u.failed++
	}
	return err
}
