package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mailru/easyjson"
	"github.com/mailru/easyjson/jlexer"
)

//go:generate go run github.com/mailru/easyjson/easyjson -pkg -no_std_marshalers -output_filename wire_easyjson.go .

// Prefixes of the names of events that Spark writes by their class.
const (
	coreEvents = "org.apache.spark.scheduler."
	sqlEvents  = "org.apache.spark.sql.execution.ui."

	connectEvents = "org.apache.spark.sql.connect.service.SparkListenerConnect"
)

// errLine is of a line that is no JSON object, or not a whole one.
var errLine = errors.New("no event")

// typeError is of an event whose fields have other types than expected.
type typeError struct{ event, field string }

func (e *typeError) Error() string {
	return fmt.Sprintf("field %s of %s: unexpected value", e.field, e.event)
}

// decoder turns lines into events. It uses the memory of an event again for the next. It
// must not be copied: its shapes point into it.
type decoder struct {
	skimmer
	lexer jlexer.Lexer

	taskStart struct {
		wire  taskStart
		shape *shape // bound to wire
		event TaskStart
	}
	taskEnd struct {
		wire  taskEnd
		shape *shape // bound to wire
		event TaskEnd
	}
}

func newDecoder() *decoder {
	d := &decoder{skimmer: skimmer{words: words{}}}
	d.taskStart.shape = bind(kinds()[taskStartEvent].shape, reflect.ValueOf(&d.taskStart.wire).Elem())
	d.taskEnd.shape = bind(kinds()[taskEndEvent].shape, reflect.ValueOf(&d.taskEnd.wire).Elem())
	return d
}

// Events of tasks are read by the decoder's own shapes.
const (
	taskStartEvent = "SparkListenerTaskStart"
	taskEndEvent   = "SparkListenerTaskEnd"
)

// eventKind is how events of a name are read.
type eventKind struct {
	name   string
	shape  *shape
	decode func(d *decoder, line []byte) (Event, error)
	// begin clears the decoder's struct for the event and returns the shape bound to it;
	// nil for kinds that have none.
	begin func(d *decoder) *shape
}

// kindOf describes the events of a name. They are decoded into a T, which is the event if it
// has no method that makes it.
func kindOf[T any, P interface {
	*T
	easyjson.Unmarshaler
}](s shapes, name string) *eventKind {
	return &eventKind{name, s.of(reflect.TypeFor[T](), maxText), func(d *decoder, line []byte) (Event, error) {
		parsed := P(new(T))
		if err := d.unmarshal(line, parsed); err != nil {
			return nil, err
		}
		if wire, ok := any(parsed).(interface{ event(d *decoder) Event }); ok {
			return wire.event(d), nil
		}
		event, _ := any(parsed).(Event)
		return event, nil
	}, nil}
}

// kinds are the events that are read, by name, without coreEvents.
var kinds = sync.OnceValue(func() map[string]*eventKind {
	s, all := shapes{}, map[string]*eventKind{}
	for _, k := range []*eventKind{
		{taskStartEvent, s.of(reflect.TypeFor[taskStart](), maxText), (*decoder).decodeTaskStart, (*decoder).beginTaskStart},
		{taskEndEvent, s.of(reflect.TypeFor[taskEnd](), maxText), (*decoder).decodeTaskEnd, (*decoder).beginTaskEnd},
		kindOf[StageSubmitted](s, "SparkListenerStageSubmitted"),
		kindOf[StageCompleted](s, "SparkListenerStageCompleted"),
		kindOf[StageExecutorMetrics](s, "SparkListenerStageExecutorMetrics"),
		kindOf[executorMetricsUpdate](s, "SparkListenerExecutorMetricsUpdate"),
		kindOf[JobStart](s, "SparkListenerJobStart"),
		kindOf[jobEnd](s, "SparkListenerJobEnd"),
		kindOf[ExecutorAdded](s, "SparkListenerExecutorAdded"),
		kindOf[resourceProfileAdded](s, "SparkListenerResourceProfileAdded"),
		kindOf[ExecutorRemoved](s, "SparkListenerExecutorRemoved"),
		kindOf[ExecutorExcluded](s, "SparkListenerExecutorExcluded"),
		kindOf[ExecutorExcluded](s, "SparkListenerExecutorBlacklisted"),
		kindOf[ExecutorExcluded](s, "SparkListenerNodeExcluded"),
		kindOf[ExecutorExcluded](s, "SparkListenerNodeBlacklisted"),
		kindOf[ExecutorExcluded](s, "SparkListenerExecutorExcludedForStage"),
		kindOf[ExecutorExcluded](s, "SparkListenerExecutorBlacklistedForStage"),
		kindOf[ExecutorExcluded](s, "SparkListenerNodeExcludedForStage"),
		kindOf[ExecutorExcluded](s, "SparkListenerNodeBlacklistedForStage"),
		kindOf[executorUnexcluded](s, "SparkListenerExecutorUnexcluded"),
		kindOf[executorUnexcluded](s, "SparkListenerExecutorUnblacklisted"),
		kindOf[executorUnexcluded](s, "SparkListenerNodeUnexcluded"),
		kindOf[executorUnexcluded](s, "SparkListenerNodeUnblacklisted"),
		kindOf[BlockManagerAdded](s, "SparkListenerBlockManagerAdded"),
		kindOf[EnvironmentUpdate](s, "SparkListenerEnvironmentUpdate"),
		kindOf[ApplicationStart](s, "SparkListenerApplicationStart"),
		kindOf[ApplicationEnd](s, "SparkListenerApplicationEnd"),
		kindOf[LogStart](s, "SparkListenerLogStart"),
		kindOf[LogStart](s, metadataEvent), // some of Databricks' logs have no other version
		kindOf[SQLStart](s, sqlEvents+"SparkListenerSQLExecutionStart"),
		kindOf[SQLPlan](s, sqlEvents+"SparkListenerSQLAdaptiveExecutionUpdate"),
		kindOf[driverAccumulators](s, sqlEvents+"SparkListenerDriverAccumUpdates"),
		kindOf[SQLEnd](s, sqlEvents+"SparkListenerSQLExecutionEnd"),
		kindOf[SessionStarted](s, connectEvents+"SessionStarted"),
		kindOf[SessionClosed](s, connectEvents+"SessionClosed"),
		kindOf[OperationStarted](s, connectEvents+"OperationStarted"),
		kindOf[operationEnded](s, connectEvents+"OperationFinished"),
		kindOf[operationEnded](s, connectEvents+"OperationClosed"),
		kindOf[operationEnded](s, connectEvents+"OperationFailed"),
		kindOf[operationCanceled](s, connectEvents+"OperationCanceled"),
	} {
		all[k.name] = k
	}
	return all
})

// decode returns the event of the line; nil if it is of a kind that this project does
// not use.
func (d *decoder) decode() (Event, error) {
	name, err := d.eventName()
	if err != nil {
		return nil, err
	}
	kind := kinds()[string(bytes.TrimPrefix(name, []byte(coreEvents)))]
	if kind == nil {
		if d.last { // it may be cut off
			if _, ok := d.skim(&shape{kind: kindObject}); !ok {
				return nil, errLine
			}
		}
		return nil, nil // no event is no error
	}
	of := kind.shape
	if kind.begin != nil {
		of = kind.begin(d)
	}
	line, ok := d.skim(of)
	if !ok {
		return nil, errLine
	}
	if !utf8.Valid(line) { // Spark's is
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
	}
	event, err := kind.decode(d, line)
	if err != nil {
		return nil, d.typeError(kind.name, line, err)
	}
	return event, nil
}

// eventName returns the kind of the line's event. Spark writes it first, which saves
// parsing the lines that nobody wants.
func (d *decoder) eventName() ([]byte, error) {
	if rest, ok := bytes.CutPrefix(d.piece, []byte(`{"Event":"`)); ok {
		if name, _, ok := bytes.Cut(rest, []byte(`"`)); ok {
			return name, nil
		}
	}
	if d.piece[d.at] != '{' {
		return nil, errors.New("no JSON object")
	}
	if !d.whole {
		return nil, fmt.Errorf("its name is not the first field of a line of more than %d bytes", bufferSize)
	}
	begin := d.at
	line, ok := d.skim(nameShape())
	if !ok {
		return nil, errLine
	}
	d.at = begin
	name, ok := bytes.CutPrefix(line, []byte(`{"Event":"`))
	if !ok {
		return nil, errors.New("no field Event")
	}
	return bytes.Clone(bytes.TrimSuffix(name, []byte(`"}`))), nil
}

// nameShape is that of a line of which only the event's name is read.
var nameShape = sync.OnceValue(func() *shape {
	return shapes{}.object(reflect.TypeFor[struct {
		Event string `json:"Event"`
	}]())
})

func (d *decoder) unmarshal(line []byte, into easyjson.Unmarshaler) error {
	if string(line) == emptyObject {
		return nil
	}
	d.lexer = jlexer.Lexer{Data: line}
	into.UnmarshalEasyJSON(&d.lexer)
	return d.lexer.Error()
}

// emptyObject is all that is left of a line whose values have been stored.
const emptyObject = "{}"

func (d *decoder) beginTaskStart() *shape {
	d.taskStart.wire = taskStart{}
	return d.taskStart.shape
}

func (d *decoder) decodeTaskStart(line []byte) (Event, error) {
	t := &d.taskStart
	if err := d.unmarshal(line, &t.wire); err != nil {
		return nil, err
	}
	t.event.Task = t.wire.Info.of(t.wire.Stage, t.wire.Attempt)
	return &t.event, nil
}

func (d *decoder) beginTaskEnd() *shape {
	d.taskEnd.wire = taskEnd{}
	return d.taskEnd.shape
}

func (d *decoder) decodeTaskEnd(line []byte) (Event, error) {
	t := &d.taskEnd
	if err := d.unmarshal(line, &t.wire); err != nil {
		return nil, err
	}
	t.event = t.wire.end()
	return &t.event, nil
}

// typeError names the field that the lexer stumbled over, not its value: it may be
// somebody's secret.
func (d *decoder) typeError(event string, line []byte, err error) error {
	var lexer *jlexer.LexerError
	field := "?"
	if errors.As(err, &lexer) {
		before := string(line[:min(len(line), max(0, lexer.Offset))])
		if i := strings.LastIndex(before, `":`); i >= 0 {
			field = before[strings.LastIndexByte(before[:i], '"')+1 : i]
		}
	}
	return &typeError{event: event, field: field}
}
