package platform

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// SpanKind is what a span of a Spark application describes.
type SpanKind string

// The kinds.
const (
	SpanStep        SpanKind = "step"
	SpanLostRun     SpanKind = "lost run" // of a schedule
	SpanApplication SpanKind = "application"
	SpanSQL         SpanKind = "sql"
	SpanJob         SpanKind = "job"
	SpanStage       SpanKind = "stage"
	SpanTask        SpanKind = "task"
	SpanPhase       SpanKind = "phase"
	SpanBatch       SpanKind = "batch"
	SpanSession     SpanKind = "session"   // of Spark Connect
	SpanOperation   SpanKind = "operation" // of a session
)

// TraceID returns the trace id of an application, or of an EMR step, that was started
// without one: a hash, so that every process that knows the id knows the trace.
func TraceID(id ...string) (trace [16]byte) {
	sum := sha256.Sum256([]byte("trace|" + strings.Join(id, "|")))
	copy(trace[:], sum[:])
	return trace
}

// SpanID returns the id of an application's span: a hash, so that executors know
// their stage's, and a second export repeats no span. attempt is YARN's, "" if there
// is none.
func SpanID(application, attempt string, kind SpanKind, number string) [8]byte {
	return spanID(application, attempt, string(kind), number)
}

// StepSpanID returns the id of a step's span.
func StepSpanID(step string) [8]byte { return spanID(step, string(SpanStep), "0") }

func spanID(parts ...string) (span [8]byte) {
	sum := sha256.Sum256([]byte(strings.Join(parts, "|")))
	copy(span[:], sum[:])
	return span
}

// W3C Trace Context, "00-<trace id>-<span id>-<flags>"; later versions may have more.
var traceparent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]([0-9a-f])(-.*)?$`)

// ParseTraceparent returns the ids in a trace context as SparkTraceparent has it, and
// whether the context says that its trace is kept. ok is false if there are no ids, or
// none that are valid.
func ParseTraceparent(text string) (trace [16]byte, span [8]byte, sampled, ok bool) {
	match := traceparent.FindStringSubmatch(strings.TrimSpace(text))
	if match == nil || match[1] == "ff" || strings.Trim(match[2], "0") == "" || strings.Trim(match[3], "0") == "" {
		return trace, span, false, false
	}
	_, ofTrace := hex.Decode(trace[:], []byte(match[2]))
	_, ofSpan := hex.Decode(span[:], []byte(match[3]))
	return trace, span, strings.Contains("13579bdf", match[4]), ofTrace == nil && ofSpan == nil
}
