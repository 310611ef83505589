package check

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// State is the outcome of a query.
type State string

// The states. Failed is a query that the store rejected or that could not be sent.
const (
	Data          State = "data"
	Empty         State = "empty"
	ExpectedEmpty State = "expected-empty" // the panel names the fault that would fill it
	Failed        State = "error"
)

// Selections of the variables.
const (
	SelectionAll    = "all"    // every variable at "All"
	SelectionListed = "listed" // every value of every multi-value variable, individually
)

// VariablePanel stands for the panel in the results of variables.
const VariablePanel = "(variable)"

// Result is one query with one selection.
type Result struct {
	Dashboard  string `json:"dashboard"`
	Panel      string `json:"panel"`
	Query      string `json:"query"` // refId, or $name of a variable
	Selection  string `json:"selection"`
	Datasource string `json:"datasource"`
	Expr       string `json:"expr"` // as sent to the store
	State      State  `json:"state"`
	Samples    int    `json:"samples"` // samples, rows, traces or values within the checked time
	Series     int    `json:"series"`
	Error      string `json:"error,omitempty"` // why it failed, or why its data does not count
}

// Report is the outcome of a check.
type Report struct {
	Since         time.Time `json:"since"`
	Until         time.Time `json:"until"`
	Panels        int       `json:"panels"`  // with at least one query
	Queries       int       `json:"queries"` // results: of variables, and of each panel's queries per selection
	Empty         int       `json:"empty"`
	ExpectedEmpty int       `json:"expectedEmpty"`
	Errors        int       `json:"errors"`
	Results       []Result  `json:"results"`
}

// finding is what a store returned.
type finding struct {
	samples int
	series  int
	stale   bool // there is data, but from before the checked time

	least, most float64 // of the numbers of a metrics query
}

// add widens the range of the numbers; text that is not a number is ignored.
func (f *finding) add(text string) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		f.least, f.most = min(f.least, n), max(f.most, n)
	}
}

// fullShare is 1 plus what rates of counters may exceed it by when scrapes are
// a little early or late.
const fullShare = 1.1

// share checks that the numbers are shares of a whole.
func (f finding) share() error {
	for _, n := range []float64{f.least, f.most} {
		if n < 0 || n > fullShare {
			return fmt.Errorf("a share of %g: the query does not divide by the whole", n)
		}
	}
	return nil
}

// judge sets the result's state from what the store returned.
func (r Result) judge(found finding, err error, emptyWhenHealthy string) Result {
	r.Samples, r.Series = found.samples, found.series
	switch {
	case err != nil:
		r.State, r.Error = Failed, err.Error()
	case found.samples > 0 && !found.stale:
		r.State = Data
	case emptyWhenHealthy != "":
		r.State = ExpectedEmpty
	default:
		r.State = Empty
		if found.stale {
			r.Error = "only data from before the checked time"
		}
	}
	return r
}

func newReport(options Options, results []Result) Report {
	report := Report{Since: options.Since, Until: options.Until, Queries: len(results), Results: results}
	panels := map[[2]string]bool{}
	for _, r := range results {
		if r.Panel != VariablePanel {
			panels[[2]string{r.Dashboard, r.Panel}] = true
		}
		switch r.State {
		case Empty:
			report.Empty++
		case ExpectedEmpty:
			report.ExpectedEmpty++
		case Failed:
			report.Errors++
		case Data:
		}
	}
	report.Panels = len(panels)
	return report
}

// Err names each query that failed or had no data, unless it was expected to be
// empty.
func (r Report) Err() error {
	var errs []error
	for _, result := range r.Results {
		if result.State != Empty && result.State != Failed {
			continue
		}
		err := fmt.Errorf("%s / %s / %s (%s): %s: %s",
			result.Dashboard, result.Panel, result.Query, result.Selection, result.State, result.Expr)
		if result.Error != "" {
			err = fmt.Errorf("%w: %s", err, result.Error)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// emptyMeans follows the totals if there are empty queries: most jobs do not do all that the
// panels show.
const emptyMeans = "An empty query has no data since then: no job has done what it shows, such as writing to S3 or spilling, or its\n" +
	"data has not arrived. docs/reference/dashboards.md says what each panel shows; --since 1h counts earlier jobs, too.\n"

// maxWhy is how many bytes of a query the table shows; the JSON has all.
const maxWhy = 120

// WriteTable prints the totals and the results without data, or every result
// with all. A result that is the same for both selections is one line.
func (r Report) WriteTable(w io.Writer, all bool) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.AppendHeader(table.Row{"dashboard", "panel", "query", "variables", "state", "samples", "series", "why"})
	rows, states := 0, map[[3]string]State{}
	for _, result := range r.Results {
		key := [3]string{result.Dashboard, result.Panel, result.Query}
		if result.Selection == SelectionAll {
			states[key] = result.State
		}
		if !all && (result.State == Data || result.State == ExpectedEmpty) {
			continue
		}
		if !all && result.Selection == SelectionListed && states[key] == result.State {
			continue
		}
		why := result.Error
		if why == "" && result.State == Empty {
			why = result.Expr
		}
		if len(why) > maxWhy {
			why = why[:maxWhy] + "…"
		}
		t.AppendRow(table.Row{
			result.Dashboard, result.Panel, result.Query, result.Selection, result.State, result.Samples, result.Series, why,
		})
		rows++
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Name: "why", WidthMax: 60}})
	if rows > 0 {
		t.Render()
	}
	fmt.Fprintf(w, "%d panels, %d queries since %s: %d with data, %d empty as expected, %d empty, %d failed\n",
		r.Panels, r.Queries, r.Since.Format(time.RFC3339),
		r.Queries-r.Empty-r.ExpectedEmpty-r.Errors, r.ExpectedEmpty, r.Empty, r.Errors)
	if r.Empty > 0 {
		fmt.Fprint(w, emptyMeans)
	}
}
