package spans_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/eventlog/eventlogtest"
	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/phases/spans"
)

// built are the spans of a log.
type built struct {
	trace     spans.Trace
	all       []*tracepb.Span
	resources map[*tracepb.Span]string
}

func spansOf(t *testing.T, log string) built {
	t.Helper()
	return build(read(t, os.DirFS("../testdata/logs"), log+".jsonl"))
}

func read(t *testing.T, files fs.FS, name string) []eventlog.Event {
	t.Helper()
	events, _, err := eventlogtest.Read(files, name)
	require.NoError(t, err)
	return events
}

func build(events []eventlog.Event) built {
	engine, builder := phases.NewEngine(), spans.NewBuilder()
	for _, event := range events {
		engine.Add(event)
		builder.Add(event)
	}
	s := built{trace: builder.Trace(engine.Result(), nil), resources: map[*tracepb.Span]string{}}
	for _, resource := range s.trace.Spans {
		labels := map[string]string{}
		for _, a := range resource.Resource.Attributes {
			labels[a.Key] = a.Value.GetStringValue()
		}
		for _, span := range resource.ScopeSpans[0].Spans {
			s.all = append(s.all, span)
			s.resources[span] = labels["service.name"] + " " + labels["spark.executor.id"]
		}
	}
	return s
}

// requireTree checks that each span but roots and foreign ones has a parent that was
// kept, in the same trace, and that no id comes twice.
func requireTree(t *testing.T, s built) {
	t.Helper()
	known := map[string]bool{}
	for _, span := range s.all {
		id := string(span.TraceId) + string(span.SpanId)
		require.False(t, known[id], span.Name)
		known[id] = true
		require.LessOrEqual(t, span.StartTimeUnixNano, span.EndTimeUnixNano, span.Name)
	}
	for _, span := range s.all {
		if len(span.ParentSpanId) > 0 && len(span.Links) == 0 { // a link: its parent is somebody else's
			require.True(t, known[string(span.TraceId)+string(span.ParentSpanId)], span.Name)
		}
	}
	require.Equal(t, len(s.all), s.trace.Count)
}

func (s built) find(prefix string) (found []*tracepb.Span) {
	for _, span := range s.all {
		if strings.HasPrefix(span.Name, prefix) {
			found = append(found, span)
		}
	}
	return found
}

func (s built) named(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	i := slices.IndexFunc(s.all, func(span *tracepb.Span) bool { return span.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return s.all[i]
}

func (s built) children(of *tracepb.Span) (found []*tracepb.Span) {
	for _, span := range s.all {
		if string(span.ParentSpanId) == string(of.SpanId) {
			found = append(found, span)
		}
	}
	return found
}

func (s built) texts() (texts []string) {
	for _, span := range s.all {
		texts = append(texts, s.resources[span]+" "+span.String())
	}
	return texts
}

func (s built) bytes() (total int) {
	for _, span := range s.all {
		total += proto.Size(span)
	}
	return total
}

func attributes(span *tracepb.Span) map[string]string {
	values := map[string]string{}
	for _, a := range span.Attributes {
		text := a.Value.String()
		_, value, _ := strings.Cut(text, ":")
		values[a.Key] = strings.Trim(value, `" `)
	}
	return values
}

func only[T any](t *testing.T, list []T) T {
	t.Helper()
	require.Len(t, list, 1)
	return list[0]
}

func hexOf[T [8]byte | [16]byte](id T) string { return fmt.Sprintf("%x", id) }

// texts are the values of a span's attributes that are texts.
func texts(span *tracepb.Span) (all []string) {
	for _, a := range span.Attributes {
		all = append(all, a.Value.GetStringValue())
	}
	return all
}
