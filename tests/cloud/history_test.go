package cloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/steplog"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/submit"
)

// history is what TestLife's clusters ran, by the jobs' own words.
type history struct {
	cloud *cloud
	names map[string]string // of applications whose job printed it, by id
}

// printed matches what the jobs of history print of an application.
var printed = regexp.MustCompile(`^history: (\S+) (` + platform.YARNApplicationID + `)$`)

// run submits a job to a cluster and notes the applications that it names on its standard
// output, or else gives those of the step a name.
func (h history) run(t *testing.T, state, name string, args ...string) {
	t.Helper()
	out, log, _ := h.cloud.try(t, append([]string{"submit", "--wait", "--json", "--phases-wait", "0", "--cluster", "main",
		"--conf", "spark.dynamicAllocation.maxExecutors=1"}, args...)...)
	var r submit.Result
	require.NoErrorf(t, json.Unmarshal([]byte(out), &r), "%s\n%s", out, log)
	require.EqualValuesf(t, state, r.State, "%s\n%s", out, log)
	if name != "" {
		for _, id := range r.ApplicationIDs {
			h.names[id] = name
		}
		return
	}
	bucket := h.cloud.outputs(t).DataBucket
	key := string(platform.ClusterLogs("main")) + platform.StepLogKey(r.Cluster, r.StepID, "stdout")
	found := 0
	_, err := steplog.Scan(t.Context(), h.cloud.objects(t), bucket, key, func(line string, _ bool) {
		if f := printed.FindStringSubmatch(line); f != nil {
			h.names[f[2]] = f[1]
			found++
		}
	})
	require.NoError(t, err)
	require.Positive(t, found)
}

// applicationsOf asks DuckDB what the tables hold.
const applicationsOf = `
import duckdb, json, sys
folder = sys.stdin.read()
def table(name):
    return f"read_parquet('{folder}/{name}/**/*.parquet')"
rows = duckdb.sql(f"""
    select a.application_id as id, a.attempt_id as attempt, any_value(a.application_name) as name, any_value(a.completed) as completed,
        any_value(a.num_jobs) as jobs, any_value(a.num_failed_jobs) as failedjobs, any_value(a.num_tasks) as tasks,
        any_value(a.step_id) as step, any_value(a.source) as source,
        (select count(*) from {table("stages")} s where s.application_id = a.application_id and s.attempt_id = a.attempt_id) as stages,
        (select coalesce(sum(disk_bytes_spilled), 0)::bigint from {table("stages")} s where s.application_id = a.application_id) as spilled,
        (select count(*) from {table("findings")} f where f.application_id = a.application_id and f.finding = 'skew') as skews
    from {table("applications")} a group by all order by id, attempt""")
print(json.dumps([dict(zip(rows.columns, row)) for row in rows.fetchall()]))
`

type readApplication struct {
	ID, Attempt, Name, Step, Source          string
	Completed                                bool
	Jobs, FailedJobs, Tasks, Stages, Spilled int64
	Skews                                    int64
}

// historyIsRead runs applications of many kinds, reads the history of all clusters, gone
// ones too, into tables, and asks SQL for it.
func historyIsRead(t *testing.T, c *cloud) {
	h := history{c, map[string]string{}}
	lake := platform.PrefixLake.URI(c.outputs(t).DataBucket)
	jobs := []string{"tests/cloud/testdata/history.py", lake + "history-test"}
	if testenv.Long() {
		jobs = append(jobs, "all")
	}
	h.run(t, "COMPLETED", "", jobs...)
	h.run(t, "FAILED", "", "tests/cloud/testdata/killed.py")
	h.run(t, "COMPLETED", "history-attempts", "--deploy-mode", "cluster", "--conf", "spark.yarn.maxAppAttempts=2",
		"tests/cloud/testdata/attempts.py")

	folder := filepath.Join(t.TempDir(), "history")
	var s run.Summary
	err := poll.Until(t.Context(), poll.Options{Interval: time.Second, Timeout: 15 * time.Minute}, func(context.Context) error {
		s = c.profile(t, "--output", folder) // EMR's history is late
		return h.late(c.applicationsIn(t, folder))
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, s.ClustersFound, 4, "main, adhoc, that of another team, and the one that could not start")

	attempts := map[string][]readApplication{}
	for _, a := range c.applicationsIn(t, folder) {
		if strings.HasPrefix(a.Name, "history-") && h.names[a.ID] == "" {
			continue // of an earlier run on a kept cloud
		}
		attempts[a.Name] = append(attempts[a.Name], a)
		require.Equal(t, "logs", a.Source, a.Name)
		require.Regexp(t, `^s-\w+$`, a.Step, a.Name)
	}
	require.GreaterOrEqual(t, len(attempts["orders"]), 4, "of main, adhoc and the cluster of another team")
	for name := range kinds() {
		require.Lenf(t, attempts[name], 1, name)
	}
	require.Len(t, attempts["history-attempts"], 2)
	require.Equal(t, []string{"1", "2"}, []string{attempts["history-attempts"][0].Attempt, attempts["history-attempts"][1].Attempt})
	if testenv.Long() {
		require.GreaterOrEqual(t, attempts["history-stages"][0].Stages, int64(1000))
		require.GreaterOrEqual(t, attempts["history-rolled-stages"][0].Stages, int64(1000))
	}

	err = poll.Until(t.Context(), poll.Options{Interval: time.Second, Timeout: 15 * time.Minute}, func(context.Context) error {
		if again := c.profile(t, "--output", folder); again.Objects+again.Removed > 0 {
			return fmt.Errorf("a run writes although nothing has happened since: %+v", again)
		}
		return nil
	})
	require.NoError(t, err, "once EMR's history is no longer late, a run writes nothing")
}

// kinds are conditions of applications, by name.
func kinds() map[string]func(a readApplication) bool {
	return map[string]func(a readApplication) bool{
		"history-udf":       func(a readApplication) bool { return a.Completed && a.Tasks > 0 },
		"history-skewed":    func(a readApplication) bool { return a.Skews > 0 },
		"history-spilling":  func(a readApplication) bool { return a.Spilled > 0 },
		"history-streaming": func(a readApplication) bool { return a.Jobs >= 2 },
		"history-failed":    func(a readApplication) bool { return a.Completed && a.FailedJobs == 1 },
		"history-rolling":   func(a readApplication) bool { return a.Completed },
		"history-killed":    func(a readApplication) bool { return !a.Completed && a.Jobs > 0 },
	}
}

// late returns an error that names an application of the jobs that is not in the tables
// under its name, or not as its kind is.
func (h history) late(found []readApplication) error {
	byID := map[string]readApplication{}
	for _, a := range found {
		byID[a.ID] = a
	}
	for _, id := range slices.Sorted(maps.Keys(h.names)) {
		name, a := h.names[id], byID[id]
		if holds := kinds()[name]; a.Name != name || holds != nil && !holds(a) {
			return fmt.Errorf("%s (%s) is not in the tables yet, or not all of it: %+v", name, id, a)
		}
	}
	return nil
}

func (c *cloud) applicationsIn(t *testing.T, folder string) (found []readApplication) {
	t.Helper()
	out := c.python(t, applicationsOf, folder)
	require.NoError(t, json.Unmarshal([]byte(out), &found), out)
	return found
}

// profile reads the history of the cloud's clusters.
func (c *cloud) profile(t *testing.T, args ...string) (s run.Summary) {
	t.Helper()
	secret, err := localcloud.LoadCredentials(c.state)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), c.program, append([]string{"profile", "run", "--json", "--max-clusters", "0"}, args...)...)
	cmd.Env = os.Environ()
	for k, v := range c.running(t).Environment(secret) {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var said strings.Builder
	cmd.Stderr = &said
	out, _ := cmd.Output() // the exit code says whether something is missing
	require.NoErrorf(t, json.Unmarshal(out, &s), "%s\n%s", out, &said)
	return s
}
