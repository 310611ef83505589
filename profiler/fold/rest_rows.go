package fold

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

func taskRowOf(stage tables.Stage, t *history.Task) *tables.Task {
	row := &tables.Task{
		Stage: stage, TaskID: t.ID, Index: t.Index, TaskAttempt: t.Attempt,
		LaunchTime: int64(t.Launched), ExecutorID: t.ExecutorID, Host: t.Host, Status: t.Status,
		TaskLocality: t.Locality, Speculative: t.Speculative, ErrorMessage: t.Error,
	}
	if t.Status != TaskRunning { // the duration of a running task grows
		row.Duration = cmp.Or(t.Duration, new(int64)) // Spark leaves out a duration of 0 (TaskDataWrapper.toApi)
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
func summaryRow(d *tables.Distributions) (row *tables.TaskSummary, p95 float64, err error) {
	requested, extra := quantiles()
	if len(d.Duration) == len(requested) {
		p95 = d.Duration[extra]
	}
	for _, list := range d.Lists() {
		switch n := len(*list); n {
		case len(requested):
			*list = slices.Delete(*list, extra, extra+1)
		default:
			p95, err = 0, fmt.Errorf("quantiles: %d values, must be %d", n, len(requested))
			fallthrough
		case 0: // this version of Spark lacks the metric
			*list = nil
		}
	}
	return &tables.TaskSummary{Distributions: *d}, p95, err
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
	plan := &planGraph{edges: e.Edges}
	for i := range e.Nodes {
		n := planNode{id: e.Nodes[i].ID, name: e.Nodes[i].Name, codegen: e.Nodes[i].CodegenID}
		for _, m := range e.Nodes[i].Metrics {
			n.metrics = append(n.metrics, planMetric{name: m.Name, text: m.Value})
		}
		plan.nodes = append(plan.nodes, n)
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
