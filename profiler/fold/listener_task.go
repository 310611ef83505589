package fold

import (
	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Classes of org.apache.spark.TaskEndReason that are not plain failures.
const (
	endKilled       = "TaskKilled"
	endCommitDenied = "TaskCommitDenied"
	// endResubmitted is a second end of a successful task whose output was lost.
	endResubmitted = "Resubmitted"
)

func (l *listener) taskStart(e *eventlog.TaskStart) {
	l.noteTime(e.Launched)
	if !l.seen.tasks.add(e.ID) {
		return
	}
	if l.options.Tasks {
		l.running[e.ID] = e.Task
	}
	if s := l.stageOf(e.StageID, e.StageAttempt); s != nil {
		s.row.NumActiveTasks++
		s.noteLaunch(e.Launched)
		for _, j := range s.jobs {
			j.row.NumActiveTasks++
		}
	}
	if x := l.taskExecutor(e.Executor); x != nil {
		x.row.ActiveTasks++
		x.row.TotalTasks++
	}
}

// taskExecutor returns the executor of a task, nil if it is unknown or was removed.
func (l *listener) taskExecutor(id string) *executor {
	x := l.executors[id]
	if x == nil {
		if _, known := l.namedExecutors[id]; !known {
			l.namedExecutors[id] = struct{}{}
			l.texts += len(id)
		}
		return nil
	}
	if !x.live {
		return nil
	}
	return x
}

// noteLaunch keeps the time of the first launch.
func (s *stage) noteLaunch(time tables.Millis) {
	if s.row.FirstTaskLaunchedTime == 0 || time < s.row.FirstTaskLaunchedTime {
		s.row.FirstTaskLaunchedTime = time
	}
}

// taskCounts are how the end of a task changes the counts of its stage, jobs and executor.
// active is subtracted, the others are added.
type taskCounts struct{ active, complete, failed, killed int64 }

func countsOf(outcome string, started bool) taskCounts {
	c := taskCounts{active: 1}
	switch outcome {
	case eventlog.Success:
		c.complete = 1
	case endKilled, endCommitDenied:
		c.killed = 1
	case endResubmitted:
		c.failed, c.active = 1, 0
	default:
		c.failed = 1
	}
	if !started {
		c.active = 0
	}
	return c
}

func (l *listener) taskEnd(e *eventlog.TaskEnd) error {
	l.noteTime(max(e.Launched, e.Finished))
	started := !l.seen.tasks.add(e.ID)
	resubmitted := e.Outcome == endResubmitted
	count := countsOf(e.Outcome, started)
	if x := l.taskExecutor(e.Executor); x != nil {
		x.taskEnded(e, count, started)
	}
	if err := l.stageTaskEnd(e, count); err != nil {
		return err
	}
	if !l.options.Tasks || resubmitted || !l.seen.taskRows.add(e.ID) {
		return nil
	}
	delete(l.running, e.ID)
	return l.attempt.task(l.task.ended(e))
}

func (x *executor) taskEnded(e *eventlog.TaskEnd, count taskCounts, started bool) {
	r := &x.row
	r.ActiveTasks -= count.active
	r.CompletedTasks += count.complete
	r.FailedTasks += count.failed
	if !started {
		r.TotalTasks++
	}
	if e.Finished > 0 {
		r.TotalDuration += e.Finished - e.Launched
	}
	x.updatePeaks(e.Peaks)
	if m := e.Metrics; m != nil && e.Outcome != endResubmitted {
		r.TotalGCTime += m.JVMGCTime
		r.TotalInputBytes += m.InputBytes
		r.TotalShuffleRead += m.LocalBytes + m.RemoteBytes
		r.TotalShuffleWrite += m.WriteBytes
	}
}

func (l *listener) stageTaskEnd(e *eventlog.TaskEnd, count taskCounts) error {
	s := l.stageOf(e.StageID, e.StageAttempt)
	if s == nil {
		return nil
	}
	if e.Outcome == endResubmitted {
		*s.row.NumResubmittedTasks++
	} else {
		s.noteLaunch(e.Launched)
		if last := len(l.spare) - 1; last >= 0 && s.samples.latest == nil {
			s.samples.latest, l.spare = l.spare[last], l.spare[:last]
		}
		s.measure(e)
	}
	r := &s.row
	r.NumActiveTasks -= count.active
	r.NumCompleteTasks += count.complete
	r.NumFailedTasks += count.failed
	r.NumKilledTasks += count.killed
	if count.complete > 0 {
		s.indices.add(e.Index)
	}
	done := r.NumActiveTasks == 0 && (r.Status == StageComplete || r.Status == StageFailed)
	for _, j := range s.jobs {
		j.row.NumActiveTasks -= count.active
		j.row.NumCompletedTasks += count.complete
		j.row.NumFailedTasks += count.failed
		j.row.NumKilledTasks += count.killed
		if done {
			j.snapshot()
		}
	}
	if !done {
		return nil
	}
	l.finish(s)
	return l.release(s.group)
}

// measure adds a task's metrics to the totals and samples of its stage
// (org.apache.spark.status.LiveTask, TaskDataWrapper).
func (s *stage) measure(e *eventlog.TaskEnd) {
	successful := e.Finished > 0 && !e.Failed && !e.Killed
	duration := e.Finished - e.Launched
	m := e.Metrics
	getting := int64(0)
	if e.GettingResult > 0 {
		getting = e.Finished - e.GettingResult
	}
	if m == nil {
		if e.Finished > 0 { // a history server reads missing metrics as 0 (JsonProtocol.taskMetricsFromJson)
			s.addOther(duration, max(0, duration-getting), getting)
		}
		return
	}
	s.addTotals(m)
	delay := max(0, duration-m.RunTime-m.DeserializeTime-m.ResultSerialization-getting)
	if !successful {
		s.addOther(duration, delay, getting)
		return
	}
	s.hosts.add(e.Host, duration)
	s.samples.add(&sample{
		taskDuration: duration, schedulerDelay: delay, gettingResult: getting,
		deserializeTime: m.DeserializeTime, deserializeCPUTime: m.DeserializeCPUTime, runTime: m.RunTime, cpuTime: m.CPUTime,
		resultSize: m.ResultSize, gcTime: m.JVMGCTime, resultSerialization: m.ResultSerialization, peakMemory: m.PeakExecutionMemory,
		memorySpilled: m.MemorySpilled, diskSpilled: m.DiskSpilled,
		inputBytes: m.InputBytes, inputRecords: m.InputRecords, outputBytes: m.OutputBytes, outputRecords: m.OutputRecords,
		readBytes: m.LocalBytes + m.RemoteBytes, readRecords: m.ReadRecords, remoteBlocks: m.RemoteBlocks, localBlocks: m.LocalBlocks,
		fetchWait: m.FetchWaitTime, remoteBytes: m.RemoteBytes, remoteToDisk: m.RemoteToDisk, totalBlocks: m.LocalBlocks + m.RemoteBlocks,
		writeBytes: m.WriteBytes, writeRecords: m.WriteRecords, writeTime: m.WriteTime,
	})
}

// addOther adds the times of a task that is unsuccessful or has no metrics, in milliseconds.
func (s *stage) addOther(duration, delay, getting int64) {
	for metric, value := range map[metric]int64{taskDuration: duration, schedulerDelay: delay, gettingResult: getting} {
		s.others[metric] = append(s.others[metric], value)
	}
}

// addTotals adds a task's metrics to the totals of its stage.
func (s *stage) addTotals(m *eventlog.TaskMetrics) {
	r := &s.row
	r.ExecutorRunTime += m.RunTime
	r.ExecutorCPUTime += m.CPUTime
	r.DeserializeTime += m.DeserializeTime
	r.DeserializeCPUTime += m.DeserializeCPUTime
	r.ResultSize += m.ResultSize
	r.JVMGCTime += m.JVMGCTime
	r.ResultSerialization += m.ResultSerialization
	r.PeakExecutionMemory += m.PeakExecutionMemory
	r.InputBytes += m.InputBytes
	r.InputRecords += m.InputRecords
	r.OutputBytes += m.OutputBytes
	r.OutputRecords += m.OutputRecords
	r.ShuffleReadRecords += m.ReadRecords
	r.ShuffleRemoteBytes += m.RemoteBytes
	r.ShuffleRemoteToDisk += m.RemoteToDisk
	r.ShuffleLocalBytes += m.LocalBytes
	r.ShuffleRemoteBlocks += m.RemoteBlocks
	r.ShuffleLocalBlocks += m.LocalBlocks
	r.ShuffleFetchWaitTime += m.FetchWaitTime
	r.ShuffleWriteBytes += m.WriteBytes
	r.ShuffleWriteTime += m.WriteTime
	r.ShuffleWriteRecords += m.WriteRecords
	r.MemoryBytesSpilled += m.MemorySpilled
	r.DiskBytesSpilled += m.DiskSpilled
}

// closeTasks writes the tasks without an end.
func (l *listener) closeTasks() error {
	for _, id := range sorted(l.running) {
		row := l.task.started(l.running[id])
		if err := l.attempt.task(row); err != nil {
			return err
		}
	}
	return nil
}

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
