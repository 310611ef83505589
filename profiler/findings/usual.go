package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// Run is a run of an application of the same name.
type Run struct {
	ClusterID, ApplicationID, AttemptID string
	Start                               tables.Millis
	DurationMillis                      int64
	PlanShape                           *string // nil if it is unknown
	// Phases has the lengths of its phases, in milliseconds. It may be nil.
	Phases func() (map[string]int64, error)
}

// Compared returns the runs with which an application is compared: the latest ones before it
// whose plans have the same shape, oldest first. Where a shape is unknown, the name decides. all
// must be in the order of their starts.
func Compared(all []Run, application Run) (earlier []Run) {
	n, _ := slices.BinarySearchFunc(all, application.Start, func(r Run, t tables.Millis) int { return cmp.Compare(r.Start, t) })
	for _, r := range slices.Backward(all[:n]) {
		if len(earlier) == int(rules.Get(rules.Slower).Floor(rules.MostRuns)) {
			break
		}
		if r.PlanShape == nil || application.PlanShape == nil || *r.PlanShape == *application.PlanShape {
			earlier = append(earlier, r)
		}
	}
	slices.Reverse(earlier)
	return earlier
}

// slower finds applications that took longer than their earlier runs.
func slower(a *application, earlier []Run) error {
	rule := rules.Get(rules.Slower)
	if a.DurationMillis == nil || !a.Completed || float64(len(earlier)) < rule.Floor(rules.MinRuns) {
		return nil
	}
	var durations []float64
	for _, r := range earlier {
		durations = append(durations, float64(r.DurationMillis))
	}
	usual := medianOf(durations)
	var deviations []float64
	for _, d := range durations {
		deviations = append(deviations, max(d-usual, usual-d))
	}
	excess := float64(*a.DurationMillis) - usual
	if usual <= 0 || excess < rule.Floor(rules.MinExcess) ||
		excess < rule.Floor(rules.Deviations)*rule.Floor(rules.Normal)*medianOf(deviations) {
		return nil
	}
	f := judged(rules.Slower, float64(*a.DurationMillis)/usual)
	if f == nil {
		return nil
	}
	f.Summary = fmt.Sprintf("The application took %s; the median of its %d earlier runs is %s.",
		millis(float64(*a.DurationMillis)), len(earlier), millis(usual))
	cite(f, applicationTable, "", "duration_ms", *a.DurationMillis)
	for _, r := range earlier {
		key := fmt.Sprintf("cluster_id=%s,application_id=%s,attempt_id=%s", r.ClusterID, r.ApplicationID, r.AttemptID)
		cite(f, applicationTable, key, "duration_ms", r.DurationMillis)
	}
	f.Advice = "Compare inputs and settings with an earlier run."
	if err := a.longerPhase(f, earlier); err != nil {
		return err
	}
	a.found.add(f)
	return nil
}

// longerPhase names the phase that grew most.
func (a *application) longerPhase(f *tables.Finding, earlier []Run) error {
	of := map[string][]float64{}
	for _, r := range earlier {
		if r.Phases == nil {
			continue
		}
		phases, err := r.Phases()
		if err != nil {
			return err // names the table
		}
		for name, ms := range phases {
			of[name] = append(of[name], float64(ms))
		}
	}
	worst, most, was := "", 0.0, 0.0
	for name, row := range a.phases {
		if usual := medianOf(of[name]); len(of[name]) > 0 && float64(row.DurationMillis)-usual > most {
			worst, most, was = name, float64(row.DurationMillis)-usual, usual
		}
	}
	if worst == "" {
		return nil
	}
	cite(f, phasesTable, "phase="+worst, "duration_ms", a.phases[worst].DurationMillis)
	f.Summary += fmt.Sprintf(" The phase %s grew most: %s instead of %s.", worst, millis(float64(a.phases[worst].DurationMillis)), millis(was))
	return nil
}

// medianOf returns the median of values, the upper one of two; 0 if there are none.
func medianOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[len(values)>>1]
}
