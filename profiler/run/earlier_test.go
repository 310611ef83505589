package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// A log that cannot be read today is read tomorrow, also of a cluster that has ended. Files
// that are no log of the cluster do not matter.
func TestUnreadableEventLogIsReadLater(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("etl", logsInS3)
	w.step(id, appID(1))
	for _, n := range []int{1, 2} {
		require.NoError(t, w.s3.Put(t.Context(), bucket, "spark-logs/"+appID(n), logOf(t, "adaptive", appID(n))))
	}
	require.NoError(t, w.s3.Put(t.Context(), bucket, "spark-logs/archived.txt", []byte("not a log")))
	// A rolled log whose first file Spark has not closed.
	require.NoError(t, w.s3.Put(t.Context(), bucket, "spark-logs/eventlog_v2_"+appID(3)+"/appstatus_"+appID(3)+".inprogress", nil))
	w.end(id, time.Hour)

	w.fail("spark-logs/"+appID(2), "spark-logs/archived.txt")
	first, said := w.run(w.options())
	require.Equal(t, 1, first.ApplicationsRead)
	require.Equal(t, run.ExitIncomplete, first.ExitCode())
	require.Len(t, first.Incomplete, 1)
	require.Contains(t, first.Incomplete[0].Reason, "1 of its event logs in s3://data/spark-logs cannot be read: ")
	require.Contains(t, said.text(), "2 event logs in s3://data/spark-logs belong to no known application")

	w.fail("spark-logs/archived.txt")
	second, _ := w.run(w.options())
	require.Equal(t, 1, second.ApplicationsRead)
	require.Equal(t, run.ExitComplete, second.ExitCode())
	require.Len(t, readLake[tables.Application](w), 2)
	third, _ := w.run(w.options())
	require.Equal(t, 1, third.ClustersCurrent)

	w.fail("spark-logs/" + appID(2))
	withTasks := w.options()
	withTasks.IncludeTasks = true // which reads everything again
	fourth, _ := w.run(withTasks)
	require.Equal(t, 1, fourth.ApplicationsRead)
	require.EqualValues(t, 2, readLake[tables.ClusterSummary](w)[0].TotalApplications, "in the lake")
}

// What an earlier run read stays where a later one fails: EMR has deleted the history, or
// does not list the steps.
func TestFailuresKeepWhatTheLakeHas(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("etl")
	w.ran(id, "adaptive", appID(1))
	step := w.step(id, appID(1))
	w.end(id, time.Hour)
	w.run(w.options())
	before := readLake[tables.ClusterSummary](w)[0]
	require.EqualValues(t, 1, before.TotalApplications)
	require.Positive(t, before.TotalStages)

	w.fail(source.OpListSteps)
	withTasks := w.options()
	withTasks.IncludeTasks = true // which reads everything again
	w.run(withTasks)
	require.Equal(t, step, aws.ToString(readLake[tables.Application](w)[0].StepID))
	steps := readLake[tables.Step](w)
	require.Len(t, steps, 1)
	require.Equal(t, []string{appID(1)}, steps[0].ApplicationIDs)

	w.fail()
	require.NoError(t, w.store.UpdateCluster(id, func(c *types.Cluster) {
		timeline := c.Status.Timeline
		timeline.CreationDateTime = aws.Time(timeline.CreationDateTime.AddDate(0, 0, -31))
		timeline.EndDateTime = aws.Time(timeline.EndDateTime.AddDate(0, 0, -31))
	}))
	summary, _ := w.run(w.options())
	require.Contains(t, summary.Incomplete[0].Reason, "EMR keeps a history for 30 days")
	after := readLake[tables.ClusterSummary](w)
	require.Len(t, after, 1)
	require.Equal(t, "INCOMPLETE", after[0].AnalysisStatus)
	require.Equal(t, [3]int64{1, before.TotalJobs, before.TotalStages},
		[3]int64{after[0].TotalApplications, after[0].TotalJobs, after[0].TotalStages})
	require.Len(t, readLake[tables.Application](w), 1)
}

// Rows that were deleted come back, although their cluster was complete.
func TestDeletedRowsOfAnEndedClusterComeBack(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("etl")
	w.ran(id, "adaptive", appID(1))
	w.ran(id, "cluster-submit", appID(2))
	w.end(id, time.Hour)
	w.run(w.options())
	stages := len(readLake[tables.StageRow](w))

	remove := func(dry bool) {
		err := run.Locked(t.Context(), w.aws, w.options(), "test", func(kept *lake.Lake, _ run.Place) error {
			removed, err := kept.Delete(t.Context(), lake.Filter{ApplicationID: appID(1)}, dry)
			require.Len(t, removed, 1)
			return err
		})
		require.NoError(t, err)
	}
	remove(true)
	dry, _ := w.run(w.options())
	require.Equal(t, 1, dry.ClustersCurrent)
	remove(false)
	require.Len(t, readLake[tables.Application](w), 1)
	again, _ := w.run(w.options())
	require.Equal(t, 1, again.ApplicationsRead)
	require.Len(t, readLake[tables.Application](w), 2)
	require.Len(t, readLake[tables.StageRow](w), stages)
}

// A history server that has not read all logs yet lists fewer applications. EMR deletes
// them after 30 days, so the cluster is opened until those of its steps are there.
func TestClusterIsOpenedUntilItsStepsApplicationsAreListed(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("etl")
	w.ran(id, "adaptive", appID(1))
	step := w.step(id, appID(1), appID(2))
	copied := w.addStep(id, "copy", "s3-dist-cp", "--src=a", "--dest=b")
	require.NoError(t, w.store.SetStepApplications(id, copied, "10.0.0.5:8032", []string{appID(9)}))
	w.end(id, time.Hour)
	first, _ := w.run(w.options())
	require.Equal(t, 1, first.ApplicationsRead)
	require.Equal(t, run.ExitIncomplete, first.ExitCode())
	require.Contains(t, first.Incomplete[0].Reason, "does not list "+appID(2)+" of step "+step+" yet")
	require.NotContains(t, fmt.Sprint(first.Incomplete), appID(9), "it is not of Spark")

	require.NoError(t, w.store.UpdateCluster(id, func(c *types.Cluster) {
		timeline := c.Status.Timeline
		timeline.CreationDateTime, timeline.EndDateTime = aws.Time(timeline.CreationDateTime.AddDate(0, 0, -1)),
			aws.Time(timeline.EndDateTime.AddDate(0, 0, -1))
	}))
	w.newUIs = true
	cold, _ := w.run(w.options())
	require.Contains(t, cold.Incomplete[0].Reason, "yet", "a new UI may not have read all logs")
	w.newUIs = false
	late, _ := w.run(w.options())
	require.Equal(t, run.ExitIncomplete, late.ExitCode())
	require.Len(t, late.Incomplete, 1)
	require.Contains(t, late.Incomplete[0].Reason, "1 applications of its steps have no history, the first is "+appID(2)+" of step "+step)
	lost := readLake[tables.Completeness](w)
	lost = slices.DeleteFunc(lost, func(row tables.Completeness) bool { return row.ApplicationID != appID(2) })
	require.Len(t, lost, 1)
	require.Equal(t, []any{"applications", "unavailable", int64(1)}, []any{lost[0].Endpoint, lost[0].Reason, *lost[0].Missing})
	last, _ := w.run(w.options())
	require.Equal(t, 1, last.ClustersCurrent)
}

// The log of a step is read until EMR has uploaded all of it, and not again.
func TestStepLogsAreReadOnce(t *testing.T) {
	w := newWorld(t)
	id, application := w.cluster("etl"), recentID(1)
	w.ran(id, "adaptive", application)
	step := w.step(id)
	logs := source.Call{Service: "S3", Operation: source.OpGetObject, Target: source.StepLogs}
	reads := func() (n int, linkedBy string) {
		before := w.calls[logs]
		w.run(w.options())
		return w.calls[logs] - before, readLake[tables.Step](w)[0].LinkedBy
	}
	n, by := reads()
	require.Positive(t, n)
	require.Empty(t, by)
	w.putLog(id, step, "stderr", "Submitted application "+application+"\n")
	for range 2 {
		n, by = reads()
		require.Positive(t, n)
		require.Equal(t, "step_log_early", by)
	}
	w.end(id, time.Hour)
	w.fail(source.OpListInstanceGroups) // so that the cluster is opened again
	n, by = reads()
	require.Positive(t, n)
	require.Equal(t, "step_log", by)
	n, by = reads()
	require.Zero(t, n)
	require.Equal(t, "step_log", by)
	require.Equal(t, []string{application}, readLake[tables.Step](w)[0].ApplicationIDs)
}

// An application that EMR lists no more, but that an earlier run has read, is not missing.
func TestApplicationThatEMRListsNoMore(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("etl")
	w.ran(id, "cluster-submit", appID(1)) // attempt 1
	w.step(id, appID(1))
	w.run(w.options())
	require.NoError(t, os.Remove(filepath.Join(w.uis.Dir, "logs", id, appID(1))))
	w.uis.Close()
	w.end(id, 25*time.Hour)
	last, _ := w.run(w.options())
	require.Equal(t, run.ExitComplete, last.ExitCode(), last.Incomplete)
	require.Len(t, readLake[tables.Application](w), 1)
	require.NotContains(t, fmt.Sprintf("%+v", readLake[tables.Completeness](w)), "it has no history")
}

// A cluster whose step logs S3 refuses, as in another team's bucket, is read once.
func TestRefusedStepLogsDoNotKeepAClusterOpen(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("etl")
	require.NoError(t, w.store.UpdateCluster(id, func(c *types.Cluster) { c.LogUri = aws.String("s3n://of-another-team/logs/") }))
	w.ran(id, "adaptive", appID(1))
	w.step(id)
	w.end(id, time.Hour)
	first, _ := w.run(w.options())
	require.Equal(t, 1, first.ApplicationsRead)
	require.Contains(t, first.Incomplete[0].Reason, "step_logs: cannot read the logs of 1 of 1 steps")
	require.Contains(t, first.Incomplete[0].Reason, "read s3://of-another-team/logs/")
	require.Contains(t, first.Incomplete[0].Reason, "grant the profiler's role s3:GetObject and s3:ListBucket on the cluster's log URI")
	second, _ := w.run(w.options())
	require.Equal(t, 1, second.ClustersCurrent)
}
