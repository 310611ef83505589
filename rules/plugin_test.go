package rules_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/rules"
)

// plugin has the sources of the driver's plugin.
const plugin = "../assets/node/spark-plugin/src/main/java/observatory/spark/"

// The plugin, which is written in Java and cannot read the table, has the same floors.
func TestFloorsOfThePlugin(t *testing.T) {
	rule := rules.Get(rules.Skew)
	for _, c := range []struct {
		file, constant string
		want           rules.FloorName
		values         map[string]float64
	}{
		{"Skew.java", `FEWEST = ([^;]+);`, rules.SkewLiveTasks, map[string]float64{"3": 3}},
		{"TaskStatistics.java", `Skew time = new Skew\(([^)]+)\)`, rules.SkewLiveTime, map[string]float64{"1000": 1000}},
		{"StageTail.java", `FEW_TASKS = ([^;]+);`, rules.SkewFewTasks, map[string]float64{"20": 20}},
		{"StageTail.java", `CAUSE = ([^;]+);`, rules.SkewCause, map[string]float64{"2": 2}},
		{"StageTail.java", `CAUSE_BYTES = ([^;]+);`, rules.SkewCauseBytes, map[string]float64{"1 << 20": 1 << 20}},
		{"StageTail.java", `EXCESS = ([^;]+);`, rules.SkewExcess, map[string]float64{"1000": 1000}},
		{"TaskStatistics.java", `Skew shuffle = new Skew\(([^)]+)\)`, rules.SkewLiveBytes, map[string]float64{"1 << 20": 1 << 20}},
	} {
		text, err := os.ReadFile(plugin + c.file)
		require.NoError(t, err)
		found := regexp.MustCompile(c.constant).FindSubmatch(text)
		require.NotNil(t, found, c.constant)
		value, known := c.values[string(found[1])]
		require.Truef(t, known, "%s has %s: change the rule's floor, and this test", c.file, found[0])
		require.InDelta(t, value, rule.Floor(c.want), 0)
	}
	for _, limit := range []struct {
		file, constant string
		table, want    float64
	}{
		{"StageTail.java", "RATIO = 3;", rule.Warn, 3},
		{"StageCosts.java", "GC = 0.1;", rules.Get(rules.GC).Warn, 0.1},
		{"StageCosts.java", "FETCH_WAIT = 0.2;", rules.Get(rules.FetchWait).Warn, 0.2},
		{"StageCosts.java", "SPILL = 256 << 20;", rules.Get(rules.Spill).Warn, 256 << 20},
		{"StageCosts.java", "TINY_MEDIAN = 500;", rules.Get(rules.TinyTasks).Warn, 500},
		{"StageCosts.java", "TINY_P95 = 1000;", rules.Get(rules.TinyTasks).Floor(rules.MaxP95), 1000},
		{"StageCosts.java", "TINY_TASKS = 100;", rules.Get(rules.TinyTasks).Floor(rules.MinTasks), 100},
		{"StageCosts.java", "LOW_PARALLELISM = 0.5;", rules.Get(rules.LowParallelism).Warn, 0.5},
		{"StageCosts.java", "MIN_RUN = 10_000;", rules.Get(rules.LowParallelism).Floor(rules.MinRunTime), 10_000},
		{"StageCosts.java", "MIN_RUN = 10_000;", rules.Get(rules.GC).Floor(rules.MinRunTime), 10_000},
		{"StageCosts.java", "MIN_RUN = 10_000;", rules.Get(rules.FetchWait).Floor(rules.MinRunTime), 10_000},
	} {
		text, err := os.ReadFile(plugin + limit.file)
		require.NoError(t, err)
		require.Contains(t, string(text), limit.constant)
		require.InDelta(t, limit.want, limit.table, 0, "change %s of %s, and this test", limit.constant, limit.file)
	}
}
