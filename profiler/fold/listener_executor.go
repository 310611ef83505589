package fold

import (
	"cmp"
	"maps"
	"strconv"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// executor is an executor or the driver (org.apache.spark.status.LiveExecutor).
type executor struct {
	row   tables.Executor
	host  string
	logs  map[string]string
	live  bool // not removed
	peaks *eventlog.ExecutorMetrics
	texts int // what it counts for in listener.texts
}

// fallbackExecutor is the id under which Spark registers the storage that takes the blocks
// of decommissioned executors (org.apache.spark.storage.FallbackStorage).
const fallbackExecutor = "fallback"

// liveExecutor returns an executor, nil if it is unknown or was removed: Spark ignores
// events that name a removed executor.
func (l *listener) liveExecutor(id string) *executor {
	if x := l.executors[id]; x != nil && x.live {
		return x
	}
	return nil
}

// weigh updates what an executor counts for in texts.
func (l *listener) weigh(x *executor) {
	l.texts -= x.texts
	x.texts = len(x.row.ExecutorID) + len(x.host) + len(x.row.HostPort)
	for name, url := range x.logs {
		x.texts += len(name) + len(url)
	}
	if x.row.RemoveReason != nil {
		x.texts += len(*x.row.RemoveReason)
	}
	l.texts += x.texts
}

// register returns an executor, a new one if it is unknown or registers again after its
// removal.
func (l *listener) register(id string, time tables.Millis) *executor {
	l.noteTime(time)
	x := l.liveExecutor(id)
	if x == nil {
		// Spark before 3.1 has only resource profile 0.
		x = &executor{row: tables.Executor{ExecutorID: id, AddTime: time, ResourceProfileID: new(int64)}, live: true}
		l.executors[id] = x
		l.weigh(x)
	}
	x.row.IsActive = true
	return x
}

func (l *listener) executorAdded(e *eventlog.ExecutorAdded) {
	x := l.register(e.ID, e.Time)
	x.host, x.logs = e.Host, maps.Clone(e.Logs)
	l.weigh(x)
	x.row.TotalCores = e.Cores
	cores := l.taskCores
	if e.ResourceProfile != nil {
		x.row.ResourceProfileID = new(*e.ResourceProfile)
		if perTask := l.profiles[*e.ResourceProfile]; perTask > 0 {
			cores = perTask
		}
	}
	x.row.MaxTasks = e.Cores / max(1, cores)
}

func (l *listener) blockManagerAdded(e *eventlog.BlockManagerAdded) {
	x := l.register(e.Executor, e.Time)
	x.row.HostPort, x.row.MaxMemory = e.Host+":"+strconv.FormatInt(e.Port, 10), e.MaxMemory
	x.host = cmp.Or(x.host, e.Host)
	l.weigh(x)
}

func (l *listener) executorRemoved(e *eventlog.ExecutorRemoved) {
	l.noteTime(e.Time)
	x := l.liveExecutor(e.ID)
	if x == nil { // already removed, or never registered because its container failed to start
		return
	}
	x.live, x.row.IsActive, x.row.RemoveTime, x.row.RemoveReason = false, false, e.Time, &e.Reason
	l.weigh(x)
	if l.earliestOpen() < e.Time {
		l.dead[e.ID] = x
	}
}

// earliestOpen returns when the first of the open stages was submitted; 0 if any has not
// been.
func (l *listener) earliestOpen() tables.Millis {
	earliest := tables.Millis(1) << 62
	for _, s := range l.open {
		earliest = min(earliest, s.row.SubmissionTime)
	}
	return earliest
}

// forgetDead drops removed executors on which no open stage ran: their peaks can no longer
// change.
func (l *listener) forgetDead() {
	if len(l.dead) == 0 {
		return
	}
	earliest := l.earliestOpen()
	maps.DeleteFunc(l.dead, func(_ string, x *executor) bool { return earliest >= x.row.RemoveTime })
}

// executorExcluded handles exclusions of an executor and of a host. The driver is not
// excluded with its host. One for a stage leaves the executor to the others.
func (l *listener) executorExcluded(e *eventlog.ExecutorExcluded) {
	if e.Stage != nil {
		return
	}
	for id, x := range l.executors {
		if x.live && (id == e.ID || (e.Host != "" && x.host == e.Host && id != DriverExecutor)) {
			x.row.IsExcluded = !e.Undo
		}
	}
}

func (l *listener) stageExecutorMetrics(e *eventlog.StageExecutorMetrics) {
	if x := cmp.Or(l.liveExecutor(e.Executor), l.dead[e.Executor]); x != nil {
		x.updatePeaks(&e.Peaks)
	}
}

// updatePeaks raises the peaks that m exceeds.
func (x *executor) updatePeaks(m *eventlog.ExecutorMetrics) {
	if m == nil {
		return
	}
	if x.peaks == nil {
		x.peaks = new(*m)
		return
	}
	p := x.peaks
	p.JVMHeap, p.JVMOffHeap = max(p.JVMHeap, m.JVMHeap), max(p.JVMOffHeap, m.JVMOffHeap)
	p.OnHeapExecution, p.OffHeapExecution = max(p.OnHeapExecution, m.OnHeapExecution), max(p.OffHeapExecution, m.OffHeapExecution)
	p.OnHeapStorage, p.OffHeapStorage = max(p.OnHeapStorage, m.OnHeapStorage), max(p.OffHeapStorage, m.OffHeapStorage)
	p.JVMRSS, p.PythonRSS, p.OtherRSS = max(p.JVMRSS, m.JVMRSS), max(p.PythonRSS, m.PythonRSS), max(p.OtherRSS, m.OtherRSS)
	p.TotalGCTime = max(p.TotalGCTime, m.TotalGCTime)
}

// setPeaks fills in the peaks of an executor. Spark reports 0 for a process tree that it
// does not measure.
func setPeaks(row *tables.Executor, p *eventlog.ExecutorMetrics) {
	if p == nil {
		return
	}
	row.PeakJVMHeap, row.PeakJVMOffHeap = &p.JVMHeap, &p.JVMOffHeap
	row.PeakOnHeapExec, row.PeakOffHeapExec = &p.OnHeapExecution, &p.OffHeapExecution
	row.PeakOnHeapStorage, row.PeakOffHeapStorage = &p.OnHeapStorage, &p.OffHeapStorage
	if tree := p.JVMRSS + p.PythonRSS + p.OtherRSS; tree > 0 {
		row.PeakProcessTreeRSS = &tree
	}
}

func (l *listener) closeExecutors() error {
	for _, id := range sorted(l.executors) {
		if id == fallbackExecutor {
			continue
		}
		x := l.executors[id]
		x.row.HostPort = cmp.Or(x.row.HostPort, x.host)
		setPeaks(&x.row, x.peaks)
		if id == DriverExecutor { // org.apache.spark.status.AppStatusStore.replaceDriverGcTime
			if x.peaks != nil {
				x.row.TotalGCTime = x.peaks.TotalGCTime
			}
			if l.started && l.ended {
				x.row.TotalDuration = l.end - l.application.Time
			}
		}
		if err := l.executor(&x.row, x.logs); err != nil {
			return err
		}
	}
	return nil
}
