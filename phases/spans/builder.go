// Package spans makes the spans of a Spark application from its events, with the times
// of the events and the ids that the driver's plugin (observatory.spark) gives them: an
// import repeats no span, and completes the trace of a driver that was killed.
//
// It does not divide the wall clock (package phases does) and reads no log.
package spans

import (
	"cmp"
	"path"
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Builder takes the events of one application, in any order. It keeps one record per
// job, stage and SQL execution, and a bounded number of tasks.
type Builder struct {
	application eventlog.ApplicationStart
	ended       bool
	properties  map[string]string
	folder      string // the driver's working directory

	sessions   map[string]*session
	operations map[string]*phase[operation]
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
	session     eventlog.JobProperties // what its session is configured with, and its tags
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{
		properties: map[string]string{}, sessions: map[string]*session{}, operations: map[string]*phase[operation]{},
		executions: map[int64]*phase[execution]{}, jobs: map[int64]*phase[eventlog.JobProperties]{},
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
		x.begin, x.from = execution{v.ID, v.Description, v.Modified}, v.Time
		x.begin.session.Tags = strings.Join(v.Tags, ",")
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
	default:
		b.connect(event)
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

// place is where a span belongs: its trace, and its parent there.
type place struct {
	trace  [16]byte
	parent []byte // nil: a root
	// foreign traces are not the application's: their topmost spans link to it.
	foreign bool
	batch   string // "query.batch" of a micro-batch, which is a trace of its own
	// operation is the number of the operation of Spark Connect that it is part of, and session
	// the one whose trace it is.
	operation, session string
}

// applicationPlace finds the parent of the application: in its configuration, else the
// step that runs it. (A TRACEPARENT in the driver's environment is in no event log.)
func (b *Builder) applicationPlace() place {
	if given, ok := placeIn(b.properties[platform.SparkTraceparent]); ok {
		return given
	}
	step := path.Base(b.folder) // in client mode the step's id
	if b.properties["spark.submit.deployMode"] != "cluster" && platform.IsStepID(step) {
		span := platform.StepSpanID(step)
		return place{trace: platform.TraceID(step), parent: span[:]}
	}
	return place{trace: platform.TraceID(b.application.ID, b.application.Attempt)}
}

// jobPlace finds where a job belongs that is not part of a SQL execution.
func (b *Builder) jobPlace(job eventlog.JobProperties, application place) place {
	tags := platform.ParseConnectTags(job.Tags, job.ConnectOperation)
	given, ok := placeIn(job.ThreadParent)
	if !ok {
		given, ok = placeIn(tags.Parent)
	}
	if !ok && job.SessionParent != b.properties[platform.SparkTraceparent] {
		given, ok = placeIn(job.SessionParent)
	}
	inBatch := job.Query != "" && job.Batch != ""
	// The thread of a query that a client of Spark Connect has started keeps what the call had.
	if ok && (!inBatch || tags.Session == "") {
		given.foreign, given.operation = given.trace != application.trace, tags.Number()
		return given
	}
	if inBatch {
		batch := job.Query + "." + job.Batch
		return place{
			trace:   platform.TraceID(b.application.ID, b.application.Attempt, string(platform.SpanBatch), batch),
			parent:  b.id(platform.SpanBatch, batch),
			foreign: true, batch: batch,
		}
	}
	if tags.Session != "" {
		return place{
			trace:   platform.TraceID(b.application.ID, b.application.Attempt, string(platform.SpanSession), tags.Session),
			parent:  b.id(platform.SpanSession, tags.Session),
			foreign: true, operation: tags.Number(), session: tags.Session,
		}
	}
	return place{trace: application.trace, parent: b.id(platform.SpanApplication, "0")}
}

func (b *Builder) id(kind platform.SpanKind, number string) []byte {
	id := platform.SpanID(b.application.ID, b.application.Attempt, kind, number)
	return id[:]
}

// placeIn returns the place that a trace context names. The parent in a trace that is not
// kept never arrives: such a context counts as none.
func placeIn(traceparent string) (p place, ok bool) {
	trace, span, sampled, ok := platform.ParseTraceparent(traceparent)
	return place{trace: trace, parent: span[:]}, ok && sampled
}
