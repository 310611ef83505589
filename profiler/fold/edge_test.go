package fold_test

import (
	"os"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// application wraps lines in the start and end of an application with one executor.
func application(lines ...[]string) []string {
	head := []string{environment(object{"spark.master": "yarn"}), applicationStart(0), executorAdded("1", 0)}
	return append(append(head, slices.Concat(lines...)...), applicationEnd(100_000))
}

func TestApplicationRows(t *testing.T) {
	s := shape{0, 0, 2}
	all, summary := foldLines(t, application(
		[]string{
			environment(object{
				"spark.master": "yarn", "spark.executor.memory": "4g", "spark.executor.cores": "4", "spark.yarn.queue": "q",
				"spark.observatory.traceparent":    "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01",
				"spark.observatory.airflow.dag_id": "nightly", "spark.observatory.airflow.try_number": "2",
			}),
			jobStart(0, 1000, object{"spark.job.description": "d", "spark.jobGroup.id": "g"}, s), submitted(s, 1000),
		},
		ran(try{id: 0, s: s, executor: "1", from: 1100, to: 1200}), ran(try{id: 1, index: 1, s: s, executor: "1", from: 1150, to: 1450}),
		[]string{completed(s, 1000, 1500, ""), jobEnd(0, 1500, "")},
	))
	require.True(t, summary.Final)
	require.Empty(t, missing(summary))
	id := tables.Attempt{
		Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: "application_1_0001", AttemptID: "2", Source: tables.SourceLogs,
	}
	app := table[tables.Application](t, all)[0]
	require.Equal(t, id, app.Attempt)
	require.EqualValues(t, 4<<30, *app.ExecutorMemory)
	require.Equal(t, []any{"q", "yarn", "0123456789abcdef0123456789abcdef"}, []any{*app.Queue, *app.Master, *app.TraceID})
	require.Equal(t, []any{"nightly", int64(2)}, []any{*app.AirflowDAG, *app.AirflowTry})
	require.Nil(t, app.AirflowTask)
	require.Nil(t, app.DriverMemory)
	require.Equal(t, []int64{4, 400_000, 1, 1, 2}, []int64{*app.MaxTotalCores, *app.CoreMillis, app.NumJobs, app.NumStages, app.NumTasks})
	job := table[tables.Job](t, all)[0]
	require.Equal(t, []any{"stage 0", "d", "g", fold.JobSucceeded}, []any{job.JobName, *job.Description, *job.JobGroup, job.Status})
	require.Equal(t, []int64{2, 2, 0, 1, 500}, []int64{
		job.NumTasks, job.NumCompletedTasks, job.NumActiveStages, job.NumCompletedStages, *job.DurationMillis,
	})
	stage := table[tables.StageRow](t, all)[0]
	require.Equal(t, []int64{400, 402, 14, 100, 40_000}, []int64{
		stage.ExecutorRunTime, stage.ShuffleReadBytes, stage.ShuffleWriteBytes, stage.FirstTaskLaunchedTime - at(1000), stage.MemoryBytesSpilled,
	})
	require.Equal(t, []int64{0}, stage.JobIDs)
	require.InDelta(t, 200, *stage.AvgRunTimePerTask, 0)
	executor := table[tables.Executor](t, all)[0]
	require.Equal(t, []int64{2, 400, 2, 400, 4}, []int64{
		executor.CompletedTasks, executor.TotalDuration, executor.TotalGCTime, executor.TotalInputBytes, executor.MaxTasks,
	})
	require.Nil(t, executor.PeakJVMHeap)
}

// In a log without an end, whatever is running has rows with that status and is reported as
// in progress.
func TestRunningApplication(t *testing.T) {
	s, later := shape{0, 0, 4}, shape{1, 0, 2}
	lines := slices.Concat(
		[]string{applicationStart(0), executorAdded("1", 0), sqlStart(0, 500, plan("P", "p", nil))},
		[]string{jobStart(0, 1000, object{"spark.sql.execution.id": "0"}, s, later), submitted(s, 1000)},
		ran(try{id: 0, s: s, executor: "1", from: 1100, to: 1200}), []string{taskStart(try{id: 1, index: 1, s: s, executor: "1", from: 1200})})
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(path.Join(folder, "app.inprogress"), []byte(joined(lines)), 0o600))
	all, summary := foldLog(t, folder, "app.inprogress")
	require.False(t, summary.Final)
	require.Equal(t, []string{
		"applications 1 in_progress", "environments ? in_progress", "jobs 1 in_progress", "sql 1 in_progress", "sql_nodes ? in_progress",
		"stages 2 in_progress", "task_summaries 1 in_progress", "tasks 3 in_progress",
	}, missing(summary))
	require.Equal(t, fold.JobRunning, table[tables.Job](t, all)[0].Status)
	stages := table[tables.StageRow](t, all)
	require.Equal(t, []string{fold.StageActive, fold.StagePending}, []string{stages[0].Status, stages[1].Status})
	require.Equal(t, fold.SQLRunning, table[tables.SQL](t, all)[0].Status)
	tasks := table[tables.Task](t, all)
	require.Equal(t, []string{fold.TaskSuccess, fold.TaskRunning}, []string{tasks[0].Status, tasks[1].Status})
	require.Nil(t, tasks[1].Duration)
	require.Nil(t, tasks[1].RunTime)
	require.False(t, table[tables.Application](t, all)[0].Completed)

	// Under its final name, the same log is truncated.
	_, summary = foldLines(t, lines)
	require.True(t, summary.Final)
	require.Contains(t, missing(summary), "tasks 3 truncation")
}

// Task ends that Spark does not count as failures are no failures, failures have their
// reasons, and a failed stage attempt stays next to the second attempt.
func TestFailures(t *testing.T) {
	first, second := shape{0, 0, 2}, shape{0, 1, 1}
	t0 := try{id: 0, s: first, executor: "1", from: 1100, to: 1200}
	killed := try{id: 2, index: 1, attempt: 1, s: first, executor: "1", from: 1100, to: 1300}
	failed := try{id: 1, index: 1, s: first, executor: "1", from: 1100, to: 1400}
	all, summary := foldLines(t, application(
		[]string{jobStart(0, 1000, nil, first), submitted(first, 1000)}, ran(t0),
		[]string{taskStart(failed), taskStart(killed), taskEnd(killed, "TaskKilled", 0), taskEnd(failed, "FetchFailed", 30)},
		[]string{
			completed(first, 1000, 1500, "fetch failed"), submitted(second, 1600),
			taskEnd(t0, "Resubmitted", 0), // its output was lost
		},
		ran(try{id: 3, s: second, executor: "1", from: 1700, to: 1800}),
		[]string{completed(second, 1600, 1900, ""), jobEnd(0, 2000, "job failed")},
	))
	require.Empty(t, missing(summary))
	stages := table[tables.StageRow](t, all)
	require.Len(t, stages, 2)
	require.Equal(t, []string{fold.StageFailed, fold.StageComplete}, []string{stages[0].Status, stages[1].Status})
	require.Equal(t, "fetch failed", *stages[0].FailureReason)
	require.Equal(t, []int64{1, 1, 1, 0}, []int64{
		stages[0].NumCompleteTasks, stages[0].NumFailedTasks, stages[0].NumKilledTasks, stages[0].NumActiveTasks,
	})
	require.EqualValues(t, 130, stages[0].ExecutorRunTime, "the failed task's metrics are included")
	job := table[tables.Job](t, all)[0]
	require.Equal(t, []int64{2, 1, 1, 1, 1}, []int64{
		job.NumCompletedTasks, job.NumFailedTasks, job.NumKilledTasks, job.NumFailedStages, job.NumCompletedStages,
	})
	require.Equal(t, "job failed", *job.FailureReason)
	tasks := table[tables.Task](t, all)
	require.Len(t, tasks, 4, "the second end of task 0 is not a task")
	byID := map[int64]tables.Task{}
	for _, task := range tasks {
		byID[task.TaskID] = task
	}
	require.Equal(t, []string{fold.TaskSuccess, fold.TaskFailed, fold.TaskKilled}, []string{byID[0].Status, byID[1].Status, byID[2].Status})
	require.Equal(t, "another attempt succeeded", *byID[2].ErrorMessage)
	require.Nil(t, byID[2].RunTime, "unknown, not 0")
	executor := table[tables.Executor](t, all)[0]
	// Spark counts the second end for executors.
	require.Equal(t, []int64{2, 2, 4}, []int64{executor.CompletedTasks, executor.FailedTasks, executor.TotalTasks})
	// The quantiles of durations include failed tasks, those of other metrics do not.
	summaries := table[tables.TaskSummary](t, all)
	require.Equal(t, []float64{100, 100, 100, 100, 100}, summaries[0].Duration)
	require.Equal(t, []float64{100, 100, 100, 100, 100}, summaries[0].RunTime)
	require.Equal(t, []float64{0, 0, 0, 0, 0}, summaries[0].SchedulerDelay)
}

// A stage whose output exists is skipped. If a later job includes a stage that is done,
// Spark's listener treats it as a new one.
func TestSkippedStages(t *testing.T) {
	first, second := shape{0, 0, 1}, shape{1, 0, 1}
	all, summary := foldLines(t, application(
		[]string{jobStart(0, 1000, nil, first, second), submitted(first, 1000)},
		ran(try{id: 0, s: first, executor: "1", from: 1100, to: 1200}),
		[]string{completed(first, 1000, 1300, ""), jobStart(1, 1400, nil, first), jobEnd(1, 1500, ""), jobEnd(0, 1600, "")},
	))
	require.Empty(t, missing(summary))
	stages := table[tables.StageRow](t, all)
	require.Equal(t, []string{fold.StageSkipped, fold.StageSkipped}, []string{stages[0].Status, stages[1].Status})
	require.Equal(t, []int64{0, 1}, stages[0].JobIDs)
	require.Nil(t, stages[0].TaskCompletionRate)
	require.Len(t, table[tables.TaskSummary](t, all), 1, "its tasks are kept")
	require.Empty(t, table[tables.IneffJobRaw](t, all))
	jobs := table[tables.Job](t, all)
	require.Equal(t, []int64{1, 1, 1}, []int64{jobs[0].NumSkippedStages, jobs[0].NumSkippedTasks, jobs[1].NumCompletedStages})
}

// An exclusion may have two events; a host's executors are excluded with it; events that
// come after the removal of their executor are not counted.
func TestExecutors(t *testing.T) {
	const exclusion = "org.apache.spark.scheduler.SparkListener"
	s := shape{0, 0, 2}
	lost := try{id: 0, s: s, executor: "2", from: 1100, to: 1200}
	peaks := func(executor string, heap int64) string {
		return line("SparkListenerStageExecutorMetrics", object{
			"Executor ID": executor, "Stage ID": 0, "Stage Attempt ID": 0, "Executor Metrics": object{"JVMHeapMemory": heap, "TotalGCTime": 5},
		})
	}
	all, summary := foldLines(t, application([]string{
		line("SparkListenerBlockManagerAdded", object{
			"Block Manager ID": object{"Executor ID": "driver", "Host": "d", "Port": 7}, "Maximum Memory": 9, "Timestamp": at(0),
		}),
		executorAdded("2", 10), executorAdded("3", 10), executorAdded("4", 10),
		line(exclusion+"ExecutorBlacklisted", object{"time": at(20), "executorId": "3", "taskFailures": 1}),
		line(exclusion+"ExecutorExcluded", object{"time": at(20), "executorId": "3", "taskFailures": 1}),
		line(exclusion+"NodeExcluded", object{"time": at(20), "hostId": "h4", "executorFailures": 1}),
		line(exclusion+"NodeExcluded", object{"time": at(20), "hostId": "h1", "executorFailures": 1}),
		line(exclusion+"NodeUnexcluded", object{"time": at(30), "hostId": "h1"}),
		line(exclusion+"ExecutorExcludedForStage", object{
			"time": at(30), "executorId": "2", "taskFailures": 1, "stageId": 0, "stageAttemptId": 0,
		}),
		jobStart(0, 1000, nil, s), submitted(s, 1000), taskStart(lost), executorRemoved("2", 1150, "lost node"),
		executorRemoved("77", 1150, "never registered"),
		taskEnd(lost, "ExecutorLostFailure", 0),
		peaks("2", 70),
		peaks("driver", 50),
		peaks("driver", 40),
		completed(s, 1000, 1300, "x"), jobEnd(0, 1300, "x"),
	}))
	require.Empty(t, missing(summary))
	byID := map[string]tables.Executor{}
	for _, x := range table[tables.Executor](t, all) {
		byID[x.ExecutorID] = x
	}
	require.Len(t, byID, 5)
	for id, excluded := range map[string]bool{"1": false, "2": false, "3": true, "4": true} {
		require.Equal(t, excluded, byID[id].IsExcluded, id)
		require.Equal(t, excluded, byID[id].IsBlacklisted, id)
	}
	removed := byID["2"]
	require.Equal(t, []any{false, at(1150), "lost node"}, []any{removed.IsActive, removed.RemoveTime, *removed.RemoveReason})
	require.Equal(t, []int64{1, 0, 1}, []int64{removed.ActiveTasks, removed.FailedTasks, removed.TotalTasks})
	require.EqualValues(t, 1, table[tables.StageRow](t, all)[0].NumFailedTasks)
	require.EqualValues(t, 70, *removed.PeakJVMHeap, "the peaks come at the end of the stage that ran on it")
	driver := byID["driver"]
	require.EqualValues(t, 50, *driver.PeakJVMHeap)
	require.Nil(t, driver.PeakProcessTreeRSS)
	require.Equal(t, []any{"d:7", int64(5), int64(100_000)}, []any{driver.HostPort, driver.TotalGCTime, driver.TotalDuration})
	require.EqualValues(t, 4*(100_000+1140+2*99_990), *table[tables.Application](t, all)[0].CoreMillis)
}

// The key comes from the start of the application, else from its properties, else from
// the name of the log.
func TestApplicationWithoutStart(t *testing.T) {
	_, summary := foldLines(t, []string{environment(object{"spark.app.id": "application_9"}), applicationEnd(5)})
	require.Equal(t, "application_9", summary.Application.ApplicationID)
	require.Equal(t, []string{"applications 1 dropped_events"}, missing(summary))

	folder := t.TempDir()
	text := joined([]string{executorAdded("1", 0), applicationEnd(5)})
	require.NoError(t, os.WriteFile(path.Join(folder, "application_9"), []byte(text), 0o600))
	log, err := eventlog.Open(os.DirFS(folder), "application_9")
	require.NoError(t, err)
	_, err = fold.Log(t.Context(), log, tables.Cluster{}, fold.Options{}, rows{})
	require.ErrorContains(t, err, "application_9: it has neither the start of an application", "the name of a file is no id")
}
