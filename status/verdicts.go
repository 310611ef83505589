package status

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/rules"
	"github.com/emr-observatory/emr-observatory/verdict"
)

// addVerdicts adds to the applications whose phases are known what the rules find in their
// metrics of a window. One query is for all of them.
func (s Source) addVerdicts(ctx context.Context, steps []Step, window time.Duration) error {
	var ids []string
	for _, step := range steps {
		for _, of := range step.Phases {
			ids = append(ids, of.ApplicationID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := s.found(ctx, verdict.Query(ids, seconds(window)))
	if err != nil {
		return err
	}
	for _, step := range steps {
		for i, of := range step.Phases {
			step.Phases[i].Verdict = new(verdict.Of(found[of.ApplicationID], of.wall()))
		}
	}
	return nil
}

// found returns what a query of package verdict finds, by application.
func (s Source) found(ctx context.Context, query string) (map[string]map[rules.ID]float64, error) {
	samples, err := s.query(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("judge the applications: %w", err)
	}
	found := map[string]map[rules.ID]float64{}
	for _, sample := range samples {
		value, err := sample.number()
		if err != nil {
			return nil, fmt.Errorf("judge the applications: %w", err)
		}
		id := sample.label(platform.SparkAppID)
		if found[id] == nil {
			found[id] = map[rules.ID]float64{}
		}
		found[id][rules.ID(sample.Metric[verdict.RuleLabel])] = value
	}
	return found, nil
}

// ofLastDay makes the phases of an application those of the last day alone, and judges it by that
// day: one that runs for longer, such as a query of Spark Structured Streaming, may never end.
func (s Source) ofLastDay(ctx context.Context, of *ApplicationPhases) error {
	var names []string
	for _, phase := range platform.Phases() {
		names = append(names, phase.Metric())
	}
	window := seconds(liveWindow)
	samples, err := s.query(ctx, fmt.Sprintf("max by (__name__) (increase_pure({__name__=~%q,%s=%q}[%s]) keep_metric_names)",
		strings.Join(names, "|"), platform.SparkAppID.Metric(), of.ApplicationID, window))
	if err != nil {
		return fmt.Errorf("read the phases of its last day: %w", err)
	}
	byName := map[string]float64{}
	for _, sample := range samples {
		if byName[sample.Metric["__name__"]], err = sample.number(); err != nil {
			return fmt.Errorf("read the phases of its last day: %w", err)
		}
	}
	for _, phase := range platform.Phases() {
		of.Seconds[phase] = byName[phase.Metric()]
	}
	of.Line = phases.Line(of.Seconds, of.Approximate)
	found, err := s.found(ctx, verdict.QueryWithin([]string{of.ApplicationID}, window))
	if err != nil {
		return err
	}
	of.Verdict = new(verdict.Of(found[of.ApplicationID], of.wall()))
	return nil
}

// wall is the sum of the phases, in seconds.
func (p ApplicationPhases) wall() (sum float64) {
	for _, phase := range platform.Phases() {
		sum += p.Seconds[phase]
	}
	return sum
}
