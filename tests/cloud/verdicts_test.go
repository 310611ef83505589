package cloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/report"
	"github.com/emr-observatory/emr-observatory/rules"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/submit"
	"github.com/emr-observatory/emr-observatory/tests/calibration"
	"github.com/emr-observatory/emr-observatory/verdict"
)

// page reads the page of an application, as programs do.
func (c *cloud) page(t *testing.T, id string) (page report.Application) {
	t.Helper()
	require.NoError(t, c.tryGet(t, string(platform.WorkloadStatus), status.ApplicationsPath+"/"+id, &page))
	return page
}

// awaitTables returns the page of an application once the tables have it: the end of its step has
// woken the profiler, whose next run is an hour away.
func (c *cloud) awaitTables(t *testing.T, id string) (page report.Application) {
	t.Helper()
	require.NoError(t, testenv.Poll(t.Context(), testenv.Job, time.Second, func(context.Context) error {
		if page = c.page(t, id); page.Live {
			return fmt.Errorf("%s is not in the tables: %v", id, page.Missing)
		}
		return nil
	}))
	return page
}

// verdictsFollow submits jobs that are slow for a known reason, as their owner would. The command
// ends with the reason, and minutes later the page of the application has the tables' findings.
func verdictsFollow(t *testing.T, c *cloud) {
	bucket := c.outputs(t).DataBucket
	first := c.status(t).Steps[0].Phases[0].ApplicationID // of `make up`, minutes ago
	require.Equal(t, "Succeeded", c.awaitTables(t, first).Outcome)
	var waits, finals []time.Duration
	for _, p := range calibration.Pairs() {
		if p.Rule == rules.ResourceWait || p.Rule == rules.FetchWait {
			// EMR runs one step at a time: nothing else holds the cluster. Blocks arrive at once: the
			// network of one machine has no latency (tests/phases limits how much is asked for).
			continue
		}
		if p.Rule != rules.Spill && !testenv.Long() {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			wait, ended, id, live := c.submitSick(t, p, bucket)
			waits = append(waits, wait)
			testenv.RequireLong(t, "the tables had the first job, and have others as late")
			page := c.awaitTables(t, id)
			finals = append(finals, time.Since(ended))
			t.Logf("%s: line %s after the step's end, tables %s: %s", p.Name, wait.Round(time.Second),
				time.Since(ended).Round(time.Second), page.Verdict())
			require.Equal(t, "Succeeded", page.Outcome)
			require.NotEmpty(t, page.Findings)
			require.Condition(t, func() bool {
				return slices.ContainsFunc(page.Findings, func(f report.Finding) bool { return f.Rule == p.Rule })
			}, "%+v", page.Findings)
			// Beside another cloud on the same cores, tasks wait for a CPU, and a job has faults besides its own:
			// tests/phases requires that its own comes first. Both verdicts begin with the same one.
			require.Condition(t, func() bool {
				first := page.Findings[0].Rule
				return len(live.Findings) > 0 && live.Findings[0].Rule == first || slices.Contains(live.NeedHistory, first)
			}, "the line: %+v; the tables: %+v", live.Findings, page.Findings)
		})
	}
	slices.Sort(waits)
	slices.Sort(finals)
	if len(waits) > 0 && testenv.Long() {
		t.Logf("lines came %v after the ends, tables %v", waits, finals)
		require.Less(t, waits[len(waits)-1], time.Minute)
		require.Less(t, waits[len(waits)/2], 30*time.Second)
	}
}

// submitSick runs a sick job, and requires its fault in the verdict. wait is how long after the
// step's end the command returned.
func (c *cloud) submitSick(t *testing.T, p calibration.Pair, bucket string) (
	wait time.Duration, ended time.Time, id string, live verdict.Verdict,
) {
	t.Helper()
	args := []string{"submit", "--wait", "--json"}
	for _, property := range slices.Sorted(maps.Keys(p.Settings)) {
		args = append(args, "--conf", property+"="+p.Settings[property])
	}
	// A node has 2 GiB: beside an application master of the default size there is no room for an executor of 1 GiB.
	args = append(args, "--conf", "spark.yarn.am.memory=256m")
	args = append(args, filepath.Join(c.project, "examples/jobs/sick", p.Name+".py"), platform.PrefixLake.URI(bucket)+"sick-"+p.Name)
	switch {
	case p.Rule == rules.SlowWrite:
		args = append(args, "120") // days: a file for each takes less than the rule's minute on a fast disk otherwise
	case p.Rounds > 0 && testenv.Long():
		args = append(args, fmt.Sprint(p.Rounds))
	}
	out := c.run(t, args...)
	returned := time.Now()
	var r submit.Result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Len(t, r.Phases, 1, out)
	require.NotNil(t, r.Phases[0].Verdict, out)
	live = *r.Phases[0].Verdict
	t.Logf("%s: %s", p.Name, r.Phases[0])
	var found []rules.ID
	for _, f := range live.Findings {
		found = append(found, f.Rule)
	}
	require.Condition(t, func() bool {
		return slices.ContainsFunc(p.Rules(), func(id rules.ID) bool {
			return slices.Contains(found, id) || slices.Contains(live.NeedHistory, id)
		})
	}, "found %v", found)
	return returned.Sub(*r.Ended), *r.Ended, r.Phases[0].ApplicationID, live
}
