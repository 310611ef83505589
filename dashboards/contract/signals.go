package contract

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery"
)

// Field is a field of a log record in VictoriaLogs.
type Field struct {
	Name   string
	Stream bool // part of the stream's identity: filter in braces {…}
	Help   string
}

// Fields of every log record (VictoriaLogs, OTLP ingestion) and the platform
// labels, which alone make up a stream.
const (
	FieldTime      = "_time"
	FieldMessage   = "_msg"
	FieldSeverity  = "severity"
	FieldTraceID   = "trace_id"
	FieldSpanID    = "span_id"
	FieldPath      = string(platform.LogPath)
	FieldContainer = string(platform.ContainerID)
)

// FilterWarnings is the LogsQL filter of warnings and worse; loggers spell
// severities in their own case.
const FilterWarnings = FieldSeverity + `:~"(?i)^(warn|error|fatal)"`

// LogFields lists the fields that a log query may name.
func LogFields() []Field {
	fields := []Field{
		{Name: FieldTime, Help: "Time of the record."},
		{Name: FieldMessage, Help: "The line, with its stack trace."},
		{Name: FieldSeverity, Help: "Severity as the logger spells it (INFO, Info, info): match it case-insensitively."},
		{Name: FieldTraceID, Help: "Trace the record was written in, if any."},
		{Name: FieldSpanID, Help: "Span the record was written in, if any."},
	}
	fields = append(fields,
		Field{Name: FieldPath, Help: "File the line was read from."},
		Field{Name: FieldContainer, Help: "YARN container whose log it is."},
		Field{Name: string(platform.StepID), Help: "EMR step whose log it is."},
		Field{Name: redelivery.FieldDelivery, Help: "Request that delivered the record to the store (decision 8)."},
	)
	for _, label := range platform.HostLabels() {
		fields = append(fields, Field{Name: string(label), Stream: true, Help: "On every record."})
	}
	for _, label := range platform.JVMLabels() {
		fields = append(fields, Field{Name: string(label), Stream: true, Help: "On records of a Spark application, where known."})
	}
	return fields
}

// SpanAttribute is an attribute that a TraceQL query may name.
type SpanAttribute struct {
	Name string
	Help string
}

// SpanAttributes lists them: those of the resource, those of an EMR step's span, and
// those of a Spark application's spans.
func SpanAttributes() []SpanAttribute {
	attributes := []SpanAttribute{
		{Name: string(platform.ServiceName), Help: "Component that created the span: " + platform.ServiceStep + ", " +
			platform.ServiceSchedules + ", " + platform.ServiceSparkDriver + " or " + platform.ServiceSparkExecutor + "."},
		{Name: string(platform.Cluster), Help: "EMR cluster of the step or application."},
		{Name: string(platform.SparkAppID), Help: "Spark application; on a step's span the first that the step's log names."},
		{Name: string(platform.SparkExecutorID), Help: "Executor that created the span, or " + platform.DriverID + "."},
		{Name: string(platform.StepID), Help: "EMR's id of the step."},
		{Name: string(platform.StepName), Help: "Name the step was submitted under."},
		{Name: string(platform.StepState), Help: "Final state of the step: COMPLETED, FAILED or CANCELLED."},
		{Name: string(platform.StepApps), Help: "YARN applications found in the step's log."},
		{Name: string(platform.StepVerdicts), Help: "Where the time of each application went, and what cost most."},
		{Name: string(platform.Schedule), Help: "Schedule of which a run did not start."},
		{Name: "spark.kind", Help: "What the span describes: step, lost run, application, session, operation, sql, job, " +
			"stage, task, phase or batch."},
		{Name: platform.AttributeApplicationName, Help: "Name of the application; on its own span."},
		{Name: platform.AttributeExecutionID, Help: "SQL execution of the span."},
		{Name: platform.AttributeJobID, Help: "Spark job of the span."},
		{Name: platform.AttributeStageID, Help: "Stage of the span."},
		{Name: platform.AttributeStageAttempt, Help: "Attempt of the stage."},
		{Name: platform.AttributeTaskID, Help: "Task of the span."},
		{Name: platform.AttributeDescription, Help: "Description of an SQL execution or job, or the statement of an operation: " +
			"redacted as Spark redacts, and cut."},
		{Name: platform.AttributeConnectSession, Help: "Session of Spark Connect; on the spans of sessions and operations."},
		{Name: platform.AttributeConnectOperation, Help: "What a client of Spark Connect asked for; on the operation's span."},
		{Name: platform.AttributeConnectUser, Help: "User of the session, as its client says."},
		{Name: platform.AttributePhase, Help: "Phase of a span of that kind."},
		{Name: platform.AttributeException, Help: "Why the span failed, cut."},
		{Name: platform.AttributeApproximate, Help: "Whether events are missing from the phases; on the application's span."},
		{Name: platform.SpansDropped, Help: "Spans that the trace lacks; on the application's span."},
	}
	for _, name := range platform.AirflowNames() {
		attributes = append(attributes, SpanAttribute{
			Name: platform.AttributeAirflow(name.Label),
			Help: "Airflow's " + name.Label + " in the configuration of a session of Spark Connect; on its operations.",
		})
	}
	for _, phase := range platform.Phases() {
		attributes = append(attributes, SpanAttribute{
			Name: platform.AttributePhaseSeconds(phase), Help: phaseHelp(phase) + " On the application's span.",
		})
	}
	return attributes
}

// Profile is a profile type of Pyroscope.
type Profile struct {
	ID   string // profile type id as Pyroscope's queries want it
	Unit string
	Help string
}

// Profile types that Pyroscope makes of async-profiler's recordings (grafana/jfr-parser, pprof/pprof.go).
const (
	ProfileCPU   = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
	ProfileAlloc = "memory:alloc_in_new_tlab_bytes:bytes:space:bytes"
	ProfileLock  = "mutex:delay:nanoseconds:mutex:count"
)

// Profiles lists the profile types. All carry the host's and the JVM's labels
// in their metric spelling (platform.Label.Metric).
func Profiles() []Profile {
	return []Profile{
		{ID: ProfileCPU, Unit: "ns", Help: "CPU time by stack (itimer)."},
		{ID: ProfileAlloc, Unit: "By", Help: fmt.Sprintf("Memory allocated by stack, one sample per %d MiB.", platform.AllocationSampleMiB)},
		{ID: ProfileLock, Unit: "ns", Help: "Time spent waiting for monitors by stack."},
	}
}
