package run_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// readLake returns the rows of a table in S3.
func readLake[T any, P interface {
	*T
	tables.Row
}](w *world) (rows []T) {
	w.t.Helper()
	kept, err := lake.Open(w.t.Context(), lake.NewBucket(w.unrecorded, bucket), "lake/history/")
	require.NoError(w.t, err)
	for row, err := range lake.Read[T, P](w.t.Context(), kept, lake.Filter{}) {
		require.NoError(w.t, err)
		rows = append(rows, row)
	}
	return rows
}

// made returns the calls so far of an operation, whatever its target.
func (w *world) made(operation string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for call, times := range w.calls {
		if call.Operation == operation {
			n += times
		}
	}
	return n
}

// Clusters that are gone are read behind their persistent UIs, from event logs that the
// real history server hands out.
func TestClustersOfEMR(t *testing.T) {
	w := newWorld(t)
	etl := w.cluster("etl")
	printed := recentID(2) // by its step; the others' time is before that of the cluster
	w.ran(etl, "adaptive", appID(1))
	w.ran(etl, "cluster-submit", printed)
	w.ran(etl, "killed-driver", appID(3))
	named, logged, silent := w.step(etl, appID(1)), w.step(etl), w.step(etl)
	w.putLog(etl, logged, "stderr", "Submitted application "+printed+"\nlike "+appID(8)+"\n")
	w.end(etl, time.Hour)
	old := w.cluster("old", func(c *types.Cluster) { c.ReleaseLabel = aws.String("emr-5.20.0") })
	w.end(old, 2*time.Hour)

	first, said := w.run(w.options())
	require.Contains(t, said.text(), "2 clusters found")
	require.Equal(t, 3, first.ApplicationsRead)
	require.Len(t, first.Incomplete, 1)
	require.Contains(t, first.Incomplete[0].Reason, "applications: release emr-5.20.0 is older than emr-5.25.0")
	require.Equal(t, run.ExitIncomplete, first.ExitCode())

	key := tables.Cluster{Account: account, Region: region, ClusterID: etl, ClusterName: "etl"}
	steps := map[string][2]string{}
	for _, row := range readLake[tables.Application](w) {
		require.Equal(t, key, row.Cluster)
		require.Equal(t, tables.SourceLogs, row.Source)
		steps[aws.ToString(row.StepID)] = [2]string{row.ApplicationID, row.AttemptID}
	}
	require.Equal(t, map[string][2]string{named: {appID(1), ""}, logged: {printed, "1"}, "": {appID(3), ""}}, steps)
	linked := map[string]string{}
	for _, row := range readLake[tables.Step](w) {
		require.Equal(t, "COMPLETED", row.State)
		linked[row.StepID] = row.LinkedBy + " " + strings.Join(row.ApplicationIDs, ",")
	}
	require.Equal(t, map[string]string{named: "additional_info " + appID(1), logged: "step_log " + printed, silent: " "}, linked)
	requireClusters(t, w, etl, old)
	requireCosts(t, w)

	created, described := w.made(source.OpCreatePersistentUI), w.made(source.OpDescribeCluster)
	require.Equal(t, 1, created)
	second, said := w.run(w.options())
	require.Zero(t, second.Objects+second.Removed)
	require.Equal(t, 2, second.ClustersCurrent)
	require.Equal(t, run.ExitComplete, second.ExitCode())
	require.Contains(t, said.text(), "2 clusters found, 2 of them already complete")
	require.Equal(t, created, w.made(source.OpCreatePersistentUI))
	require.Equal(t, described, w.made(source.OpDescribeCluster), "what is complete is not looked at again")
}

// The outcome of an application is that of the step that ran it and no other; a failed one has
// a finding.
func TestOutcomesOfApplications(t *testing.T) {
	w := newWorld(t)
	etl := w.cluster("etl")
	for i := range 4 {
		w.ran(etl, "adaptive", appID(1+i))
	}
	w.step(etl, appID(1))
	w.step(etl, appID(2), appID(3))
	failed := w.failed(etl, "job")
	require.NoError(t, w.store.SetStepApplications(etl, failed, "10.0.0.5:8032", []string{appID(4)}))
	w.end(etl, time.Hour)
	w.run(w.options())
	outcomes := map[string]string{}
	for _, row := range readLake[tables.Application](w) {
		outcomes[row.ApplicationID] = aws.ToString(row.Outcome)
	}
	require.Equal(t, map[string]string{appID(1): "succeeded", appID(2): "", appID(3): "", appID(4): "failed"}, outcomes)
	for _, f := range readLake[tables.Finding](w) {
		if f.Finding == string(rules.JobFailure) && f.NotChecked == "" {
			require.Equal(t, appID(4), f.ApplicationID)
			outcomes[appID(4)] = f.Severity
		}
	}
	require.Equal(t, string(rules.Critical), outcomes[appID(4)])
}

// A failed application has its cause from the logs of its step, once EMR has uploaded them: the
// exception, or what the logs of its driver's container or of the lost executor's say. The finding
// begins with it.
func TestCausesOfFailedApplications(t *testing.T) {
	w := newWorld(t)
	etl := w.cluster("etl")
	step := map[string]string{}
	for n, name := range []string{"raised", "cluster", "memory", "late"} {
		id := recentID(1 + n)
		w.ran(etl, "adaptive", id)
		step[name] = w.failed(etl, name)
		require.NoError(t, w.store.SetStepApplications(etl, step[name], "10.0.0.5:8032", []string{id}))
		w.putFailure(etl, name, step[name], id)
	}
	causes := func() (causes, findings map[string]string) {
		w.run(w.options())
		causes, findings = map[string]string{}, map[string]string{}
		for _, row := range readLake[tables.Step](w) {
			causes[row.StepName] = aws.ToString(row.Cause)
		}
		names := map[string]string{}
		for _, row := range readLake[tables.Application](w) {
			names[row.ApplicationID] = step[""]
			for name, id := range step {
				if id == aws.ToString(row.StepID) {
					names[row.ApplicationID] = name
					require.Equal(t, causes[name], aws.ToString(row.FailureCause))
				}
			}
		}
		for _, row := range readLake[tables.Finding](w) {
			if row.Finding == string(rules.JobFailure) && row.NotChecked == "" {
				findings[names[row.ApplicationID]] = row.Summary
			}
		}
		return causes, findings
	}
	first, _ := causes()
	want := map[string]string{
		"raised":  "ValueError: password=*********(redacted)\n  at job.py:3, in load: raise ValueError(day)",
		"cluster": "exit code 3 without an exception; the job's last lines:\n  no such table: orders",
		"memory": "java.lang.OutOfMemoryError: Java heap space in an executor; org.apache.spark.SparkException: Job aborted due to stage " +
			"failure: ExecutorLostFailure (executor 4 exited caused by one of the running tasks) Reason: Container from a bad node: " +
			"container_1700000000000_0007_01_000005 on host: ip-10-0-0-6. Exit status: 137.",
		"late": "",
	}
	require.Equal(t, want, first)
	w.putLog(etl, step["late"], "stdout", "Traceback (most recent call last):\n  File \"/mnt/tmp/job.py\", line 3, in <module>\n"+
		"    f()\nKeyError: 1\n")
	want["late"] = "KeyError: 1\n  at job.py:3, in <module>: f()"
	second, found := causes()
	require.Equal(t, want, second)
	const raised = "The application failed: ValueError: password=*********(redacted) at job.py:3, in load: raise ValueError(day)"
	require.Equal(t, raised, found["raised"])
	require.Equal(t, "The application failed: KeyError: 1 at job.py:3, in <module>: f()", found["late"])
}

// failed adds a step that has failed.
func (w *world) failed(cluster, name string) string {
	w.t.Helper()
	step := w.addStep(cluster, name, "spark-submit", failingArg)
	w.stepEnds(cluster, step, types.StepStateFailed)
	return step
}

// putFailure archives the logs of a step that failed, in the way that its name says.
func (w *world) putFailure(cluster, name, step, application string) {
	w.t.Helper()
	container := func(id, log, text string) {
		w.putObject(platform.ContainerLogPrefix(cluster, application)+"container_1700000000000_0007_"+id+"/"+log+".gz", text)
	}
	switch name {
	case "raised":
		w.putLog(cluster, step, "stdout", "Traceback (most recent call last):\n  File \"/mnt/tmp/job.py\", line 3, in load\n"+
			"    raise ValueError(day)\nValueError: password=hunter2\n")
	case "cluster":
		w.putLog(cluster, step, "stderr", "26/11/27 10:00:09 INFO Client: Application report for "+application+"\n"+
			"\t diagnostics: User application exited with status 3\nException in thread \"main\" org.apache.spark.SparkException: Application "+
			application+" finished with failed status\n")
		container("01_000001", "stdout", "the first attempt\n")
		container("02_000001", "stdout", "no such table: orders\n")
		container("02_000002", "stdout", "an executor\n")
	case "memory":
		w.putLog(cluster, step, "stderr", "26/11/27 10:00:01 INFO Client: Submitted application "+application+"\n"+
			"Exception in thread \"main\" org.apache.spark.SparkException: Job aborted due to stage failure: ExecutorLostFailure (executor 4 "+
			"exited caused by one of the running tasks) Reason: Container from a bad node: container_1700000000000_0007_01_000005 on host: "+
			"ip-10-0-0-6. Exit status: 137.\n")
		container("01_000004", "stderr", "java.lang.OutOfMemoryError: of another executor\n")
		container("01_000005", "stderr", "java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf\n")
	}
}

func requireClusters(t *testing.T, w *world, etl, old string) {
	t.Helper()
	byID := map[string]tables.ClusterSummary{}
	for _, row := range readLake[tables.ClusterSummary](w) {
		byID[row.ClusterID] = row
	}
	require.Equal(t, "COMPLETE", byID[etl].AnalysisStatus)
	require.Equal(t, "TERMINATED", byID[etl].Status)
	require.Equal(t, "User request", aws.ToString(byID[etl].StateChangeReason))
	require.Equal(t, "emr-7.10.0", aws.ToString(byID[etl].ReleaseLabel))
	require.EqualValues(t, 3, byID[etl].TotalApplications)
	require.EqualValues(t, len(readLake[tables.Job](w)), byID[etl].TotalJobs)
	require.Greater(t, byID[etl].EndTime, byID[etl].CreatedTime)
	require.Contains(t, byID[etl].StatusDetails, `"ListSteps":"OK"`)
	require.Contains(t, byID[etl].StatusDetails, `"jobs":"OK"`)
	require.Equal(t, "FAILED", byID[old].AnalysisStatus)
	require.Contains(t, byID[old].StatusDetails, `"applications":"FAILED(release emr-5.20.0 is older`)
}

func requireCosts(t *testing.T, w *world) {
	t.Helper()
	costs := readLake[tables.Cost](w)
	require.Len(t, costs, 2)
	require.Equal(t, "master", costs[0].Role)
	require.Equal(t, "m6g.xlarge", costs[0].InstanceType)
	require.Nil(t, costs[0].USD)
}

// A run that is interrupted while it lists clusters ends like one that is interrupted later.
func TestInterruptedDiscovery(t *testing.T) {
	w := newWorld(t)
	ctx, interrupt := context.WithCancel(t.Context())
	w.on = map[string]func(){source.OpListClusters: interrupt}
	summary, err := run.Run(ctx, w.aws, w.options(), &progress{})
	require.NoError(t, err)
	require.True(t, summary.Interrupted)
	require.Equal(t, run.ExitIncomplete, summary.ExitCode())
}

// A history server that fails to hand out an event log is asked no more, and read by REST.
// The next run asks again.
func TestWithoutEventLogs(t *testing.T) {
	w := newWorld(t)
	etl := w.cluster("etl")
	w.ran(etl, "adaptive", appID(1))
	w.ran(etl, "cluster-submit", appID(2))
	w.end(etl, time.Hour)
	fault := `[{"kind": "server-error", "path": "/logs$"}]`
	require.NoError(t, os.WriteFile(filepath.Join(w.uis.Dir, persistentui.FaultFile), []byte(fault), 0o600))
	o := w.options()
	o.EndpointFailures, o.AppThreads = 1, 1
	summary, said := w.run(o)
	require.Equal(t, 2, summary.ApplicationsRead)
	require.Empty(t, summary.Incomplete)
	require.Equal(t, 1, strings.Count(said.text(), "its event log is not available, using REST"))
	for _, row := range readLake[tables.Application](w) {
		require.Equal(t, tables.SourceREST, row.Source)
		require.NotZero(t, row.NumJobs)
	}
	require.NoError(t, os.Remove(filepath.Join(w.uis.Dir, persistentui.FaultFile)))
	second, _ := w.run(o)
	require.Equal(t, 2, second.ApplicationsRead)
	for _, row := range readLake[tables.Application](w) {
		require.Equal(t, tables.SourceLogs, row.Source)
	}
	third, _ := w.run(o)
	require.Zero(t, third.Objects)
	require.Equal(t, 1, third.ClustersCurrent)
}

// The pages of one cluster never respond. The others are read all the same, and its
// application once they respond.
func TestOneDeadCluster(t *testing.T) {
	w := newWorld(t)
	clusters, count := map[string]string{}, testenv.Repeats(3, 10)
	for i := range count {
		id := w.cluster("etl")
		w.ran(id, "local", appID(i))
		w.end(id, time.Hour)
		clusters[appID(i)] = id
	}
	dead := clusters[appID(1)]
	faults := filepath.Join(w.uis.Dir, persistentui.FaultFile)
	fault := fmt.Sprintf(`[{"kind": "slow", "delay_ms": 600000, "cluster": %q}]`, dead)
	require.NoError(t, os.WriteFile(faults, []byte(fault), 0o600))

	o := w.options()
	// The dead cluster takes all of the timeout; the others' servers start within half of it.
	o.MaxClusters, o.ClusterThreads, o.Timeout = 0, 2, testenv.Limit(30*time.Second).Scaled()
	first, _ := w.run(o)
	require.Equal(t, count-1, first.ApplicationsRead)
	require.Len(t, first.Incomplete, 1)
	require.Equal(t, dead, first.Incomplete[0].Cluster)
	require.Contains(t, first.Incomplete[0].Reason, "applications: list applications")
	require.Equal(t, run.ExitIncomplete, first.ExitCode())
	before := readLake[tables.Job](w)

	require.NoError(t, os.Remove(faults))
	second, _ := w.run(o)
	require.Equal(t, []int{count - 1, 1}, []int{second.ClustersCurrent, second.ApplicationsRead})
	require.Equal(t, run.ExitComplete, second.ExitCode())
	require.Subset(t, readLake[tables.Job](w), before)
	found := map[string]string{}
	for _, row := range readLake[tables.Application](w) {
		require.NotContains(t, found, row.ApplicationID)
		found[row.ApplicationID] = row.ClusterID
	}
	require.Equal(t, clusters, found)
}

// Runs with a limit reach every cluster in the end, and say what they left. The quota of
// persistent UIs is not used up, and what waits for it is tried again.
func TestLimitsOfClustersAndUIs(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		id := w.cluster("etl")
		w.ran(id, "local", appID(i+1))
		w.end(id, time.Duration(i+1)*time.Hour)
	}
	w.end(w.cluster("other"), time.Hour)
	o := w.options()
	o.NameFilter, o.MaxClusters, o.MaxUIs = "etl", 2, 2
	first, said := w.run(o)
	require.Contains(t, said.text(), "3 clusters found; reading 2 of 3 clusters (max_clusters)")
	require.Equal(t, []run.Incomplete{{Reason: "only 2 of 3 clusters read: limited by max_clusters"}}, first.Incomplete)
	require.Equal(t, run.ExitIncomplete, first.ExitCode())
	require.Equal(t, 2, first.ApplicationsRead)

	second, _ := w.run(o)
	require.Equal(t, 2, second.ClustersCurrent)
	require.Len(t, second.Incomplete, 1)
	require.Contains(t, second.Incomplete[0].Reason, "2 persistent UIs are in use, and max_persistent_uis is 2; wait until histories expire")
	require.Equal(t, 2, w.made(source.OpCreatePersistentUI))

	o.MaxUIs = 3
	third, _ := w.run(o)
	require.Equal(t, run.ExitComplete, third.ExitCode())
	require.Equal(t, 1, third.ApplicationsRead)
	require.Len(t, readLake[tables.Application](w), 3)
	require.Equal(t, 3, w.made(source.OpCreatePersistentUI))
}

// Clusters that run are never complete. With a limit they do not keep a run from those
// that ended before.
func TestLimitOfClustersReachesEndedOnes(t *testing.T) {
	w := newWorld(t)
	ended := w.cluster("etl")
	w.ran(ended, "local", appID(1))
	w.end(ended, 20*24*time.Hour)
	for range 3 {
		w.cluster("runs")
	}
	o := w.options()
	o.MaxClusters = 2
	read := 0
	for range 2 {
		summary, _ := w.run(o)
		read += summary.ApplicationsRead
	}
	require.Equal(t, 1, read)
}

// While EMR creates no more UIs, ended clusters cannot be completed. They do not take the
// places of a running one, and are read once EMR does.
func TestFullQuotaOfUIs(t *testing.T) {
	w := newWorld(t)
	for n := range 5 {
		id := w.cluster("ended")
		w.ran(id, "local", appID(n+1))
		w.end(id, time.Hour)
	}
	w.cluster("live")
	faults := filepath.Join(w.uis.Dir, persistentui.FaultFile)
	require.NoError(t, os.WriteFile(faults, []byte(`[{"kind": "quota-full"}]`), 0o600))
	o := w.options()
	o.MaxClusters = 4
	for n := range 4 {
		asked := w.made(source.OpCreatePersistentUI)
		summary, said := w.run(o)
		require.Equal(t, asked+1, w.made(source.OpCreatePersistentUI), "EMR is asked once in a run")
		require.Zero(t, summary.ApplicationsRead)
		require.Equal(t, run.ExitIncomplete, summary.ExitCode())
		require.Contains(t, fmt.Sprint(summary.Incomplete), "its limit of 200 active persistent application user interfaces")
		if n >= 2 { // all have been read once
			require.Contains(t, said.text(), "(live)")
		}
	}
	require.NoError(t, os.Remove(faults))
	read := 0
	for range 3 {
		summary, _ := w.run(o)
		read += summary.ApplicationsRead
	}
	require.Equal(t, 5, read)
}

// Names that people give to clusters and steps may have secrets.
func TestNamesHaveNoSecrets(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("etl password=CANARY")
	w.addStep(id, "load --password CANARY")
	w.end(id, time.Hour)
	_, said := w.run(w.options())
	clusters, steps := readLake[tables.ClusterSummary](w), readLake[tables.Step](w)
	require.Len(t, clusters, 1)
	require.Len(t, steps, 1)
	require.NotContains(t, fmt.Sprintf("%+v %+v %s", clusters, steps, said.text()), "CANARY")
	require.Contains(t, clusters[0].ClusterName, "etl password=")
	require.Contains(t, steps[0].StepName, "load --password ")
}

// A cluster that is older than retention_days and has nothing to keep is not written, as
// its rows would be removed by the same run.
func TestRetentionOfRunningClusters(t *testing.T) {
	w := newWorld(t)
	w.cluster("idle", func(c *types.Cluster) {
		c.Status.Timeline.CreationDateTime = aws.Time(c.Status.Timeline.CreationDateTime.AddDate(0, 0, -30))
	})
	o := w.options()
	o.RetentionDays = 7
	for range 2 {
		summary, _ := w.run(o)
		require.Equal(t, []int{1, 0, 0, 0},
			[]int{summary.ClustersExpired, summary.ClustersRead, summary.Objects, summary.Expired})
		require.Equal(t, run.ExitComplete, summary.ExitCode())
	}
}

// logsInS3 has Spark write its event logs to S3.
func logsInS3(c *types.Cluster) {
	c.Configurations = []types.Configuration{{
		Classification: aws.String("spark-defaults"), Properties: map[string]string{"spark.eventLog.dir": "s3://data/spark-logs/"},
	}}
}

// Each precondition of a history that EMR's API shows is named, with what to do.
func TestPreconditions(t *testing.T) {
	w := newWorld(t)
	want := map[string][]string{
		w.cluster("release", func(c *types.Cluster) { c.ReleaseLabel = aws.String("emr-5.24.1") }): {
			"release emr-5.24.1 is older than emr-5.25.0", "read their folder with --logs"},
		w.cluster("in S3", logsInS3): {"its event logs are in s3://data/spark-logs", "read that folder with --logs"},
		w.cluster("policy", func(c *types.Cluster) {
			c.MonitoringConfiguration = &types.MonitoringConfiguration{S3LoggingConfiguration: &types.S3LoggingConfiguration{
				LogTypeUploadPolicy: map[string]types.LogUploadPolicyValue{"persistent-ui-logs": types.LogUploadPolicyValueDisabled},
			}}
		}): {"upload policy for persistent-ui-logs is disabled", "set it to emr-managed"},
	}
	for id := range want {
		w.end(id, time.Hour)
	}
	old := w.cluster("old")
	w.step(old, appID(1))
	w.end(old, 31*24*time.Hour)
	want[old] = []string{"EMR keeps a history for 30 days", "run the profiler more often"}

	summary, _ := w.run(w.options())
	got := map[string]string{}
	for _, i := range summary.Incomplete {
		got[i.Cluster] = i.Reason
	}
	require.Len(t, summary.Incomplete, len(want))
	for id, texts := range want {
		for _, text := range texts {
			require.Contains(t, got[id], text)
		}
	}
	require.Zero(t, w.made(source.OpCreatePersistentUI))
	lost := readLake[tables.Completeness](w)
	require.Len(t, lost, 1, "the application that a step names")
	require.Equal(t, []string{old, appID(1), "unavailable"}, []string{lost[0].ClusterID, lost[0].ApplicationID, lost[0].Reason})
	next, _ := w.run(w.options())
	require.Equal(t, len(want), next.ClustersCurrent, "clusters that have ended stay without a history")
}

// Clusters that share a folder of event logs in S3 each get their own.
func TestEventLogsInS3(t *testing.T) {
	w := newWorld(t)
	for _, other := range []string{"1700000000000", "1800000000000"} {
		id := w.cluster("etl", logsInS3)
		app := "application_" + other + "_000"
		w.step(id, app+"1")
		for _, n := range []string{"1", "2"} { // the second was started by no step
			require.NoError(t, w.s3.Put(t.Context(), bucket, "spark-logs/"+app+n, logOf(t, "adaptive", app+n)))
		}
		w.end(id, time.Hour)
	}
	summary, _ := w.run(w.options())
	require.Empty(t, summary.Incomplete)
	require.Equal(t, 4, summary.ApplicationsRead)
	own := map[string][]string{}
	for _, row := range readLake[tables.Application](w) {
		own[row.ClusterID] = append(own[row.ClusterID], row.ApplicationID[:len("application_17")])
	}
	require.Len(t, own, 2)
	for _, ids := range own {
		require.Len(t, ids, 2)
		require.Len(t, slices.Compact(ids), 1)
	}
	require.Zero(t, w.made(source.OpCreatePersistentUI))
}

// Runs make the calls that source.Calls lists, and no other: rights are made from it.
func TestCallsAreListed(t *testing.T) {
	w := newWorld(t)
	etl := w.cluster("etl")
	w.ran(etl, "adaptive", appID(1))
	logged := w.step(etl)
	w.putLog(etl, logged, "stderr", "Submitted application "+appID(1)+"\n")
	w.putFailure(etl, "cluster", w.failed(etl, "cluster"), appID(1))
	w.end(etl, time.Hour)
	w.busy(w.cluster("alive")) // its own history server does not answer here
	request := emrapitest.JobFlow()
	request.Instances.InstanceGroups = nil
	request.Instances.InstanceFleets = []types.InstanceFleetConfig{{
		InstanceFleetType: types.InstanceFleetTypeMaster, TargetSpotCapacity: aws.Int32(1),
		InstanceTypeConfigs: []types.InstanceTypeConfig{{InstanceType: aws.String("m6g.xlarge")}, {InstanceType: aws.String("m7g.xlarge")}},
	}}
	shared := w.start(request, logsInS3)
	w.step(shared, appID(2))
	require.NoError(t, w.s3.Put(t.Context(), bucket, "spark-logs/"+appID(2), logOf(t, "adaptive", appID(2))))
	w.end(shared, time.Hour)
	o := w.options()
	o.RetentionDays = 36500
	w.run(o)

	var fleets []string
	for _, row := range readLake[tables.Cost](w) {
		if row.ClusterID == shared {
			fleets = append(fleets, row.Role+" "+row.InstanceType+" "+row.Market)
		}
	}
	require.ElementsMatch(t, []string{"master m6g.xlarge SPOT", "master m7g.xlarge SPOT"}, fleets)
	var listed, made []string
	for call := range source.Calls() {
		if call.Service == "EMR" {
			call.Target = ""
		}
		listed = append(listed, fmt.Sprint(call))
	}
	for call := range w.calls {
		made = append(made, fmt.Sprint(call))
	}
	slices.Sort(listed)
	slices.Sort(made)
	require.Equal(t, listed, made)
}
