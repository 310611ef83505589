package fold

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

func jobRow(j *history.Job) *tables.Job {
	return &tables.Job{
		JobID: j.ID, JobName: j.Name, Description: j.Description, JobGroup: j.Group, Status: j.Status,
		SubmissionTime: int64(j.Submitted), CompletionTime: int64(j.Completed),
		NumTasks: j.NumTasks, NumActiveTasks: j.NumActiveTasks, NumCompletedTasks: j.NumCompletedTasks,
		NumSkippedTasks: j.NumSkippedTasks, NumFailedTasks: j.NumFailedTasks, NumKilledTasks: j.NumKilledTasks,
		NumActiveStages: j.NumActiveStages, NumCompletedStages: j.NumCompletedStages,
		NumSkippedStages: j.NumSkippedStages, NumFailedStages: j.NumFailedStages, StageIDs: j.StageIDs,
	}
}

func stageRow(s *history.Stage) *tables.StageRow {
	return &tables.StageRow{
		Stage: tables.Stage{StageID: s.ID, StageAttemptID: s.Attempt}, StageName: s.Name, Description: s.Description,
		Status: s.Status, FailureReason: s.FailureReason, NumTasks: s.NumTasks, NumActiveTasks: s.NumActiveTasks,
		NumCompleteTasks: s.NumCompleteTasks, NumFailedTasks: s.NumFailedTasks, NumKilledTasks: s.NumKilledTasks,
		ExecutorRunTime: s.RunTime, ExecutorCPUTime: s.CPUTime, DeserializeTime: s.DeserializeTime,
		DeserializeCPUTime: s.DeserializeCPUTime, ResultSize: s.ResultSize, JVMGCTime: s.JVMGCTime,
		ResultSerialization: s.ResultSerialization, PeakExecutionMemory: s.PeakExecutionMemory,
		SubmissionTime: int64(s.Submitted), FirstTaskLaunchedTime: int64(s.FirstLaunched), CompletionTime: int64(s.Completed),
		InputBytes: s.InputBytes, InputRecords: s.InputRecords, OutputBytes: s.OutputBytes, OutputRecords: s.OutputRecords,
		ShuffleReadRecords: s.ShuffleReadRecords, ShuffleRemoteBytes: s.ShuffleRemoteBytes,
		ShuffleRemoteToDisk: s.ShuffleRemoteToDisk, ShuffleLocalBytes: s.ShuffleLocalBytes,
		ShuffleRemoteBlocks: s.ShuffleRemoteBlocks, ShuffleLocalBlocks: s.ShuffleLocalBlocks,
		ShuffleFetchWaitTime: s.ShuffleFetchWaitTime, ShuffleWriteBytes: s.ShuffleWriteBytes,
		ShuffleWriteTime: s.ShuffleWriteTime, ShuffleWriteRecords: s.ShuffleWriteRecords,
		MemoryBytesSpilled: s.MemorySpilled, DiskBytesSpilled: s.DiskSpilled,
		SchedulingPool: nonEmpty(s.SchedulingPool), ResourceProfileID: s.ResourceProfile,
	}
}

func taskRowOf(s *history.Stage, t *history.Task) *tables.Task {
	row := &tables.Task{
		Stage: tables.Stage{StageID: s.ID, StageAttemptID: s.Attempt}, TaskID: t.ID, Index: t.Index, TaskAttempt: t.Attempt,
		LaunchTime: int64(t.Launched), ExecutorID: t.ExecutorID, Host: t.Host, Status: t.Status,
		TaskLocality: t.Locality, Speculative: t.Speculative, ErrorMessage: t.Error,
	}
	if t.Status != TaskRunning { // the duration of a running task grows
		row.Duration = t.Duration
		if t.Duration == nil {
			row.Duration = new(int64) // Spark leaves out a duration of 0 (TaskDataWrapper.toApi)
		}
		if t.Launched > 0 {
			row.FinishTime = row.LaunchTime + *row.Duration
		}
	}
	// Spark reports a task without metrics as one whose metrics are 0
	// (org.apache.spark.util.JsonProtocol.taskMetricsFromJson).
	if m := t.Metrics; m != nil && *m != (history.TaskMetrics{}) {
		row.TaskMetrics = tables.TaskMetrics{
			DeserializeTime: &m.DeserializeTime, DeserializeCPUTime: &m.DeserializeCPUTime, RunTime: &m.RunTime, CPUTime: &m.CPUTime,
			ResultSize: &m.ResultSize, JVMGCTime: &m.JVMGCTime, ResultSerialization: &m.ResultSerialization,
			MemoryBytesSpilled: &m.MemorySpilled, DiskBytesSpilled: &m.DiskSpilled, PeakExecutionMemory: &m.PeakExecutionMemory,
			InputBytes: &m.Input.Bytes, InputRecords: &m.Input.Records, OutputBytes: &m.Output.Bytes, OutputRecords: &m.Output.Records,
			ShuffleRemoteBlocks: &m.Read.RemoteBlocks, ShuffleLocalBlocks: &m.Read.LocalBlocks, ShuffleFetchWaitTime: &m.Read.FetchWaitTime,
			ShuffleRemoteBytes: &m.Read.RemoteBytes, ShuffleRemoteToDisk: &m.Read.RemoteToDisk, ShuffleLocalBytes: &m.Read.LocalBytes,
			ShuffleReadRecords: &m.Read.Records, ShuffleWriteBytes: &m.Write.Bytes, ShuffleWriteTime: &m.Write.Time,
			ShuffleWriteRecords: &m.Write.Records,
		}
	}
	return row
}

// summaryRow returns the row of quantiles, and the 95th percentile of the task durations.
func summaryRow(d *history.Distributions) (row *tables.TaskSummary, p95 float64, err error) {
	requested, extra := quantiles()
	pick := func(values []history.Quantile) []float64 {
		if len(values) != len(requested) { // none: this version of Spark lacks the metric
			if len(values) > 0 {
				err = fmt.Errorf("quantiles: %d values, must be %d", len(values), len(requested))
			}
			return nil
		}
		picked := make([]float64, 0, len(values)-1)
		for i, v := range values {
			if i != extra {
				picked = append(picked, float64(v))
			}
		}
		return picked
	}
	row = &tables.TaskSummary{
		Duration: pick(d.Duration), DeserializeTime: pick(d.DeserializeTime), DeserializeCPUTime: pick(d.DeserializeCPUTime),
		RunTime: pick(d.RunTime), CPUTime: pick(d.CPUTime), ResultSize: pick(d.ResultSize), JVMGCTime: pick(d.JVMGCTime),
		ResultSerialization: pick(d.ResultSerialization), GettingResultTime: pick(d.GettingResultTime),
		SchedulerDelay: pick(d.SchedulerDelay), PeakExecutionMemory: pick(d.PeakExecutionMemory),
		MemoryBytesSpilled: pick(d.MemorySpilled), DiskBytesSpilled: pick(d.DiskSpilled),
		InputBytes: pick(d.Input.Bytes), InputRecords: pick(d.Input.Records),
		OutputBytes: pick(d.Output.Bytes), OutputRecords: pick(d.Output.Records),
		ShuffleReadBytes: pick(d.Read.Bytes), ShuffleReadRecords: pick(d.Read.Records), ShuffleRemoteBlocks: pick(d.Read.RemoteBlocks),
		ShuffleLocalBlocks: pick(d.Read.LocalBlocks), ShuffleFetchWaitTime: pick(d.Read.FetchWaitTime),
		ShuffleRemoteBytes: pick(d.Read.RemoteBytes), ShuffleRemoteToDisk: pick(d.Read.RemoteToDisk),
		ShuffleTotalBlocks: pick(d.Read.TotalBlocks), ShuffleWriteBytes: pick(d.Write.Bytes),
		ShuffleWriteRecords: pick(d.Write.Records), ShuffleWriteTime: pick(d.Write.Time),
	}
	if err == nil && len(d.Duration) > extra {
		p95 = float64(d.Duration[extra])
	}
	return row, p95, err
}

func executorRow(x *history.Executor) *tables.Executor {
	row := &tables.Executor{
		ExecutorID: x.ID, HostPort: x.HostPort, IsActive: x.IsActive, RDDBlocks: &x.RDDBlocks, MemoryUsed: &x.MemoryUsed,
		DiskUsed: &x.DiskUsed, TotalCores: x.TotalCores, MaxTasks: x.MaxTasks, ActiveTasks: x.ActiveTasks,
		FailedTasks: x.FailedTasks, CompletedTasks: x.CompletedTasks, TotalTasks: x.TotalTasks,
		TotalDuration: x.TotalDuration, TotalGCTime: x.TotalGCTime, TotalInputBytes: x.TotalInputBytes,
		TotalShuffleRead: x.TotalShuffleRead, TotalShuffleWrite: x.TotalShuffleWrite,
		IsExcluded: x.IsExcluded || x.IsBlacklisted, MaxMemory: x.MaxMemory,
		AddTime: int64(x.Added), RemoveTime: int64(x.Removed), RemoveReason: x.RemoveReason, ResourceProfileID: x.ResourceProfile,
	}
	setPeaks(row, x.Peaks)
	return row
}

// executorNumber parses the number of an executor; the driver has none.
func executorNumber(id string) (number int64, ok bool) {
	number, err := strconv.ParseInt(id, 10, 64)
	return number, err == nil
}

func sqlRow(e *history.Execution) *tables.SQL {
	row := &tables.SQL{
		SQLID: e.ID, RootSQLID: e.Root, Description: e.Description, Status: e.Status, ErrorMessage: e.Error,
		SubmissionTime: int64(e.Submitted), JobIDs: slices.Concat(e.RunningJobs, e.SuccessJobs, e.FailedJobs),
		FailedJobIDs: e.FailedJobs, PlanLength: int64(e.Plan),
	}
	slices.Sort(row.JobIDs)
	if e.Status != SQLRunning && e.Submitted > 0 { // the duration of a running execution grows
		row.CompletionTime = row.SubmissionTime + e.Duration
	}
	return row
}

func planOf(e *history.Execution) *planGraph {
	plan := &planGraph{}
	for i := range e.Nodes {
		n := planNode{id: e.Nodes[i].ID, name: e.Nodes[i].Name, codegen: e.Nodes[i].CodegenID}
		for _, m := range e.Nodes[i].Metrics {
			n.metrics = append(n.metrics, planMetric{name: m.Name, text: m.Value})
		}
		plan.nodes = append(plan.nodes, n)
	}
	for _, edge := range e.Edges {
		plan.edges = append(plan.edges, planEdge{edge.From, edge.To})
	}
	return plan
}

// exactValue returns the value of a metric if its text is exact: counts (type sum), and
// sizes below 2 KiB. Other texts are rounded, and a text in milliseconds does not show
// whether the metric is in nanoseconds (org.apache.spark.sql.execution.metric.SQLMetrics).
func exactValue(name, text string) *int64 {
	if strings.HasPrefix(name, "avg ") {
		return nil // in tenths: "5" may be a sum or an average
	}
	if bytes, isSize := strings.CutSuffix(text, ".0 B"); isSize {
		text = bytes
	}
	value, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
	if err != nil {
		return nil
	}
	return &value
}
