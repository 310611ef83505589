package fold

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Log reads an event log once and writes the rows of its application to the sink. Its
// memory grows with the number of open jobs, stages, tasks and executions.
func Log(
	ctx context.Context, log *eventlog.Log, cluster tables.Cluster, o Options, sink tables.Sink,
) (Summary, error) {
	l := newListener(log, cluster, o, sink)
	report, err := log.Read(ctx, l.handle)
	l.summary.Report = report
	if err != nil {
		return l.summary, fmt.Errorf("fold event log %s: %w", log.Name, err)
	}
	if l.key().ApplicationID == "" { // a file may have any name
		return l.summary, fmt.Errorf("fold event log %s: it has neither the start of an application nor the property spark.app.id", log.Name)
	}
	if err := l.close(); err != nil {
		return l.summary, err
	}
	l.summary.Final = l.ended || !log.InProgress
	return l.summary, nil
}

// listener tracks an application by its events, as
// org.apache.spark.status.AppStatusListener does. It writes a row as soon as no later
// event can change it.
type listener struct {
	*attempt
	options Options
	log     *eventlog.Log
	engine  *phases.Engine

	lost            eventlog.Lost // first gap that the log itself shows, except compaction; a file denied before others
	version         string
	application     eventlog.ApplicationStart
	exitCode        *int64 // of the driver; nil if Spark did not write it
	started, ended  bool   // whether ApplicationStart and ApplicationEnd were read
	end, latest     tables.Millis
	environments    *eventlog.EnvironmentUpdate
	profiles        map[int64]int64 // cores per task, by resource profile
	taskCores       int64           // of the default resource profile
	executors       map[string]*executor
	dead            map[string]*executor // removed, but stages that ran on them are still open
	namedExecutors  map[string]struct{}  // named by tasks, but not registered
	jobs            map[int64]*job       // running
	stageGroups     map[int64]*stageGroup
	open            map[stageKey]*stage
	running         map[int64]eventlog.Task // only for the table tasks
	executions      map[int64]*execution
	operations      map[string]*tables.Operation // of Spark Connect, by number: those that are open
	endedExecutions []*execution                 // by end; not yet written
	waiting         int                          // sum of their sizes
	texts           int                          // bytes of texts of executors, and of open jobs and executions
	task            taskRow
	scratch         []int64
	spare           [][]sample // memory of stages that are done
	seen            seen
}

func newListener(log *eventlog.Log, cluster tables.Cluster, o Options, sink tables.Sink) *listener {
	l := &listener{
		attempt: newAttempt(tables.Attempt{Cluster: cluster, Source: tables.SourceLogs}, sink),
		options: o, log: log, engine: phases.NewEngine(),
		profiles: map[int64]int64{}, taskCores: 1, executors: map[string]*executor{}, dead: map[string]*executor{},
		namedExecutors: map[string]struct{}{}, jobs: map[int64]*job{}, stageGroups: map[int64]*stageGroup{},
		open: map[stageKey]*stage{}, running: map[int64]eventlog.Task{}, executions: map[int64]*execution{},
		operations: map[string]*tables.Operation{}, seen: seen{attempts: newAttempts()},
	}
	l.identify = l.setID
	return l
}

// setID sets the key of all rows when the first one is written: from the start of the
// application, else from its properties.
func (l *listener) setID() {
	l.id.ApplicationID, l.id.AttemptID = l.application.ID, l.application.Attempt
	if l.id.ApplicationID == "" && l.environments != nil {
		l.id.ApplicationID = l.environments.Spark["spark.app.id"]
	}
}

// maxHeld bounds what is kept of a log until its end or until it is done: executors, profiles,
// and the jobs, stages, tasks and executions that are open. So many executors take some 100 MB;
// the profiler's pod has 256 MiB. A log of months of dynamic allocation has some ten thousand.
const maxHeld = 100_000

// maxTexts bounds the texts of executors, jobs and plans, of which each has up to 16 KiB (package
// eventlog). So many executors have some 30 MiB, if their names and URLs are as EMR's, and twice as
// much with YARN's reasons for their end.
const maxTexts = 64 << 20 // bytes

// ErrTooMany is of a log of which more would have to be kept than maxHeld or maxTexts.
var ErrTooMany = fmt.Errorf("the log has more than %d executors, or as many jobs, stages, tasks, executions and operations without "+
	"an end, or %d MiB of their names", maxHeld, maxTexts>>20)

// handle processes an event.
func (l *listener) handle(event eventlog.Event) error {
	if l.held() > maxHeld || l.texts > maxTexts {
		return ErrTooMany
	}
	l.engine.Add(event)
	switch e := event.(type) {
	case *eventlog.TaskStart:
		l.taskStart(e)
	case *eventlog.TaskEnd:
		return l.taskEnd(e)
	case *eventlog.JobStart:
		l.operationJob(e)
		l.jobStart(e)
	case *eventlog.JobEnd:
		return l.jobEnd(e)
	case *eventlog.StageSubmitted:
		l.stageSubmitted(e)
	case *eventlog.StageCompleted:
		return l.stageCompleted(e)
	case *eventlog.SQLStart:
		l.sqlStart(e)
	case *eventlog.SQLPlan:
		x := l.execution(e.ID)
		x.row.PlanLength = e.PlanLength
		l.setPlan(x, &e.Plan)
	case *eventlog.SQLEnd:
		return l.sqlEnd(e)
	case *eventlog.DriverAccumulators:
		l.execution(e.Execution).record(e.Updates)
	case *eventlog.OperationStarted:
		l.operationStart(e)
	case *eventlog.OperationEnded:
		return l.operationEnd(e)
	case *eventlog.SessionClosed:
		return l.sessionEnd(e)
	default:
		l.handleOther(event)
	}
	return nil
}

// statementSize is what an open operation counts for: its statement has up to 8 KiB.
const statementSize = 8

// held is how many rows are kept in memory.
func (l *listener) held() int {
	return len(l.executors) + len(l.namedExecutors) + len(l.profiles) + len(l.jobs) + len(l.open) + len(l.running) + len(l.executions) +
		statementSize*len(l.operations)
}

// handleOther processes events about the application and its executors.
func (l *listener) handleOther(event eventlog.Event) {
	switch e := event.(type) {
	case *eventlog.Lost:
		// What cannot be opened may be later: it goes before what is lost for good.
		if l.lost.Cause == "" && e.Cause != eventlog.Compacted || e.Cause == eventlog.Denied && l.lost.Cause != eventlog.Denied {
			l.lost = *e
		}
	case *eventlog.LogStart:
		l.version = e.SparkVersion
	case *eventlog.ApplicationStart:
		l.applicationStart(e)
	case *eventlog.ApplicationEnd:
		l.ended, l.end, l.exitCode = true, e.Time, e.ExitCode
		l.noteTime(e.Time)
	case *eventlog.EnvironmentUpdate:
		l.environmentUpdate(e)
	case *eventlog.ResourceProfileAdded:
		l.profiles[e.ID] = int64(e.TaskCPUs)
	case *eventlog.ExecutorAdded:
		l.executorAdded(e)
	case *eventlog.ExecutorRemoved:
		l.executorRemoved(e)
	case *eventlog.ExecutorExcluded:
		l.executorExcluded(e)
	case *eventlog.BlockManagerAdded:
		l.blockManagerAdded(e)
	case *eventlog.StageExecutorMetrics:
		l.stageExecutorMetrics(e)
	}
}

// noteTime keeps the latest time in any event.
func (l *listener) noteTime(time tables.Millis) { l.latest = max(l.latest, time) }

func (l *listener) applicationStart(e *eventlog.ApplicationStart) {
	l.started, l.application = true, *e
	l.application.DriverLogs = nil // only valid until the next event
	l.noteTime(e.Time)
	// The driver's block manager has already registered.
	if driver := l.executors[DriverExecutor]; driver != nil && driver.live && e.DriverLogs != nil {
		driver.logs = maps.Clone(e.DriverLogs)
	}
}

func (l *listener) environmentUpdate(e *eventlog.EnvironmentUpdate) {
	l.environments = &eventlog.EnvironmentUpdate{
		JVM: maps.Clone(e.JVM), Spark: maps.Clone(e.Spark), Hadoop: maps.Clone(e.Hadoop), System: maps.Clone(e.System),
		Metrics: maps.Clone(e.Metrics),
	}
	l.configure(l.environments.Spark)
	if cores, err := strconv.ParseInt(e.Spark["spark.task.cpus"], 10, 64); err == nil {
		l.taskCores = cores
	}
}

// close writes whatever is still open at the end of the log.
func (l *listener) close() error {
	for _, write := range []func() error{
		l.closeStages, l.closeJobs, l.closeTasks, l.closeExecutions, l.closeOperations, l.closeExecutors, l.closeEnvironments, l.closePhases,
		l.closeApplication, l.closeCompleteness,
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

func (l *listener) closeEnvironments() error {
	e := l.environments
	if e == nil {
		return nil
	}
	return l.environment(e)
}

// closePhases writes how the wall clock divides into phases, as `observatory trace` shows it.
func (l *listener) closePhases() error {
	result := l.engine.Result()
	wall := max(1, result.End-result.Begin)
	for _, phase := range platform.Phases() {
		row := &tables.Phase{
			Attempt: l.key(), Phase: string(phase), DurationMillis: result.Phases[phase],
			Ratio: float64(result.Phases[phase]) / float64(wall), Approximate: result.Approximate,
		}
		if err := l.put(row); err != nil {
			return err
		}
	}
	return nil
}

func (l *listener) closeApplication() error {
	a := l.application
	row := &tables.Application{
		ApplicationName: a.Name, StartTime: a.Time, EndTime: l.end, LastEventTime: l.latest, Completed: l.ended,
		SparkVersion: l.version, SparkUser: a.User, StepID: l.options.step(l.key().ApplicationID),
		Outcome: l.options.outcome(l.key().ApplicationID, l.exitCode), FailureCause: l.options.cause(l.key().ApplicationID),
	}
	if l.environments != nil {
		applicationProperties(row, l.environments.Spark)
	}
	until := l.latest
	if l.ended {
		until = l.end
	}
	return l.attempt.application(row, until)
}
