// Package spans makes the spans of a Spark application from its events, with the times
// of the events and the ids that the driver's plugin (observatory.spark) gives them: an
// import repeats no span, and completes the trace of a driver that was killed.
//
// It does not divide the wall clock (package phases does) and reads no log.
package spans

import (
	"github.com/emr-observatory/emr-observatory/phases"
)

// Builder takes the events of one application, in any order. It keeps one record per
// job, stage and SQL execution, and a bounded number of tasks.
type Builder struct {
	application phases.ApplicationStart
	ended       bool
	properties  map[string]string
	folder      string // the driver's working directory

	executions map[int64]*phase[phases.SQLStart]
	jobs       map[int64]*phase[phases.JobStart]
	attempts   map[attempt]*phase[phases.Stage]
	stageJob   map[int64]int64 // the latest that lists the stage
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

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{
		properties: map[string]string{}, executions: map[int64]*phase[phases.SQLStart]{}, jobs: map[int64]*phase[phases.JobStart]{},
		attempts: map[attempt]*phase[phases.Stage]{}, stageJob: map[int64]int64{}, tasks: map[attempt]*picked{},
	}
}

// Add takes an event.
func (b *Builder) Add(event phases.Event) {
	switch v := event.(type) {
	case phases.ApplicationStart:
		b.application = v
	case phases.ApplicationEnd:
		b.ended = true
	case phases.EnvironmentUpdate:
		b.properties, b.folder = v.Spark, v.Folder
	case phases.SQLStart:
		x := of(b.executions, v.ID)
		x.begin, x.from = v, v.Time
	case phases.SQLEnd:
		x := of(b.executions, v.ID)
		x.to, x.failure = v.Time, v.Failure
	case phases.JobStart:
		j := of(b.jobs, v.ID)
		j.begin, j.from = v, v.Time
		for _, stage := range v.Stages {
			b.stageJob[stage] = max(b.stageJob[stage], v.ID)
		}
		j.begin.Stages = nil
	case phases.JobEnd:
		j := of(b.jobs, v.ID)
		j.to, j.failure = v.Time, v.Failure
	case phases.StageSubmitted:
		b.stage(v.Stage)
	case phases.StageCompleted:
		b.stage(v.Stage)
	case phases.TaskEnd:
		b.task(v)
	}
}

func (b *Builder) stage(v phases.Stage) {
	s := of(b.attempts, attempt{v.ID, v.Attempt})
	s.begin = v
	s.from, s.to = max(s.from, v.Submitted), max(s.to, v.Completed)
	if v.Failure != "" {
		s.failure = v.Failure
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
