package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// guide has the questions, and the call that answers each.
const guide = "../../docs/guides/ask-an-llm.md"

var questionRow = regexp.MustCompile("(?m)^\\| ([^|]+\\?) \\| `([a-z_]+) (\\{.*\\})` \\|$")

// answer is of a question.
type answer struct {
	tools.Answer[map[string]any]

	text string
}

// first returns a value of the first row.
func (a answer) first(column string) any {
	if len(a.Rows) == 0 {
		return nil
	}
	return a.Rows[0][column]
}

// about says what the placeholders of questions stand for, and what the answer must have, which is
// known from how the jobs were made (examples/jobs/sick).
type about struct {
	job, step, earlier, application string
	has                             func(t *testing.T, a answer)
}

// arguments returns those of a question in the guide, with what its placeholders stand for.
func (of about) arguments(t *testing.T, text string) (in map[string]any) {
	t.Helper()
	text = strings.NewReplacer("CLUSTER", sickCluster, "STEP", of.step, "JOB", of.job, "EARLIER", of.earlier,
		"APPLICATION", of.application).Replace(text)
	require.NoError(t, json.Unmarshal([]byte(text), &in))
	return in
}

func expected() map[string]about {
	contains := func(texts ...string) func(*testing.T, answer) {
		return func(t *testing.T, a answer) {
			for _, text := range texts {
				require.Contains(t, a.text, text)
			}
		}
	}
	first := func(column string, want any) func(*testing.T, answer) {
		return func(t *testing.T, a answer) { require.Equal(t, want, a.first(column)) }
	}
	total := func(want int) func(*testing.T, answer) {
		return func(t *testing.T, a answer) { require.Equal(t, want, a.Total) }
	}
	above := func(column string, limit float64) func(*testing.T, answer) {
		return func(t *testing.T, a answer) { require.Greater(t, a.first(column), limit) }
	}
	const (
		spill, skew, faults = "spill-sick", "skew-sick", "faults-sick"
		spillID             = "application_1795845382137_0001"
	)
	return map[string]about{
		"What stages are causing bottlenecks for cluster CLUSTER?": {has: func(t *testing.T, a answer) {
			require.Equal(t, 8, a.Applications)
			require.NotEmpty(t, a.first("application_id"))
		}},
		"What SQL queries are causing bottlenecks for cluster CLUSTER?": {has: contains(`"sql_id"`, `"share_of_wall"`)},
		"What Spark configs did I leverage for cluster CLUSTER?": {has: contains(
			`{"property":"spark.sql.shuffle.partitions","value":"«2»","section":"spark","applications":1,"rule_wants":"8","rule":"spill"}`)},
		"What are my most inefficient Spark jobs?": {has: first("application_name", "«faults-sick»")},
		"What did cluster CLUSTER cost, and how much of it did nobody use?": {has: contains(
			"applications $3.00 (30 %), capacity that nobody used $6.00 (60 %)", `"kind":"idle"`)},
		"What did the runs of JOB cost?": {job: spill, has: func(t *testing.T, a answer) {
			require.Equal(t, 1, a.Total)
			require.InDelta(t, 3, a.first("usd"), 1e-9)
		}},
		"What stages are causing bottlenecks in the job JOB?":    {job: skew, has: contains(`"rules":["skew"]`)},
		"What SQL queries are causing bottlenecks in step STEP?": {step: stepOf(skew), has: contains(`"kind":"SortMergeJoin"`)},
		"Why was JOB slow, and which setting cures it?": {job: spill, has: func(t *testing.T, a answer) {
			require.Equal(t, "spill", a.first("rule"))
			require.Contains(t, a.text, `{"property":"spark.sql.shuffle.partitions","value":"8","current":"«2»","classification":"spark-defaults"}`)
		}},
		"What is wrong on cluster CLUSTER, the worst first?": {has: first("rule", "resource_wait")},
		"Is there skew anywhere on cluster CLUSTER?": {has: func(t *testing.T, a answer) {
			for _, row := range a.Rows {
				require.Equal(t, "skew", row["rule"])
			}
			require.Positive(t, a.Total)
		}},
		"What was checked in JOB and found clean, and what could not be checked?": {job: spill, has: contains(
			`{"rule":"skew","severity":"clean"}`, `{"rule":"s3_throttled","why":"Spark's history has nothing of S3's requests"}`)},
		"Where did the time of JOB go?": {job: "wait-sick", has: func(t *testing.T, a answer) {
			require.Equal(t, "resource_wait", a.first("phase"))
			require.InDelta(t, 0.96, a.first("ratio"), 0.02)
		}},
		"How long did the jobs of cluster CLUSTER wait for resources?": {has: contains(`"phase":"resource_wait"`, `"application_id"`)},
		"What changed between EARLIER and JOB?": {job: "spill-cured", earlier: spill, has: contains(
			`{"part":"setting","name":"spark.sql.shuffle.partitions","before":"«2»","after":"«8»"}`,
			`"name":"spill","was":4700,"unit":"ms","change":"gone"`)},
		"Which jobs failed lately, and why?": {has: func(t *testing.T, a answer) {
			require.Equal(t, 1, a.Total)
			require.Equal(t, "«ValueError: no such day»", a.first("cause"))
			require.Contains(t, a.Verdict, "ValueError: no such day")
		}},
		"Why did step STEP fail?": {
			step: stepOf(faults), has: first("first_error", "«ValueError: no such day   at job.py:3, in load»"),
		},
		"Which applications ran lately?":    {has: total(16)},
		"Which applications failed lately?": {has: first("application_name", "«faults-sick»")},
		"Which application did step STEP start?": {step: stepOf("gc-cured"), has: func(t *testing.T, a answer) {
			require.Equal(t, 1, a.Total)
			require.Equal(t, "«gc-cured»", a.first("application_name"))
		}},
		"What did cluster CLUSTER run?": {has: total(8)},
		"Which Spark job of JOB took longest, and did the driver wait before it?": {
			job: skew, has: contains(`"gap_before_ms":`, `"slowest_stage_id":4`),
		},
		"What did the tasks of a stage of JOB do, and on which hosts were they slow?": {job: skew, has: contains(
			`{"metric":"duration_ms","min":816,"p25":954,"p50":1320,"p75":1500,"max":27600}`, `"hosts":[{"host":`)},
		"Were the executors of JOB idle, short of memory, or lost?": {
			job: faults, has: contains(`"group":"all","executors":2`, `"idle_share":0.255`),
		},
		"How much memory do the executors of application APPLICATION have?": {
			application: spillID, has: contains(`"property":"spark.executor.memory","value":"«640m»"`),
		},
		"Which stages of JOB spilled more than 1 MB to disk?":     {job: spill, has: above("disk_bytes_spilled", 1e6)},
		"Which tasks of JOB took longer than 20 seconds?":         {job: skew, has: above("duration_ms", 2e4)},
		"Which jobs did not succeed in application APPLICATION?":  {application: spillID, has: contains("rows of jobs fulfils the conditions")},
		"Which executors of JOB ran most tasks?":                  {job: skew, has: contains(`"total_tasks":133`)},
		"Which SQL executions of JOB took more than ten seconds?": {job: skew, has: above("duration_ms", 1e4)},
		"Which Hadoop settings did JOB have?":                     {job: spill, has: contains("fulfils the conditions")},
		"What can I ask of the tables in SQL?":                    {has: contains(`"table":"applications"`)},
	}
}

// Every question of the guide has its answer in one call, and the answer is what is known of the
// jobs. It names no job of the other cluster.
func TestQuestionsOfTheGuide(t *testing.T) {
	text, err := os.ReadFile(guide)
	require.NoError(t, err)
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	s := connectTo(t, tools.NewAt(tools.FromLake(plantedLake(t)), os.Stderr, now), nil)
	rows := questionRow.FindAllStringSubmatch(string(text), -1)
	want := expected()
	require.Len(t, rows, len(want))
	for _, row := range rows {
		question, tool, arguments := row[1], row[2], row[3]
		t.Run(question, func(t *testing.T) {
			of, known := want[question]
			require.True(t, known)
			in := of.arguments(t, arguments)
			a := answer{Answer: rowsOf(t, s, tool, in)}
			result, err := s.CallTool(t.Context(), params(tool, in))
			require.NoError(t, err)
			a.text = fmt.Sprint(textOf(t, result))
			require.NotEmpty(t, a.Verdict)
			of.has(t, a)
			if strings.Contains(row[3], "CLUSTER") {
				require.NotContains(t, a.text, "-cured")
			}
		})
	}
}
