package fold

import (
	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// taskRow makes rows of the table tasks. Each reuses the memory of the previous one.
type taskRow struct {
	row      tables.Task
	duration int64
}

// started returns the row of a task that has not ended.
func (t *taskRow) started(task eventlog.Task) *tables.Task {
	t.row = tables.Task{
		Stage:  tables.Stage{StageID: task.StageID, StageAttemptID: task.StageAttempt},
		TaskID: task.ID, Index: task.Index, TaskAttempt: task.Attempt, LaunchTime: task.Launched, FinishTime: task.Finished,
		ExecutorID: task.Executor, Host: task.Host, Status: TaskRunning, TaskLocality: task.Locality, Speculative: task.Speculative,
	}
	return &t.row
}

// ended returns the row of a task that ended. It shares the event's memory.
func (t *taskRow) ended(e *eventlog.TaskEnd) *tables.Task {
	row := t.started(e.Task)
	if e.Finished > 0 { // org.apache.spark.scheduler.TaskInfo.status
		t.duration = e.Finished - e.Launched
		row.Duration, row.Status = &t.duration, TaskSuccess
		if e.Failed {
			row.Status = TaskFailed
		} else if e.Killed {
			row.Status = TaskKilled
		}
	}
	row.ErrorMessage = nonEmpty(e.Error)
	if e.Metrics == nil || *e.Metrics == (eventlog.TaskMetrics{}) { // Spark's API does not tell these two apart
		return row
	}
	m := e.Metrics
	row.TaskMetrics = tables.TaskMetrics{
		DeserializeTime: &m.DeserializeTime, DeserializeCPUTime: &m.DeserializeCPUTime, RunTime: &m.RunTime, CPUTime: &m.CPUTime,
		ResultSize: &m.ResultSize, JVMGCTime: &m.JVMGCTime, ResultSerialization: &m.ResultSerialization,
		MemoryBytesSpilled: &m.MemorySpilled, DiskBytesSpilled: &m.DiskSpilled, PeakExecutionMemory: &m.PeakExecutionMemory,
		InputBytes: &m.InputBytes, InputRecords: &m.InputRecords, OutputBytes: &m.OutputBytes, OutputRecords: &m.OutputRecords,
		ShuffleRemoteBlocks: &m.RemoteBlocks, ShuffleLocalBlocks: &m.LocalBlocks, ShuffleFetchWaitTime: &m.FetchWaitTime,
		ShuffleRemoteBytes: &m.RemoteBytes, ShuffleRemoteToDisk: &m.RemoteToDisk, ShuffleLocalBytes: &m.LocalBytes,
		ShuffleReadRecords: &m.ReadRecords, ShuffleWriteBytes: &m.WriteBytes, ShuffleWriteTime: &m.WriteTime,
		ShuffleWriteRecords: &m.WriteRecords,
	}
	return row
}
