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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

// runKinds runs an application of each kind on a cluster; in an ordinary run only the first.
// tests/history compares the rows of every kind with what Spark's history server says.
func (h history) runKinds(t *testing.T, cluster string) {
	t.Helper()
	kinds := "one"
	if testenv.Long() {
		kinds = "all"
	}
	folder := platform.PrefixLake.URI(h.cloud.outputs(t).DataBucket) + "history-test-" + cluster
	h.run(t, cluster, "COMPLETED", "", "tests/cloud/testdata/history.py", folder, kinds)
}

// runCompacted runs an application on a cluster whose history server compacts event logs,
// and waits until it has, and EMR has the result.
func (h history) runCompacted(t *testing.T, cluster string) {
	t.Helper()
	h.run(t, cluster, "COMPLETED", "history-compacted", "tests/cloud/testdata/history.py",
		platform.PrefixLake.URI(h.cloud.outputs(t).DataBucket)+"history-test-compacted", "compacted")
	testenv.Eventually(t, func() bool {
		found, err := filepath.Glob(filepath.Join(h.cloud.eventLogs(cluster), "*", "*.compact"))
		require.NoError(t, err)
		return len(found) > 0
	}, testenv.Start, time.Second, "the cluster's history server compacts the log, and EMR collects it")
}

// eventLogs is where the local cloud keeps what EMR does of a cluster.
func (c *cloud) eventLogs(cluster string) string {
	return filepath.Join(c.state, "persistent-uis", "logs", cluster)
}

// spark4Name is the name of the application whose log keepSpark4 adds.
const spark4Name = "everything"

// keepSpark4 adds a log of Spark 4, which the local cloud does not run, to a cluster's.
func (h history) keepSpark4(t *testing.T) {
	t.Helper()
	logs := h.cloud.eventLogs(h.cloud.outputs(t).Clusters["main"].ID)
	const from = "../../eventlog/testdata/spark4"
	names, err := filepath.Glob(from + "/eventlog_v2_*")
	require.NoError(t, err)
	require.Len(t, names, 1)
	to := filepath.Join(logs, filepath.Base(names[0]))
	if _, err := os.Stat(to); err == nil {
		return // on a kept cloud
	}
	require.NoError(t, os.CopyFS(to, os.DirFS(names[0])))
}

// run submits a job to a cluster and notes the applications that it names on its standard
// output, or else gives those of the step a name.
func (h history) run(t *testing.T, cluster, state, name string, args ...string) {
	t.Helper()
	out, log, _ := h.cloud.try(t, append([]string{"submit", "--wait", "--json", "--phases-wait", "0", "--cluster", cluster,
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
	key := string(platform.ClusterLogs(cluster)) + platform.StepLogKey(r.Cluster, r.StepID, "stdout")
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
        (select coalesce(sum(missing), 0)::bigint from {table("completeness")} c where c.application_id = a.application_id
            and c.reason = 'compaction' and c.endpoint = 'stages') as compacted,
        (select count(*) from {table("findings")} f where f.application_id = a.application_id and f.finding = 'skew') as skews
    from {table("applications")} a group by all order by id, attempt""")
print(json.dumps([dict(zip(rows.columns, row)) for row in rows.fetchall()]))
`

type readApplication struct {
	ID, Attempt, Name, Step, Source          string
	Completed                                bool
	Jobs, FailedJobs, Tasks, Stages, Spilled int64
	Skews, Compacted                         int64
}

// historyIsRead runs applications of many kinds, reads the history of all clusters, gone
// ones too, into tables, and asks SQL for it.
func historyIsRead(t *testing.T, c *cloud, h history) {
	h.runKinds(t, "main")
	if testenv.Long() {
		h.run(t, "main", "FAILED", "", "tests/cloud/testdata/killed.py")
		h.run(t, "main", "COMPLETED", "history-attempts", "--deploy-mode", "cluster", "--conf", "spark.yarn.maxAppAttempts=2",
			"tests/cloud/testdata/attempts.py")
	}

	h.keepSpark4(t)
	folder := filepath.Join(t.TempDir(), "history")
	s := h.read(t, folder)
	clusters := 1
	if testenv.Long() {
		clusters = 4 // main, adhoc, that of another team, and the one that could not start
		h.runningOneIsRead(t, folder)
	}
	require.GreaterOrEqual(t, s.ClustersFound, clusters)

	attempts := map[string][]readApplication{}
	read := 0
	for _, a := range c.applicationsIn(t, folder) {
		if strings.HasPrefix(a.Name, "history-") && h.names[a.ID] == "" {
			continue // of an earlier run on a kept cloud
		}
		attempts[a.Name] = append(attempts[a.Name], a)
		read++
		require.Equal(t, "logs", a.Source, a.Name)
		if a.Name != spark4Name {
			require.Regexp(t, `^s-\w+$`, a.Step, a.Name)
		}
	}
	require.Len(t, attempts[spark4Name], 1)
	require.Positive(t, attempts[spark4Name][0].Stages)
	require.NotEmpty(t, attempts["orders"])
	logs, err := filepath.Glob(filepath.Join(c.eventLogs("*"), "eventlog_v2_"+attempts["orders"][0].ID+"*"))
	require.NoError(t, err)
	require.Len(t, logs, 1, "the log of a job that says nothing about it is rolled")
	require.NotEmpty(t, attempts["panels"])
	expected := map[string]int{}
	for _, name := range h.names {
		expected[name]++
	}
	for name := range kinds() {
		if testenv.Long() {
			require.Positive(t, expected[name], name)
		}
		require.Lenf(t, attempts[name], expected[name], name)
	}
	if testenv.Long() {
		require.GreaterOrEqual(t, len(attempts["orders"])+len(attempts["panels"]), 4, "of main, adhoc and the cluster of another team")
		require.Len(t, attempts["history-attempts"], 2)
		require.Equal(t, []string{"1", "2"}, []string{attempts["history-attempts"][0].Attempt, attempts["history-attempts"][1].Attempt})
		require.GreaterOrEqual(t, attempts["history-stages"][0].Stages, int64(1000))
		require.GreaterOrEqual(t, attempts["history-rolled-stages"][0].Stages, int64(1000))
	}

	err = testenv.Poll(t.Context(), testenv.Cloud, time.Second, func(context.Context) error {
		if again := c.profile(t, "--output", folder); again.Objects+again.Removed > 0 {
			return fmt.Errorf("a run writes although nothing has happened since: %+v", again)
		}
		return nil
	})
	require.NoError(t, err, "once EMR's history is no longer late, a run writes nothing")
	h.workloadAgrees(t, folder)
	h.toolsAnswer(t)
	h.secretsAreRedacted(t, folder)
	h.criticalFindings(t, folder)
	h.costsAddUp(t, folder)
	require.GreaterOrEqual(t, read, 4, "attempts of applications")
	if testenv.Long() {
		h.endedClusterOpens(t, folder)
		h.sparkReadsTables(t)
		require.GreaterOrEqual(t, read, 20, "attempts of applications")
		h.serversAgree(t)
	}
}

// read reads the history of all clusters until the tables have what the jobs ran: EMR's
// history is late.
func (h history) read(t *testing.T, folder string) (s run.Summary) {
	t.Helper()
	err := testenv.Poll(t.Context(), testenv.Cloud, time.Second, func(context.Context) error {
		s = h.cloud.profile(t, "--output", folder)
		return h.late(h.cloud.applicationsIn(t, folder))
	})
	require.NoError(t, err)
	return s
}

// runningOneIsRead reads the history while an application runs, and again after its end.
func (h history) runningOneIsRead(t *testing.T, folder string) {
	t.Helper()
	id := strconv.FormatInt(time.Now().UnixNano(), 36)
	ended := make(chan error, 1)
	go func() {
		_, log, err := h.cloud.try(t, "submit", "--wait", "--cluster", "main", "--conf", "spark.dynamicAllocation.maxExecutors=1",
			"tests/cloud/testdata/waits.py", id)
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, log)
		}
		ended <- err
	}()
	until := func(completed bool) {
		err := testenv.Poll(t.Context(), testenv.Cloud, time.Second, func(context.Context) error {
			h.cloud.profile(t, "--output", folder)
			found := h.cloud.applicationsIn(t, folder)
			if !slices.ContainsFunc(found, func(a readApplication) bool { return a.Name == "waits" && a.Completed == completed && a.Jobs > 0 }) {
				return fmt.Errorf("the tables have no application waits with a job and completed %t", completed)
			}
			return nil
		})
		require.NoError(t, err)
	}
	until(false)
	h.cloud.endJob(t, id)
	require.NoError(t, <-ended)
	until(true)
}

// serversAgree compares the rows of every event log that the cloud's persistent UIs keep
// with what a history server says of it.
func (h history) serversAgree(t *testing.T) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(h.cloud.state, "persistent-uis", "logs", "*", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, logs)
	folder := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "cp", append([]string{"-r", "-t", folder}, logs...)...).CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	cmd := exec.CommandContext(t.Context(), "go", "test", "../history", "-count=1", "-v", "-run", "^TestEventLogAndRESTRowsAgree$")
	cmd.Env = append(os.Environ(), "OBSERVATORY_EVENT_LOGS="+folder)
	out, err = cmd.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	t.Logf("%s", out)
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
		"history-compacted": func(a readApplication) bool { return a.Compacted > 0 && a.Stages+a.Compacted == 1000 },
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
	cmd := exec.CommandContext(t.Context(), c.program, append([]string{"profile", "run", "--json", "--max-clusters", "0"}, args...)...)
	cmd.Env = c.environment(t)
	var said strings.Builder
	cmd.Stderr = &said
	out, _ := cmd.Output() // the exit code says whether something is missing
	require.NoErrorf(t, json.Unmarshal(out, &s), "%s\n%s", out, &said)
	require.NotContains(t, string(out)+said.String(), secret)
	return s
}

// environment is this process's, with what a client of the cloud needs.
func (c *cloud) environment(t *testing.T) []string {
	t.Helper()
	credentials, err := localcloud.LoadCredentials(c.state)
	require.NoError(t, err)
	all := os.Environ()
	for k, v := range c.running(t).Environment(credentials) {
		all = append(all, k+"="+v)
	}
	return all
}
