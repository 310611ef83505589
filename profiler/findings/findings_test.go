package findings_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

func stage(tasks, duration int64) *tables.StageRow {
	return &tables.StageRow{
		Stage: tables.Stage{StageID: 7, StageAttemptID: 1}, StageName: "collect at job.py:3", NumCompleteTasks: tasks, DurationMillis: &duration,
	}
}

func summary(durations, shuffled, input, records []float64) *tables.TaskSummary {
	s := &tables.TaskSummary{}
	s.Duration, s.ShuffleReadBytes, s.InputBytes, s.InputRecords = durations, shuffled, input, records
	return s
}

func TestSkew(t *testing.T) {
	for name, c := range map[string]struct {
		tasks    int64
		stage    int64 // milliseconds
		duration []float64
		p95      float64
		impact   int64 // 0: none
	}{
		"even":                            {100, 20_000, []float64{900, 950, 1000, 1050, 2900}, 1100, 0},
		"one slow task of many":           {100, 60_000, []float64{900, 950, 1000, 1050, 50_000}, 1100, 0},
		"a slow twentieth":                {100, 60_000, []float64{900, 950, 1000, 1050, 50_000}, 3100, 49_000},
		"at the limit":                    {100, 60_000, []float64{900, 950, 1000, 1050, 50_000}, 3000, 0},
		"few tasks, one slow":             {19, 60_000, []float64{900, 950, 1000, 1050, 50_000}, 50_000, 49_000},
		"few tasks, no percentile":        {19, 60_000, []float64{900, 950, 1000, 1050, 50_000}, 0, 49_000},
		"many tasks, no percentile":       {20, 60_000, []float64{900, 950, 1000, 1050, 50_000}, 0, 0},
		"short":                           {100, 2000, []float64{1, 2, 3, 4, 1002}, 500, 0},
		"just long enough":                {100, 2000, []float64{1, 2, 3, 4, 1003}, 500, 1000},
		"no more than the stage's length": {100, 10_000, []float64{900, 950, 1000, 1050, 50_000}, 3100, 9000},
		"one task":                        {1, 60_000, []float64{1000, 1000, 1000, 1000, 50_000}, 50_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := findings.Skew(stage(c.tasks, c.stage), summary(c.duration, nil, nil, nil), c.p95)
			if c.impact == 0 {
				require.Nil(t, f)
				return
			}
			require.NotNil(t, f)
			require.Equal(t, c.impact, *f.Impact)
			require.Equal(t, []int64{7, 1}, []int64{*f.StageID, *f.StageTry})
			require.Contains(t, f.Evidence[0], "task_summaries/stage_id=7,stage_attempt_id=1/duration=")
		})
	}
	require.Nil(t, findings.Skew(stage(100, 60_000), nil, 0), "no tasks with metrics")
}

// The advice is about the tasks' input if that is uneven, too.
func TestAdviceForSkew(t *testing.T) {
	slow := []float64{900, 950, 1000, 1050, 50_000}
	uneven := []float64{1 << 20, 1 << 20, 1 << 20, 1 << 20, 640 << 20}
	even := []float64{1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20}
	none, records := make([]float64, 5), []float64{9, 10, 10, 10, 2_000_000}
	for _, c := range []struct {
		want                     string
		shuffled, input, records []float64
	}{
		{"spark.sql.adaptive.skewJoin.enabled", uneven, even, nil},
		{"spark.sql.files.maxPartitionBytes", even, uneven, nil},
		{"keys are not the cause", even, even, nil},
		{"set spark.speculation=true", nil, even, nil},
		{"keys are not the cause", nil, even, records},
		{"set partitionColumn, lowerBound", nil, none, records},
		{"keys are not the cause", nil, none, even},
		{"Uneven data may be the cause", nil, none, none},
	} {
		f := findings.Skew(stage(10, 60_000), summary(slow, c.shuffled, c.input, c.records), 0)
		require.Containsf(t, f.Advice, c.want, "%+v", c)
	}
	f := findings.Skew(stage(10, 60_000), summary(slow, uneven, nil, nil), 0)
	require.Contains(t, f.Advice, "a task read 640 MiB of shuffled data, the median one 1 MiB")
	require.Contains(t, f.Summary, "took 1s in the median, but the longest took 50s")
}

// Findings that cost a small share of the run are left out, and the most costly comes first.
func TestTheMostCostlyFindingsAreKept(t *testing.T) {
	var found []tables.Finding
	for impact := range int64(5 * findings.MostFindings) {
		found = findings.Add(found, tables.Finding{Impact: &impact})
		require.LessOrEqual(t, len(found), 2*findings.MostFindings)
	}
	kept := findings.Judge(found, nil)
	require.Len(t, kept, findings.MostFindings)
	require.EqualValues(t, 5*findings.MostFindings-1, *kept[0].Impact)
	require.EqualValues(t, 4*findings.MostFindings, *kept[len(kept)-1].Impact)
}

func TestJudge(t *testing.T) {
	of := func(impact int64) tables.Finding { return tables.Finding{Impact: &impact} }
	found := []tables.Finding{of(499), of(500), of(1999), of(2000), of(1_000_000)}
	kept := findings.Judge(found, new(int64(100_000)))
	require.Len(t, kept, 4)
	require.Equal(t, []string{findings.Critical, findings.Critical, findings.Warning, findings.Warning},
		[]string{kept[0].Severity, kept[1].Severity, kept[2].Severity, kept[3].Severity})
	require.InDelta(t, 1, *kept[0].ImpactRate, 0, "at most the whole wall clock")
	require.InDelta(t, 0.005, *kept[3].ImpactRate, 1e-9)

	kept = findings.Judge(found, nil)
	require.Len(t, kept, 5)
	require.Nil(t, kept[0].ImpactRate)
	require.Equal(t, findings.Warning, kept[0].Severity)
}
