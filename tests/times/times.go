// Package times says what each package's tests prove and how long they take: it reads
// the events of a run (`go test -json`) and renders docs/reference/tests.md.
package times

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Times are the recorded runs. They are committed as times.json.
type Times struct {
	Test Run   `json:"test"` // of `make test`, whole
	Long []Run `json:"long"` // the last green run of each part of `make test-long`
}

// Run is one green run.
type Run struct {
	Commit   string             `json:"commit,omitempty"`
	Date     string             `json:"date,omitempty"` // of the run, UTC
	Seconds  float64            `json:"seconds,omitempty"`
	Part     string             `json:"part,omitempty"`     // PACKAGES of `make test-long`
	Packages map[string]float64 `json:"packages,omitempty"` // seconds by folder
}

// Result is what the events of a run say.
type Result struct {
	Packages map[string]float64 // seconds by import path, of packages whose result was not cached
	Flaky    []string           // "PACKAGE TestName": tests that failed and then passed
	Seconds  float64            // from the first to the last event
}

// event is an event of cmd/test2json.
type event struct {
	Time    time.Time
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// Read reads the events of a run in which failed tests ran a second time.
func Read(events io.Reader) (Result, error) {
	result := Result{Packages: map[string]float64{}}
	var first, last time.Time
	failed, cached := map[string]bool{}, map[string]bool{}
	for decoder := json.NewDecoder(events); ; {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return Result{}, fmt.Errorf("read the events of a test run: %w", err)
		}
		if first.IsZero() {
			first = e.Time
		}
		last = e.Time
		name := e.Package + " " + e.Test
		switch {
		case e.Test == "" && e.Action == "output":
			cached[e.Package] = cached[e.Package] || strings.HasSuffix(strings.TrimSpace(e.Output), "(cached)")
		case e.Test == "":
			if _, known := result.Packages[e.Package]; !known && !cached[e.Package] && (e.Action == "pass" || e.Action == "fail") {
				result.Packages[e.Package] = e.Elapsed
			}
		case strings.Contains(e.Test, "/"): // its root test says the same
		case e.Action == "fail":
			failed[name] = true
		case e.Action == "pass" && failed[name]:
			result.Flaky = append(result.Flaky, name)
		}
	}
	result.Seconds = last.Sub(first).Seconds()
	slices.Sort(result.Flaky)
	return result, nil
}

// Record keeps a run of `make test`, or of a part of `make test-long`: part is its
// PACKAGES, or "". Packages whose results were cached keep their earlier times.
func (t *Times) Record(run Run) {
	if run.Part == "" {
		packages := maps.Clone(t.Test.Packages)
		if packages == nil {
			packages = map[string]float64{}
		}
		maps.Copy(packages, run.Packages)
		run.Packages = packages
		t.Test = run
		return
	}
	t.Long = slices.DeleteFunc(t.Long, func(r Run) bool { return r.Part == run.Part })
	t.Long = append(t.Long, run)
	slices.SortFunc(t.Long, func(a, b Run) int { return strings.Compare(a.Part, b.Part) })
}
