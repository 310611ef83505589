package status

import (
	"context"
	"fmt"
	"time"

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
	samples, err := s.query(ctx, verdict.Query(ids, seconds(window)))
	if err != nil {
		return fmt.Errorf("judge the applications: %w", err)
	}
	found := map[string]map[rules.ID]float64{}
	for _, sample := range samples {
		value, err := sample.number()
		if err != nil {
			return fmt.Errorf("judge the applications: %w", err)
		}
		id := sample.label(platform.SparkAppID)
		if found[id] == nil {
			found[id] = map[rules.ID]float64{}
		}
		found[id][rules.ID(sample.Metric[verdict.RuleLabel])] = value
	}
	for _, step := range steps {
		for i, of := range step.Phases {
			step.Phases[i].Verdict = new(verdict.Of(found[of.ApplicationID], of.wall()))
		}
	}
	return nil
}

// wall is the sum of the phases, in seconds.
func (p ApplicationPhases) wall() (sum float64) {
	for _, phase := range platform.Phases() {
		sum += p.Seconds[phase]
	}
	return sum
}
