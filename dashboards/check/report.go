package check

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// State is what a query came to.
type State string

// The states. An error is a query the store refused or could not be asked.
const (
	Data          State = "data"
	Empty         State = "empty"
	ExpectedEmpty State = "expected-empty" // and the panel says which fault would fill it
	Failed        State = "error"
)

// How the variables stood.
const (
	SelectionAll    = "all"    // every variable at "All"
	SelectionListed = "listed" // every value of every multi-value variable chosen one by one
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
	Expr       string `json:"expr"` // as the store was asked
	State      State  `json:"state"`
	Samples    int    `json:"samples"` // samples, rows, traces or values within the checked time
	Series     int    `json:"series"`
	Error      string `json:"error,omitempty"` // why it failed, or why what came back does not count
}

// Report is the outcome of a check.
type Report struct {
	Since         time.Time `json:"since"`
	Until         time.Time `json:"until"`
	Panels        int       `json:"panels"`  // with at least one query
	Queries       int       `json:"queries"` // results: variables, and each panel's queries per selection
	Empty         int       `json:"empty"`
	ExpectedEmpty int       `json:"expectedEmpty"`
	Errors        int       `json:"errors"`
	Results       []Result  `json:"results"`
}

// finding is what a store answered.
type finding struct {
	samples int
	series  int
	stale   bool // there is an answer, but from before the checked time

	least, most float64 // of the numbers of a metrics query
}

// add widens the range of the numbers; a text that is none is none.
func (f *finding) add(text string) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		f.least, f.most = min(f.least, n), max(f.most, n)
	}
}

// fullShare is 1 and what rates of counters that are read a little early or
// late may show above it.
const fullShare = 1.1

// share is nil if the numbers can be shares of a whole.
func (f finding) share() error {
	for _, n := range []float64{f.least, f.most} {
		if n < 0 || n > fullShare {
			return fmt.Errorf("a share of %g: the query divides by what is not the whole", n)
		}
	}
	return nil
}

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

// Err is nil if every query gave data or was rightly empty; else it names each
// that did not.
func (r Report) Err() error {
	var faults []error
	for _, result := range r.Results {
		if result.State != Empty && result.State != Failed {
			continue
		}
		fault := fmt.Errorf("%s / %s / %s (%s): %s: %s", result.Dashboard, result.Panel, result.Query, result.Selection, result.State, result.Expr)
		if result.Error != "" {
			fault = fmt.Errorf("%w: %s", fault, result.Error)
		}
		faults = append(faults, fault)
	}
	return errors.Join(faults...)
}

// maxWhy is how much of a query the table shows; the JSON has all of it.
const maxWhy = 120

// WriteTable writes the results that need a look, and the totals, for a reader.
// With all it writes every result. What was the same with the variables listed
// as with all of them is one line.
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
		t.AppendRow(table.Row{result.Dashboard, result.Panel, result.Query, result.Selection, result.State, result.Samples, result.Series, why})
		rows++
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Name: "why", WidthMax: 60}})
	if rows > 0 {
		t.Render()
	}
	fmt.Fprintf(w, "%d panels, %d queries since %s: %d with data, %d rightly empty, %d empty, %d failed\n",
		r.Panels, r.Queries, r.Since.Format(time.RFC3339),
		r.Queries-r.Empty-r.ExpectedEmpty-r.Errors, r.ExpectedEmpty, r.Empty, r.Errors)
}
