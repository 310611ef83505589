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
	text, err := os.ReadFile(plugin + "StageTail.java")
	require.NoError(t, err)
	require.InDelta(t, 3, rule.Warn, 0, "change RATIO of StageTail.java, too")
	require.Contains(t, string(text), "RATIO = 3;")
}
