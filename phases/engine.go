// Package phases divides the wall clock of a Spark application among the phases of
// package platform, from nothing but the events that Spark told its listeners. The
// order of the events does not matter. observatory.spark's engine in the driver
// computes the same, live; testdata holds what both must agree on.
//
// It reads no files (package eventlog does) and keeps no event: its memory
// grows with jobs, stages, executors and the pauses between tasks, not with tasks.
package phases

import (
	"math"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Engine takes the events of one application.
type Engine struct {
	started, ended bool  // ApplicationStart and ApplicationEnd came
	start, end     int64 // their times
	lost           bool  // events are missing
	first, last    int64 // times that any event carried

	submitted               int64 // by spark-submit, 0 if unknown
	cluster, local, session bool
	dynamic                 bool  // Spark asks for executors as stages need them
	driverBlock             int64 // time of the driver's block manager
	firstExecutor           int64
	firstLaunch             int64 // of any task

	tasks   union // that ended
	written union // of tasks with output
	running map[int64]running
	early   map[int64]struct{} // tasks whose end came before their start

	awaited    registration
	executors  map[string]executor
	excluded   map[excluded]*exclusion
	stages     map[int64]*stage
	attempts   map[attempt]*stageAttempt
	jobs       map[int64]*job
	executions map[int64]*execution
	operations map[string]*interval // of Spark Connect, by number
	closed     map[string][]int64   // when sessions of Spark Connect were closed
}

type attempt struct{ stage, number int64 }

// stageAttempt is an attempt of a stage.
type stageAttempt struct {
	submitted, completed int64
	tasks                int64
	failed               bool
	profile              int64 // of the resources that its tasks need
}

// running is a task without an end.
type running struct {
	launched, stage int64
	executor        string
}

// stage is what all attempts of a stage have in common.
type stage struct {
	job        int64 // the latest that lists it, -1 if none
	results    union // of result tasks without output
	wrote      bool  // a task had output
	result     bool  // a result task ended
	lastFinish int64
	successes  int64 // tasks of attempt 0
}

type job struct {
	interval
	highest   int64 // of its stages
	execution int64
}

type execution struct {
	interval
	root   int64
	writes bool
}

const (
	never       = math.MaxInt64 // the time of what has not happened
	nobody      = -1
	noExecution = -1 // the SQL execution of a job that belongs to none
)

// NewEngine returns an engine that has seen nothing.
func NewEngine() *Engine {
	return &Engine{
		first: never, driverBlock: never, firstExecutor: never, firstLaunch: never,
		running: map[int64]running{}, early: map[int64]struct{}{},
		executors: map[string]executor{}, excluded: map[excluded]*exclusion{}, stages: map[int64]*stage{}, attempts: map[attempt]*stageAttempt{},
		jobs: map[int64]*job{}, executions: map[int64]*execution{}, operations: map[string]*interval{}, closed: map[string][]int64{},
	}
}

// Add takes an event.
func (e *Engine) Add(event eventlog.Event) {
	switch v := event.(type) {
	case *eventlog.ApplicationStart:
		e.applicationStart(v.Time)
	case *eventlog.ApplicationEnd:
		e.applicationEnd(v.Time)
	case *eventlog.EnvironmentUpdate:
		e.environment(v)
	case *eventlog.Lost:
		e.lost = true
	case *eventlog.ExecutorAdded:
		e.executor(v.Time, v.ID, func(x *executor) { x.registered, x.host, x.profile = v.Time, v.Host, profile(v.ResourceProfile) })
		if v.ID != driver {
			e.firstExecutor = min(e.firstExecutor, v.Time)
		}
	case *eventlog.ExecutorRemoved:
		e.executor(v.Time, v.ID, func(x *executor) { x.to = v.Time })
	case *eventlog.ExecutorExcluded:
		e.exclude(v)
	case *eventlog.BlockManagerAdded:
		e.executor(v.Time, v.Executor, func(x *executor) { x.ready = min(x.ready, v.Time) })
		if v.Executor == driver {
			e.driverBlock = min(e.driverBlock, v.Time)
		}
	case *eventlog.JobStart:
		e.jobStart(v)
	case *eventlog.JobEnd:
		e.see(v.Time)
		e.job(v.ID).to = v.Time
	case *eventlog.StageSubmitted:
		e.stageAttempt(&v.Stage, false)
	case *eventlog.StageCompleted:
		e.stageAttempt(&v.Stage, true)
	case *eventlog.TaskStart:
		e.taskStart(&v.Task)
	case *eventlog.TaskEnd:
		e.taskEnd(v)
	case *eventlog.SQLStart:
		e.sqlStart(v)
	case *eventlog.SQLPlan:
		x := e.execution(v.ID)
		x.writes = x.writes || writes(&v.Plan)
	case *eventlog.SQLEnd:
		e.see(v.Time)
		e.execution(v.ID).to = v.Time
	case *eventlog.OperationStarted:
		e.see(v.Time)
		e.operation(v.Tag, func(o *interval) { o.from = v.Time })
	case *eventlog.OperationEnded: // the first of several counts
		e.see(v.Time)
		e.operation(v.Tag, func(o *interval) { o.to = min(o.to, v.Time) })
	case *eventlog.SessionStarted:
		e.see(v.Time)
	case *eventlog.SessionClosed:
		e.see(v.Time)
		e.closed[v.ID] = append(e.closed[v.ID], v.Time)
	}
}

// driver is the executor id of the driver.
const driver = "driver"

func (e *Engine) see(time int64) {
	if time > 0 {
		e.first, e.last = min(e.first, time), max(e.last, time)
	}
}

// A time of 0, which Spark left out, is neither a start nor an end: the wall clock would
// be 55 years, or nothing.
func (e *Engine) applicationStart(time int64) {
	if time > 0 {
		e.started, e.start = true, time
		e.see(time)
	}
}

func (e *Engine) applicationEnd(time int64) {
	if time > 0 {
		e.ended, e.end = true, time
		e.see(time)
	}
}

func (e *Engine) environment(v *eventlog.EnvironmentUpdate) {
	if time := submitTime(v.Spark); time > 0 && (e.submitted == 0 || time < e.submitted) {
		e.submitted = time
	}
	e.cluster = e.cluster || v.Spark["spark.submit.deployMode"] == "cluster"
	e.local = e.local || strings.HasPrefix(v.Spark["spark.master"], "local")
	e.awaited, e.dynamic = registrationOf(v.Spark), dynamicAllocation(v.Spark)
	e.session = e.session || slices.ContainsFunc(platform.SessionServers(), func(part string) bool {
		return strings.Contains(v.System["sun.java.command"], part)
	})
}

func (e *Engine) jobStart(v *eventlog.JobStart) {
	e.see(v.Time)
	j := e.job(v.ID)
	j.from = v.Time
	if execution := v.Properties.Execution; execution != nil {
		j.execution = *execution
	}
	for i := range v.Stages {
		id := v.Stages[i].ID
		j.highest = max(j.highest, id)
		s := e.stage(id)
		s.job = max(s.job, v.ID)
	}
}

func (e *Engine) sqlStart(v *eventlog.SQLStart) {
	e.see(v.Time)
	x := e.execution(v.ID)
	x.from, x.writes = v.Time, x.writes || writes(&v.Plan)
	if v.Root != nil {
		x.root = *v.Root
	}
}

// writes reports whether an operator of the plan writes.
func writes(plan *eventlog.PlanNode) bool {
	if slices.ContainsFunc(platform.SparkWriteCommands(), func(command string) bool { return strings.Contains(plan.Name, command) }) {
		return true
	}
	for i := range plan.Children {
		if writes(&plan.Children[i]) {
			return true
		}
	}
	return false
}

// profile returns the id of a resource profile: the default, 0, before Spark 3.1, which has none.
func profile(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}

func (e *Engine) stageAttempt(v *eventlog.Stage, completed bool) {
	e.see(v.Submitted)
	e.see(v.Completed)
	known := of(e.attempts, attempt{v.ID, v.Attempt}, stageAttempt{})
	known.submitted, known.profile = max(known.submitted, v.Submitted), profile(v.ResourceProfile)
	if completed {
		known.completed, known.failed, known.tasks = v.Completed, v.Failure != "", v.Tasks
	}
}

func (e *Engine) taskStart(t *eventlog.Task) {
	e.see(t.Launched)
	e.firstLaunch = min(e.firstLaunch, t.Launched)
	if _, ended := e.early[t.ID]; ended {
		delete(e.early, t.ID)
		return
	}
	e.running[t.ID] = running{launched: t.Launched, stage: t.StageID, executor: t.Executor}
}

func (e *Engine) taskEnd(v *eventlog.TaskEnd) {
	e.see(v.Launched)
	e.see(v.Finished)
	e.firstLaunch = min(e.firstLaunch, v.Launched)
	if _, started := e.running[v.ID]; started {
		delete(e.running, v.ID)
	} else {
		e.early[v.ID] = struct{}{}
	}
	e.tasks.add(v.Launched, v.Finished)
	s := e.stage(v.StageID)
	s.lastFinish = max(s.lastFinish, v.Finished)
	if v.StageAttempt == 0 && v.Outcome == eventlog.Success {
		s.successes++
	}
	if v.Type != resultTask {
		return
	}
	s.result = true
	if v.Metrics != nil && (v.Metrics.OutputRecords > 0 || v.Metrics.OutputBytes > 0) {
		s.wrote = true
		e.written.add(v.Launched, v.Finished)
		return
	}
	s.results.add(v.Launched, v.Finished)
}

// of returns what is known under a key, fresh if that is nothing.
func of[K comparable, T any](all map[K]*T, key K, fresh T) *T {
	known := all[key]
	if known == nil {
		known = new(fresh)
		all[key] = known
	}
	return known
}

// stage is called for each task: it makes a stage only where it needs one.
func (e *Engine) stage(id int64) *stage {
	s := e.stages[id]
	if s == nil {
		s = &stage{job: nobody}
		e.stages[id] = s
	}
	return s
}

func (e *Engine) job(id int64) *job {
	return of(e.jobs, id, job{interval: interval{never, never}, highest: nobody, execution: noExecution})
}

// operation applies what is known of the operation of Spark Connect that a tag names.
func (e *Engine) operation(tag string, apply func(*interval)) {
	if number := platform.ParseConnectTags(tag, "").Number(); number != "" {
		apply(of(e.operations, number, interval{never, never}))
	}
}

func (e *Engine) execution(id int64) *execution {
	return of(e.executions, id, execution{interval: interval{never, never}, root: id})
}
