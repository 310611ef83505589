package calibration_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/rules"
	"github.com/emr-observatory/emr-observatory/tests/calibration"
	"github.com/emr-observatory/emr-observatory/tests/cited"
)

var update = flag.Bool("update", false, "rewrite docs/reference/calibration.md")

// The logs of runs are judged as the runs were, by the present rules: the first finding about
// a sick one is its pair's, with the same advice, and the cured one has none of that rule.
func TestRecordedLogs(t *testing.T) {
	results, err := calibration.Recorded(".")
	require.NoError(t, err)
	for _, p := range calibration.Pairs() {
		t.Run(p.Name, func(t *testing.T) {
			result, run := results[p.Name]
			require.True(t, run, "not recorded")
			sick, err := calibration.Judge(t.Context(), os.DirFS("."), calibration.LogOf(p, "sick"))
			require.NoError(t, err)
			first := sick.First()
			require.NotNil(t, first)
			require.Contains(t, p.Rules(), rules.ID(first.Finding))
			claimed, changes := sick.Claimed(p.Rules()...)
			require.Equal(t, result.Changes, changes, "run TestSickAndCured again: the advice has changed")
			require.Equal(t, result.Claimed, claimed, "run TestSickAndCured again: the claim has changed")
			require.Equal(t, result.Sick, calibration.RunOf(sick, result.Sick.Live))
			for _, id := range p.Rules() {
				require.Contains(t, result.Sick.Fired, id)
				require.NotContains(t, result.Cured.Fired, id)
			}
			cured, err := calibration.Judge(t.Context(), os.DirFS("."), calibration.LogOf(p, "cured"))
			require.NoError(t, err)
			require.Equal(t, result.Cured, calibration.RunOf(cured, result.Cured.Live))
		})
	}
}

func TestReference(t *testing.T) {
	results, err := calibration.Recorded(".")
	require.NoError(t, err)
	page := calibration.Reference(calibration.Pairs(), results)
	cited.RequirePage(t, *update, filepath.Join(cited.Repository, "docs", "reference", "calibration.md"), page)
}
