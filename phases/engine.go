// Package phases divides the wall clock of a Spark application among the phases of
// package platform, from nothing but the events that Spark told its listeners. The
// order of the events does not matter. observatory.spark's engine in the driver
// computes the same, live; testdata holds what both must agree on.
//
// It does not read event logs (package eventlog does) and keeps no event: its memory
// grows with jobs, stages, executors and the pauses between tasks, not with tasks.
package phases

import (
	"math"
	"slices"
	"strings"

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
	running map[int64]Task
	early   map[int64]struct{} // tasks whose end came before their start

	awaited    registration
	executors  map[string]executor
	excluded   map[excluded]*exclusion
	stages     map[int64]*stage
	attempts   map[attempt]*Stage
	jobs       map[int64]*job
	executions map[int64]*execution
}

type attempt struct{ stage, number int64 }

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
	never  = math.MaxInt64 // the time of what has not happened
	nobody = -1
)

// NewEngine returns an engine that has seen nothing.
func NewEngine() *Engine {
	return &Engine{
		first: never, driverBlock: never, firstExecutor: never, firstLaunch: never,
		running: map[int64]Task{}, early: map[int64]struct{}{},
		executors: map[string]executor{}, excluded: map[excluded]*exclusion{}, stages: map[int64]*stage{}, attempts: map[attempt]*Stage{},
		jobs: map[int64]*job{}, executions: map[int64]*execution{},
	}
}

// Add takes an event.
func (e *Engine) Add(event Event) {
	switch v := event.(type) {
	case ApplicationStart:
		e.applicationStart(v.Time)
	case ApplicationEnd:
		e.applicationEnd(v.Time)
	case EnvironmentUpdate:
		e.environment(v)
	case Lost:
		e.lost = true
	case ExecutorAdded:
		e.executor(v.Time, v.ID, func(x *executor) { x.registered, x.host, x.profile = v.Time, v.Host, v.Profile })
		if v.ID != driver {
			e.firstExecutor = min(e.firstExecutor, v.Time)
		}
	case ExecutorRemoved:
		e.executor(v.Time, v.ID, func(x *executor) { x.to = v.Time })
	case ExecutorExcluded:
		e.exclude(v)
	case BlockManagerAdded:
		e.executor(v.Time, v.Executor, func(x *executor) { x.ready = min(x.ready, v.Time) })
		if v.Executor == driver {
			e.driverBlock = min(e.driverBlock, v.Time)
		}
	case JobStart:
		e.jobStart(v)
	case JobEnd:
		e.see(v.Time)
		e.job(v.ID).to = v.Time
	case StageSubmitted:
		e.stageAttempt(v.Stage, false)
	case StageCompleted:
		e.stageAttempt(v.Stage, true)
	case TaskStart:
		e.AddTaskStart(v.Task)
	case TaskEnd:
		e.AddTaskEnd(v)
	case SQLStart:
		e.see(v.Time)
		x := e.execution(v.ID)
		x.from, x.root, x.writes = v.Time, v.Root, x.writes || v.Writes
	case SQLPlan:
		x := e.execution(v.ID)
		x.writes = x.writes || v.Writes
	case SQLEnd:
		e.see(v.Time)
		e.execution(v.ID).to = v.Time
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

func (e *Engine) environment(v EnvironmentUpdate) {
	if time := submitTime(v.Spark); time > 0 && (e.submitted == 0 || time < e.submitted) {
		e.submitted = time
	}
	e.cluster = e.cluster || v.Spark["spark.submit.deployMode"] == "cluster"
	e.local = e.local || strings.HasPrefix(v.Spark["spark.master"], "local")
	e.awaited, e.dynamic = registrationOf(v.Spark), dynamicAllocation(v.Spark)
	e.session = e.session || slices.ContainsFunc(platform.SessionServers(), func(part string) bool {
		return strings.Contains(v.Command, part)
	})
}

func (e *Engine) jobStart(v JobStart) {
	e.see(v.Time)
	j := e.job(v.ID)
	j.from, j.execution = v.Time, v.Execution
	for _, id := range v.Stages {
		j.highest = max(j.highest, id)
		s := e.stage(id)
		s.job = max(s.job, v.ID)
	}
}

func (e *Engine) stageAttempt(v Stage, completed bool) {
	e.see(v.Submitted)
	e.see(v.Completed)
	key := attempt{v.ID, v.Attempt}
	known := e.attempts[key]
	if known == nil {
		known = &Stage{ID: v.ID, Attempt: v.Attempt}
		e.attempts[key] = known
	}
	known.Submitted, known.Profile = max(known.Submitted, v.Submitted), v.Profile
	if completed {
		known.Completed, known.Failure, known.Tasks = v.Completed, v.Failure, v.Tasks
	}
}

// AddTaskStart is Add for a TaskStart, without the allocation of an Event. Most events are
// of tasks.
func (e *Engine) AddTaskStart(t Task) {
	e.see(t.Launched)
	e.firstLaunch = min(e.firstLaunch, t.Launched)
	if _, ended := e.early[t.ID]; ended {
		delete(e.early, t.ID)
		return
	}
	e.running[t.ID] = t
}

// AddTaskEnd is Add for a TaskEnd, likewise.
func (e *Engine) AddTaskEnd(v TaskEnd) {
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
	if v.StageAttempt == 0 && v.Outcome == Success {
		s.successes++
	}
	if v.Type != resultTask {
		return
	}
	s.result = true
	if v.Metrics.RecordsWritten > 0 || v.Metrics.BytesWritten > 0 {
		s.wrote = true
		e.written.add(v.Launched, v.Finished)
		return
	}
	s.results.add(v.Launched, v.Finished)
}

func (e *Engine) stage(id int64) *stage {
	s := e.stages[id]
	if s == nil {
		s = &stage{job: nobody}
		e.stages[id] = s
	}
	return s
}

func (e *Engine) job(id int64) *job {
	j := e.jobs[id]
	if j == nil {
		j = &job{interval: interval{never, never}, highest: nobody, execution: NoExecution}
		e.jobs[id] = j
	}
	return j
}

func (e *Engine) execution(id int64) *execution {
	x := e.executions[id]
	if x == nil {
		x = &execution{interval: interval{never, never}, root: id}
		e.executions[id] = x
	}
	return x
}
