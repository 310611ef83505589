package check

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/dashboards/panel"
)

// Endpoints are the base URLs of the stores, such as http://127.0.0.1:8428.
type Endpoints struct {
	Metrics  string // VictoriaMetrics
	Logs     string // VictoriaLogs
	Traces   string // Tempo
	Profiles string // Pyroscope
}

// Options select what is checked and where.
type Options struct {
	Dashboards []dashboards.Dashboard
	Endpoints  Endpoints
	Since      time.Time           // older data does not count
	Until      time.Time           // end of the time range; zero is now
	Variables  map[string][]string // values of variables by name; the others are "All"
	Client     *http.Client        // nil: a client with a timeout of 30 s per request
}

// requestTimeout bounds one query; Grafana's default is the same.
const requestTimeout = 30 * time.Second

func (o Options) withDefaults() Options {
	if o.Until.IsZero() {
		o.Until = time.Now()
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: requestTimeout}
	}
	return o
}

func (o Options) validate() error {
	var errs []error
	if len(o.Dashboards) == 0 {
		errs = append(errs, errors.New("dashboards: none given: pass at least one"))
	}
	if o.Since.IsZero() {
		errs = append(errs, errors.New("since: not set, so old data would count: pass the start time of the checked run"))
	}
	if !o.Since.Before(o.Until) {
		errs = append(errs, fmt.Errorf("since: %s is not before until %s", o.Since.Format(time.RFC3339), o.Until.Format(time.RFC3339)))
	}
	for _, e := range []struct{ name, value string }{
		{"metrics", o.Endpoints.Metrics}, {"logs", o.Endpoints.Logs}, {"traces", o.Endpoints.Traces}, {"profiles", o.Endpoints.Profiles},
	} {
		u, err := url.Parse(e.value)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			errs = append(errs, fmt.Errorf("endpoints.%s: %q is not an http URL such as http://127.0.0.1:8428", e.name, e.value))
		}
	}
	return errors.Join(errs...)
}

// Run checks the dashboards. Each query runs with every variable at "All", and
// again with all values of every multi-value variable selected individually,
// which reveals wrong quoting. The error is about the check itself: options,
// unreadable JSON, no query at all, a cancelled context. The outcome of the
// queries is in the Report.
func Run(ctx context.Context, options Options) (Report, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return Report{}, fmt.Errorf("check dashboards: %w", err)
	}
	var (
		results []Result
		errs    []error
	)
	for _, d := range options.Dashboards {
		parsed, err := parse(d.JSON)
		if err != nil {
			errs = append(errs, fmt.Errorf("read dashboard %s: %w", d.Slug, err))
			continue
		}
		r := runner{options: options, slug: d.Slug}
		found, err := r.dashboard(ctx, parsed)
		errs = append(errs, err)
		results = append(results, found...)
	}
	if err := errors.Join(errs...); err != nil {
		return Report{}, fmt.Errorf("check dashboards: %w", err)
	}
	if len(results) == 0 {
		return Report{}, errors.New("check dashboards: no dashboard has a query, so nothing was checked")
	}
	return newReport(options, results), nil
}

// runner checks one dashboard.
type runner struct {
	options Options
	slug    string
}

func (r runner) dashboard(ctx context.Context, d dashboard) ([]Result, error) {
	all, listed, results := r.variables(ctx, d)
	for _, selection := range []struct {
		name   string
		values values
	}{{SelectionAll, all}, {SelectionListed, listed}} {
		if selection.values == nil {
			continue
		}
		for _, p := range d.panels() {
			for _, t := range p.Targets {
				if t.Hide {
					continue
				}
				if err := ctx.Err(); err != nil {
					return nil, fmt.Errorf("stopped at panel %q: %w", p.Title, err)
				}
				result := r.query(ctx, p, t, selection.values)
				result.Selection = selection.name
				results = append(results, result)
			}
		}
	}
	return results, nil
}

// query runs one query and judges its result.
func (r runner) query(ctx context.Context, p panelJSON, t target, v values) Result {
	ds := t.Datasource
	if ds.Type == "" {
		ds = p.Datasource
	}
	result := Result{Dashboard: r.slug, Panel: p.Title, Query: t.RefID, Datasource: ds.Type}
	window := newWindow(r.options.Since, r.options.Until, t.Interval, p.Interval)
	expr, err := interpolate(t.text(), v, window, pluginFormat(ds.Type))
	result.Expr = expr
	var found finding
	if err == nil {
		found, err = r.queryStore(ctx, ds.Type, t, expr, window)
	}
	if err == nil && p.Type != "table" && p.FieldConfig.Defaults.Unit == panel.UnitShare { // a table's columns have their own units
		err = found.share()
	}
	result = result.judge(found, err, p.emptyWhenHealthy())
	if result.State == Empty && result.Error == "" && ds.Type == metricsPlugin {
		result.Error = conditionOf(expr)
	}
	return result
}

// queryStore runs an interpolated query on the store of its datasource.
func (r runner) queryStore(ctx context.Context, plugin string, t target, expr string, w window) (finding, error) {
	e := r.options.Endpoints
	switch plugin {
	case metricsPlugin:
		return metricsStore{client{e.Metrics, r.options.Client}}.query(ctx, expr, t.Instant, w)
	case logsPlugin:
		return logsStore{client{e.Logs, r.options.Client}}.query(ctx, expr, t, w)
	case tracesPlugin:
		return tracesStore{client{e.Traces, r.options.Client}}.query(ctx, expr, t, w)
	case profilesPlugin:
		return profilesStore{client{e.Profiles, r.options.Client}}.query(ctx, expr, t, w)
	}
	return finding{}, fmt.Errorf("datasource type %q: the check supports %s, %s, %s and %s",
		plugin, metricsPlugin, logsPlugin, tracesPlugin, profilesPlugin)
}
