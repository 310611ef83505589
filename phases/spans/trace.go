package spans

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/phases/redaction"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Longest texts on a span, in characters.
const (
	descriptionLimit = 256
	messageLimit     = 1024
	taskMessageLimit = 256 // of an executor
)

// mostPhases bounds the spans of phases: the longest stretches get one.
const mostPhases = platform.SpanBudget / 10

// Trace is what an application's events say, as spans.
type Trace struct {
	ID          string // of the application's trace, in hex
	Application string
	Name        string
	Spans       []*tracepb.ResourceSpans
	Count       int // spans
	Dropped     int // spans over the budget
}

// assembly builds the spans, level by level, so that no span is kept whose parent is
// not.
type assembly struct {
	*Builder
	result         phases.Result
	redaction      *redaction.Rules
	place          place // of the application
	used           map[[16]byte]*budget
	driver         []*tracepb.Span
	executors      map[string][]*tracepb.Span
	dropped        int
	keptSessions   map[string]bool
	keptOperations map[string]place
	keptSQL        map[int64]place
	keptJobs       map[int64]place
	kept           map[attempt]place
	batches        map[string]*tracepb.Span
}

// budget is what a trace has used.
type budget struct{ spans, bytes int }

// Trace returns the spans of all events so far. result is the division of the same
// events. labels, such as platform.Cluster, are added to every span's resource.
func (b *Builder) Trace(result phases.Result, labels map[platform.Label]string) Trace {
	a := &assembly{
		Builder: b, result: result, redaction: redaction.SparkRules(b.properties), place: b.applicationPlace(),
		used: map[[16]byte]*budget{}, executors: map[string][]*tracepb.Span{}, dropped: b.lost,
		keptSessions: map[string]bool{}, keptOperations: map[string]place{},
		keptSQL: map[int64]place{}, keptJobs: map[int64]place{}, kept: map[attempt]place{}, batches: map[string]*tracepb.Span{},
	}
	root := a.applicationSpan()
	a.take(a.place.trace, root)
	a.phaseSpans()
	first := a.firstJobs()
	a.connectSpans(first)
	a.sqlSpans(first)
	a.jobSpans()
	a.stageSpans()
	a.taskSpans()
	a.set(root, string(platform.SpansDropped), a.dropped)
	trace := Trace{ID: fmt.Sprintf("%x", a.place.trace), Application: b.application.ID, Name: b.application.Name, Dropped: a.dropped}
	trace.Spans = append(trace.Spans, a.resource(platform.ServiceSparkDriver, "driver", labels, a.driver))
	trace.Count = len(a.driver)
	for _, id := range slices.Sorted(maps.Keys(a.executors)) {
		service := platform.ServiceSparkExecutor
		if id == "driver" { // local mode
			service = platform.ServiceSparkDriver
		}
		trace.Spans = append(trace.Spans, a.resource(service, id, labels, a.executors[id]))
		trace.Count += len(a.executors[id])
	}
	return trace
}

// span makes a span of the application. Times are milliseconds.
func (a *assembly) span(in place, kind platform.SpanKind, number, name string, from, to int64) *tracepb.Span {
	s := &tracepb.Span{
		TraceId: in.trace[:], SpanId: a.id(kind, number), ParentSpanId: in.parent, Name: name, Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		Flags: 1, StartTimeUnixNano: nanos(from), EndTimeUnixNano: nanos(max(from, to)),
	}
	a.set(s, string(platform.SparkKind), string(kind))
	return s
}

func nanos(millis int64) uint64 { return uint64(time.UnixMilli(millis).UnixNano()) }

// take adds a span to its trace if the budget allows.
func (a *assembly) take(trace [16]byte, s *tracepb.Span) bool {
	if !a.afford(trace, s) {
		return false
	}
	a.driver = append(a.driver, s)
	return true
}

func (a *assembly) afford(trace [16]byte, s *tracepb.Span) bool {
	used := a.used[trace]
	if used == nil {
		used = &budget{}
		a.used[trace] = used
	}
	size := proto.Size(s)
	if used.spans >= platform.SpanBudget || used.bytes+size > platform.SpanBudgetBytes {
		a.dropped++
		return false
	}
	used.spans++
	used.bytes += size
	return true
}

func (a *assembly) set(s *tracepb.Span, key string, value any) {
	v := &commonpb.AnyValue{}
	switch x := value.(type) {
	case string:
		if x == "" {
			return
		}
		v.Value = &commonpb.AnyValue_StringValue{StringValue: x}
	case int:
		v.Value = &commonpb.AnyValue_IntValue{IntValue: int64(x)}
	case int64:
		v.Value = &commonpb.AnyValue_IntValue{IntValue: x}
	case float64:
		v.Value = &commonpb.AnyValue_DoubleValue{DoubleValue: x}
	case bool:
		v.Value = &commonpb.AnyValue_BoolValue{BoolValue: x}
	}
	s.Attributes = append(s.Attributes, &commonpb.KeyValue{Key: key, Value: v})
}

func (a *assembly) describe(s *tracepb.Span, text string) {
	a.set(s, platform.AttributeDescription, a.redaction.Text(text, descriptionLimit))
}

func (a *assembly) fail(s *tracepb.Span, failure string) { a.failWithin(s, failure, messageLimit) }

func (a *assembly) failWithin(s *tracepb.Span, failure string, limit int) {
	if failure == "" {
		return
	}
	message := a.redaction.Text(failure, limit)
	s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: message}
	a.set(s, platform.AttributeException, message)
}

// link ties the topmost span of another trace to the application.
func (a *assembly) link(s *tracepb.Span, in place) {
	if in.foreign {
		s.Links = append(s.Links, &tracepb.Span_Link{TraceId: a.place.trace[:], SpanId: a.id(platform.SpanApplication, "0"), Flags: 1})
	}
}

func (a *assembly) resource(
	service, executor string, labels map[platform.Label]string, list []*tracepb.Span,
) *tracepb.ResourceSpans {
	all := maps.Clone(labels)
	if all == nil {
		all = map[platform.Label]string{}
	}
	all[platform.ServiceName], all[platform.SparkAppID], all[platform.SparkExecutorID] = service, a.application.ID, executor
	resource := &resourcepb.Resource{}
	for _, label := range slices.Sorted(maps.Keys(all)) {
		resource.Attributes = append(resource.Attributes, &commonpb.KeyValue{
			Key: string(label), Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: all[label]}},
		})
	}
	scope := &commonpb.InstrumentationScope{Name: platform.Project}
	return &tracepb.ResourceSpans{Resource: resource, ScopeSpans: []*tracepb.ScopeSpans{{Scope: scope, Spans: list}}}
}

func (a *assembly) applicationSpan() *tracepb.Span {
	name := a.redaction.Text(a.application.Name, descriptionLimit)
	s := a.span(a.place, platform.SpanApplication, "0", "application "+name, a.result.Begin, a.result.End)
	a.set(s, platform.AttributeApplicationName, name)
	for _, phase := range platform.Phases() {
		a.set(s, platform.AttributePhaseSeconds(phase), float64(a.result.Phases[phase])/1000)
	}
	a.set(s, platform.AttributeApproximate, a.result.Approximate)
	if !a.ended {
		a.fail(s, "the event log has no end of the application: its driver was killed, or still runs")
	} else if a.result.Phases[platform.PhaseIdle] == 0 { // the jobs of a session server are its users' own
		a.fail(s, a.lastFailure())
	}
	return s
}

// lastFailure returns why the latest job that ended failed, "" if it succeeded. No
// event tells how the driver itself ended.
func (a *assembly) lastFailure() string {
	latest, failure := int64(-1), ""
	for id, j := range a.jobs {
		if j.to > 0 && id > latest {
			latest, failure = id, j.failure
		}
	}
	return failure
}

func (a *assembly) phaseSpans() {
	segments := slices.Clone(a.result.Segments)
	slices.SortStableFunc(segments, func(a, b phases.Segment) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	a.dropped += max(0, len(segments)-mostPhases)
	in := place{trace: a.place.trace, parent: a.id(platform.SpanApplication, "0")}
	for _, segment := range segments[:min(len(segments), mostPhases)] {
		number := string(segment.Phase) + "." + strconv.FormatInt(segment.From, 10)
		s := a.span(in, platform.SpanPhase, number, "phase "+string(segment.Phase), segment.From, segment.To)
		a.set(s, platform.AttributePhase, string(segment.Phase))
		a.take(in.trace, s)
	}
}
