// Package calibration compares what findings claim with what following them saves: pairs of
// jobs, each slow for one reason, of which the second has what the finding about the first
// advises. It renders docs/reference/calibration.md.
package calibration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Result is what the runs of a pair showed.
type Result struct {
	Pair    string   `json:"pair"`
	Date    string   `json:"date"`    // of the runs, UTC
	Changes []string `json:"changes"` // which the finding advised, and the cured run had
	Claimed int64    `json:"claimed_ms"`
	Sick    Run      `json:"sick"`
	Cured   Run      `json:"cured"`
}

// Saved returns by how many milliseconds the cured run was shorter. How long YARN takes to
// start a job depends on what else this machine does, and does not count unless the pair is
// about it.
func (r Result) Saved() int64 {
	saved := r.Sick.Wall - r.Cured.Wall
	if len(r.Sick.Fired) > 0 && r.Sick.Fired[0] != rules.ResourceWait {
		saved -= r.Sick.Waited - r.Cured.Waited
	}
	return saved
}

// Run is a run of a job.
type Run struct {
	Wall   int64      `json:"wall_ms"`
	Waited int64      `json:"waited_ms"` // in the phases submit and resource_wait
	CPU    int64      `json:"cpu_ms"`    // of the tasks, which other work on the machine changes little
	Fired  []rules.ID `json:"fired"`     // rules in the order of their first findings
	Live   []rules.ID `json:"live"`      // rules that found something by the metrics, in the order of their costs
}

// RunOf returns what was found in a run, by its log and by its metrics.
func RunOf(j Judged, live []rules.ID) Run {
	r := Run{Fired: []rules.ID{}, Live: live, Waited: j.Phases[platform.PhaseSubmit] + j.Phases[platform.PhaseResourceWait], CPU: j.CPU}
	if j.Application.DurationMillis != nil {
		r.Wall = *j.Application.DurationMillis
	}
	for _, f := range j.Findings {
		if id := rules.ID(f.Finding); !slices.Contains(r.Fired, id) {
			r.Fired = append(r.Fired, id)
		}
	}
	return r
}

// First returns the finding that claims most time; nil if none claims any.
func (j Judged) First() *tables.Finding {
	if len(j.Findings) == 0 || j.Findings[0].Impact == nil {
		return nil
	}
	return &j.Findings[0]
}

// Claimed returns the impact of all findings of rules, in milliseconds, and what they advise, of
// each property the value of the most costly finding.
func (j Judged) Claimed(ids ...rules.ID) (impact int64, changes []string) {
	advised := map[string]bool{}
	for _, f := range j.Findings {
		if !slices.Contains(ids, rules.ID(f.Finding)) {
			continue
		}
		if f.Impact != nil {
			impact += *f.Impact
		}
		for _, change := range f.Changes {
			if property, _, _ := strings.Cut(change, "="); !advised[property] {
				advised[property] = true
				changes = append(changes, change)
			}
		}
	}
	return impact, changes
}

// LogOf returns the file of the event log of a run, sick or cured, in this folder.
func LogOf(p Pair, run string) string { return "testdata/logs/" + p.Name + "." + run + ".zst" }

const recorded = "testdata/calibration.json"

// Recorded reads the results that were recorded in this folder, by the names of their pairs.
func Recorded(folder string) (map[string]Result, error) {
	text, err := os.ReadFile(filepath.Join(folder, recorded))
	if err != nil {
		return nil, err
	}
	all := map[string]Result{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", recorded, err)
	}
	return all, nil
}

// Record keeps a result in this folder, instead of the pair's earlier one.
func Record(folder string, r Result) error {
	all, err := Recorded(folder)
	if err != nil {
		return err
	}
	all[r.Pair] = r
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, recorded), append(text, '\n'), 0o644)
}
