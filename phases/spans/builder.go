// Package spans makes the spans of a Spark application from its events, with the times
// of the events and the ids that the driver's plugin (observatory.spark) gives them: an
// import repeats no span, and completes the trace of a driver that was killed.
//
// It does not divide the wall clock (package phases does) and reads no log.
package spans

import (
	"cmp"

	"github.com/emr-observatory/emr-observatory/eventlog"
)

// Builder takes the events of one application, in any order. It keeps one record per
// job, stage and SQL execution, and a bounded number of tasks.
type Builder struct {
	application eventlog.ApplicationStart
	ended       bool
	properties  map[string]string
	folder      string // the driver's working directory

	executions map[int64]*phase[execution]
	jobs       map[int64]*phase[eventlog.JobProperties]
	attempts   map[attempt]*phase[string] // the stage's name
	stageJob   map[int64]int64            // the latest that lists the stage
	tasks      map[attempt]*picked
	kept       int // slow and sampled tasks
	failures   int // failed tasks that are kept: the others leave them room
	lost       int // tasks that were to be kept
}

// phase is what begins and ends.
type phase[T any] struct {
	begin   T
	from    int64 // 0: the begin is unknown
	to      int64 // 0: it has not ended
	failure string
}

type attempt struct{ stage, number int64 }

// execution is what a span of a SQL execution needs of its start.
type execution struct {
	root        int64 // the execution that it is part of, or its own id
	description string
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{
		properties: map[string]string{}, executions: map[int64]*phase[execution]{}, jobs: map[int64]*phase[eventlog.JobProperties]{},
		attempts: map[attempt]*phase[string]{}, stageJob: map[int64]int64{}, tasks: map[attempt]*picked{},
	}
}

// Add takes an event.
func (b *Builder) Add(event eventlog.Event) {
	switch v := event.(type) {
	case *eventlog.ApplicationStart:
		b.application = *v
	case *eventlog.ApplicationEnd:
		b.ended = true
	case *eventlog.EnvironmentUpdate:
		b.properties, b.folder = v.Spark, v.System["user.dir"]
	case *eventlog.SQLStart:
		x := of(b.executions, v.ID)
		x.begin, x.from = execution{v.ID, v.Description}, v.Time
		if v.Root != nil {
			x.begin.root = *v.Root
		}
	case *eventlog.SQLEnd:
		x := of(b.executions, v.ID)
		x.to, x.failure = v.Time, causeFirst(v.Failure)
	case *eventlog.JobStart:
		b.job(v)
	case *eventlog.JobEnd:
		j := of(b.jobs, v.ID)
		j.to, j.failure = v.Time, causeFirst(v.Failure)
	case *eventlog.StageSubmitted:
		b.stage(&v.Stage)
	case *eventlog.StageCompleted:
		b.stage(&v.Stage)
	case *eventlog.TaskEnd:
		b.task(v)
	}
}

func (b *Builder) job(v *eventlog.JobStart) {
	j := of(b.jobs, v.ID)
	j.begin, j.from = v.Properties, v.Time
	j.begin.Description = cmp.Or(j.begin.Description, j.begin.CallSite)
	for i := range v.Stages {
		stage := v.Stages[i].ID
		b.stageJob[stage] = max(b.stageJob[stage], v.ID)
	}
}

func (b *Builder) stage(v *eventlog.Stage) {
	s := of(b.attempts, attempt{v.ID, v.Attempt})
	s.begin = v.Name
	s.from, s.to = max(s.from, v.Submitted), max(s.to, v.Completed)
	if v.Failure != "" {
		s.failure = causeFirst(v.Failure)
	}
}

func of[K comparable, T any](all map[K]*phase[T], id K) *phase[T] {
	p := all[id]
	if p == nil {
		p = &phase[T]{}
		all[id] = p
	}
	return p
}
