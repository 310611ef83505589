package spans

import (
	"path"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
)

// place is where a span belongs: its trace, and its parent there.
type place struct {
	trace  [16]byte
	parent []byte // nil: a root
	// foreign traces are not the application's: their topmost spans link to it.
	foreign bool
	batch   string // "query.batch" of a micro-batch, which is a trace of its own
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
	given, ok := placeIn(job.ThreadParent)
	if !ok && job.SessionParent != b.properties[platform.SparkTraceparent] {
		given, ok = placeIn(job.SessionParent)
	}
	if ok {
		given.foreign = given.trace != application.trace
		return given
	}
	if job.Query != "" && job.Batch != "" {
		batch := job.Query + "." + job.Batch
		return place{
			trace:   platform.TraceID(b.application.ID, b.application.Attempt, string(platform.SpanBatch), batch),
			parent:  b.id(platform.SpanBatch, batch),
			foreign: true, batch: batch,
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
