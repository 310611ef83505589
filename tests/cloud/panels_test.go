package cloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards/check"
	"github.com/emr-observatory/emr-observatory/dashboards/links"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

// panelsJob is the job that does what the panels of the timeline show. It runs while
// other parts do.
type panelsJob struct {
	life     *testing.T // the job may outlive the part that starts it
	cloud    *cloud
	cmd      *exec.Cmd
	out, log bytes.Buffer
}

// start submits the job, once.
func (j *panelsJob) start(t *testing.T) {
	t.Helper()
	if j.cmd != nil {
		return
	}
	lake := platform.PrefixLake.URI(j.cloud.outputs(t).DataBucket)
	j.cmd = j.cloud.command(j.life, append([]string{"submit", "--wait", "--json", "--name", "panels"}, fillsPanels(lake+"panels")...)...)
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.log
	require.NoError(t, j.cmd.Start())
}

// fillsPanels returns the arguments of submit for the job that fills each panel, which
// writes below a folder of the lake.
func fillsPanels(folder string) []string {
	var args []string
	for key, value := range map[string]string{
		platform.SparkAirflowDAG: "nightly", platform.SparkAirflowTask: "load", platform.SparkAirflowRun: "scheduled__2026-01-31",
		platform.SparkAirflowTry:                      "2",
		"spark.dynamicAllocation.executorIdleTimeout": "11s", // longer than the time between two exports
		"spark.task.maxFailures":                      "2",
		"spark.memory.fraction":                       "0.05", // so that a sort spills
		"spark.reducer.maxSizeInFlight":               "1m",   // so that tasks wait for blocks
		"spark.hadoop.fs.s3a.multipart.size":          "5M",
		"spark.hadoop.fs.s3a.threads.max":             "2", // so that blocks wait for their upload
	} {
		args = append(args, "--conf", key+"="+value)
	}
	return append(args, "tests/cloud/testdata/panels.py", folder)
}

// wait returns the job's result once it has ended.
func (j *panelsJob) wait(t *testing.T) (r submit.Result) {
	t.Helper()
	j.start(t)
	if j.cmd.ProcessState == nil {
		require.NoErrorf(t, j.cmd.Wait(), "%s%s", &j.out, &j.log)
	}
	require.NoError(t, json.Unmarshal(j.out.Bytes(), &r))
	require.EqualValues(t, "COMPLETED", r.State)
	return r
}

// healthyZeros maps series of the timeline that are zero for a healthy job in client mode
// to the test that shows them otherwise.
func healthyZeros() map[string]string {
	const (
		cluster = "tests/phases TestPhasesEqualTheJobsOwnClock/cluster-static"
		server  = "phases TestGoldenLogs"
		killed  = "tests/phases TestHostileJobs/an_executor_is_killed"
		reasons = "assets/node TestPluginFindsParentsAndReasons"
		budget  = "assets/node TestPluginKeepsTheBudgetOfATrace"
		buffer  = "assets/node TestCountsUndeliveredSpans"
		spans   = "assets/node TestRefusedSpansAreCounted"
		lost    = "assets/node TestPluginCountsLostEventsAndSeparatesContexts"
		refused = "tests/phases TestPhasesEqualTheJobsOwnClock/magic"
	)
	zeros := map[string]string{
		"Share of the wall time/A phase=submit": cluster, "Time by phase/B": cluster, "Runs of the same name/D": cluster,
		"Share of the wall time/A phase=idle": server, "Time by phase/F": server, "Runs of the same name/H": server,
		"Accuracy of the phases/A": lost, "Events dropped/A": lost, "S3 requests/B": refused, "S3 requests/C": refused,
		"Executors removed/A reason=killed": killed, "Spans dropped/A reason=budget": budget, "Spans dropped/A reason=buffer": buffer,
		"Spans dropped/A reason=refused": spans,
	}
	for _, reason := range []string{"lost", "decommissioned", "preempted", "memory", "other"} {
		zeros["Executors removed/A reason="+reason] = reasons
	}
	return zeros
}

// countsAreAboveZero requires that every series of the timeline, of a job that did what
// it counts, was above zero. Whether a task waits, spills or collects garbage is the
// machine's affair too, so what is zero gets a second job.
func countsAreAboveZero(t *testing.T, c *cloud, r check.Report) {
	t.Helper()
	zeros, unseen := healthyZeros(), healthyZeros()
	for series, test := range zeros {
		requireTest(t, c, series, test)
	}
	found, _, checked := c.alwaysZero(t, r, zeros, unseen)
	if len(found) > 0 {
		t.Logf("zero after one job: %v", found)
		again := panelsJob{life: t, cloud: c}
		again.wait(t)
		second := c.check(t) // the timeline chooses the newest application
		err := testenv.Poll(t.Context(), testenv.Arrival, time.Second, func(context.Context) error {
			_, above, _ := c.alwaysZero(t, second, zeros, unseen)
			found = slices.DeleteFunc(found, func(name string) bool { return above[name] })
			if len(found) > 0 {
				return fmt.Errorf("zero in both jobs: %v", found)
			}
			return nil
		})
		require.NoError(t, err)
	}
	require.Empty(t, unseen, "no panel has these")
	require.Greater(t, checked, 90)
}

// alwaysZero lists the series of the timeline that were never above zero since the
// report's begin, but for those of zeros; a bucket of a histogram may have nothing. It
// also returns the names of those that were, and removes what it sees from unseen, and
// counts it.
func (c *cloud) alwaysZero(
	t *testing.T, r check.Report, zeros, unseen map[string]string,
) (found []string, above map[string]bool, checked int) {
	t.Helper()
	above = map[string]bool{}
	window := time.Since(r.Since).Round(time.Second)
	for _, result := range r.Results {
		if result.Dashboard != links.Timeline || result.Panel == check.VariablePanel || result.Datasource != "prometheus" ||
			result.Selection != check.SelectionAll {
			continue
		}
		for _, s := range c.query(t, fmt.Sprintf("max_over_time((%s)[%s:5s])", result.Expr, window)) {
			checked++
			name := result.Panel + "/" + result.Query + ofSeries(s.Metric)
			delete(unseen, name)
			_, excused := zeros[name]
			switch {
			case s.number(t) > 0:
				above[name] = true
			case !excused && s.Metric["vmrange"] == "" && s.Metric["le"] == "":
				found = append(found, name)
			}
		}
	}
	return found, above, checked
}

// requireTest requires a test that is named by its folder and its name.
func requireTest(t *testing.T, c *cloud, series, test string) {
	t.Helper()
	folder, name, _ := strings.Cut(test, " ")
	name, _, _ = strings.Cut(name, "/")
	files, err := filepath.Glob(filepath.Join(c.project, folder, "*_test.go"))
	require.NoError(t, err)
	require.Truef(t, slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && bytes.Contains(text, []byte("func "+name+"("))
	}), "%s: there is no test %s", series, test)
}

// ofSeries names what tells a series of a panel from the others of the same query.
func ofSeries(labels map[string]string) (name string) {
	own := []string{"component", "direction", "kind", "measure", "of", "operation", "outcome", "phase", "reason", "state"}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if slices.Contains(own, label) {
			name += " " + label + "=" + labels[label]
		}
	}
	return name
}

// airflowIsShown requires the context that Airflow gave the job in the timeline.
func airflowIsShown(t *testing.T, c *cloud, r check.Report) {
	t.Helper()
	queries := 0
	for _, result := range r.Results {
		if result.Dashboard == links.Timeline && result.Panel == "Application and its caller" {
			queries++
			rows := c.query(t, result.Expr)
			require.Len(t, rows, 1)
			require.Equal(t, []string{"nightly", "load", "panels"},
				[]string{rows[0].Metric["dag_id"], rows[0].Metric["task_id"], rows[0].Metric["application_name"]})
			require.Regexp(t, "^s-[A-Z0-9]+$", rows[0].Metric[platform.ApplicationInfoStep])
		}
	}
	require.Positive(t, queries, "the timeline has no such panel")
}
