package node_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/phases/spans"
)

// The import of an event log makes the driver's own spans again, to the byte: whoever
// imports the log of a traced application, or of a killed driver, adds nothing twice.
func TestPluginAndImportMakeTheSameSpans(t *testing.T) {
	const folder = "../../phases/testdata/logs/"
	all, err := filepath.Glob(folder + "*.jsonl")
	require.NoError(t, err)
	var logs []string
	for _, log := range all {
		// A driver that was killed sends no span of what was open, and no application.
		if name := filepath.Base(log); !strings.HasPrefix(name, "killed-") && name != "no-start.jsonl" {
			logs = append(logs, log)
		}
	}
	require.GreaterOrEqual(t, len(logs), 12)
	named, name := renamedLog(t, folder+"static.jsonl", "token=hunter "+strings.Repeat("n", 300))
	logs = append(logs, named, failedLog(t, folder+"null-metrics.jsonl"))
	plugin := map[string][]string{}
	for line := range strings.Lines(pluginMain(t, "SpanTable", logs...)) {
		log, span, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		plugin[log] = append(plugin[log], span)
	}
	for _, log := range logs {
		require.ElementsMatch(t, importedSpans(t, log), plugin[log], filepath.Base(log))
	}
	all = plugin[named]
	root := all[slices.IndexFunc(all, func(span string) bool { return strings.Contains(span, "\tapplication ") })]
	require.Equal(t, 2, strings.Count(root, name), "in the span's name and in its attribute")
	require.NotContains(t, root, "hunter")
	require.NotContains(t, root, name+"n", "it is not cut")
}

// failedLog writes a log whose job fails by the exception of a Python worker.
func failedLog(t *testing.T, log string) (path string) {
	t.Helper()
	content, err := os.ReadFile(log)
	require.NoError(t, err)
	const old = `"Job aborted due to stage failure"`
	require.Contains(t, string(content), old)
	path = filepath.Join(t.TempDir(), "failed.jsonl")
	write(t, path, strings.ReplaceAll(string(content), old, `"Job aborted due to stage failure: Task 1 in stage 1.0 failed 1 times, `+
		`most recent failure: Lost task 1.0 in stage 1.0 (TID 1) (h executor 1): org.apache.spark.api.python.PythonException: `+
		`Traceback (most recent call last):\n  File \"job.py\", line 20, in once\nValueError: first line\nsecond `+
		`line\n\n\tat a.B.c(B.scala:1)\n"`))
	return path
}

// The driver and the import find the same causes.
func TestPluginAndImportFindTheSameCauses(t *testing.T) {
	text, err := os.ReadFile("../../phases/testdata/causes.json")
	require.NoError(t, err)
	var cases []struct{ Name, Failure, Cause string }
	require.NoError(t, json.Unmarshal(text, &cases))
	var failures, want []string
	for _, c := range cases {
		failures = append(failures, c.Failure)
		first := c.Failure
		if c.Cause != "" {
			first = c.Cause + "\n" + c.Failure
		}
		want = append(want, first)
	}
	file := filepath.Join(t.TempDir(), "failures")
	write(t, file, strings.Join(failures, "\x00"))
	require.Equal(t, want, strings.Split(pluginMain(t, "CauseTable", file), "\x00"))
}

// renamedLog writes an event log of an application that has another name. It returns also
// what a span shows of that name.
func renamedLog(t *testing.T, log, name string) (path, shown string) {
	t.Helper()
	content, err := os.ReadFile(log)
	require.NoError(t, err)
	old := `"App Name":"` + strings.TrimSuffix(filepath.Base(log), ".jsonl") + `"`
	require.Contains(t, string(content), old)
	path = filepath.Join(t.TempDir(), "named.jsonl")
	write(t, path, strings.Replace(string(content), old, `"App Name":"`+name+`"`, 1))
	return path, strings.Replace(name, "hunter", "*********(redacted)", 1)[:256]
}

// importedSpans writes the spans that the driver makes as SpanTable does.
func importedSpans(t *testing.T, name string) (lines []string) {
	t.Helper()
	log, err := eventlog.Open(os.DirFS(filepath.Dir(name)), filepath.Base(name))
	require.NoError(t, err)
	engine, builder := phases.NewEngine(), spans.NewBuilder()
	_, err = log.Read(t.Context(), func(event eventlog.Event) error {
		engine.Add(event)
		builder.Add(event)
		return nil
	})
	require.NoError(t, err)
	for _, resource := range builder.Trace(engine.Result(), nil).Spans {
		for _, span := range resource.ScopeSpans[0].Spans {
			if !strings.HasPrefix(span.Name, "task ") {
				lines = append(lines, strings.ReplaceAll(spanText(span), "\n", `\n`))
			}
		}
	}
	return lines
}

func spanText(span *tracepb.Span) string {
	attributes := map[string]string{}
	for _, a := range span.Attributes {
		attributes[a.Key] = javaText(a.Value)
	}
	var pairs, links []string
	for _, key := range slices.Sorted(maps.Keys(attributes)) {
		pairs = append(pairs, key+"="+attributes[key])
	}
	for _, link := range span.Links {
		links = append(links, hex.EncodeToString(link.TraceId), hex.EncodeToString(link.SpanId))
	}
	parent := "null"
	if len(span.ParentSpanId) > 0 {
		parent = hex.EncodeToString(span.ParentSpanId)
	}
	return strings.Join([]string{
		hex.EncodeToString(span.TraceId), hex.EncodeToString(span.SpanId), parent, span.Name,
		fmt.Sprint(span.StartTimeUnixNano), fmt.Sprint(span.EndTimeUnixNano),
		fmt.Sprint(span.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR),
		"{" + strings.Join(pairs, ", ") + "}", "[" + strings.Join(links, ", ") + "]",
	}, "\t")
}

// javaText writes a value as Java's toString does.
func javaText(value *commonpb.AnyValue) string {
	switch v := value.Value.(type) {
	case *commonpb.AnyValue_DoubleValue:
		text := strconv.FormatFloat(v.DoubleValue, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	case *commonpb.AnyValue_IntValue:
		return strconv.FormatInt(v.IntValue, 10)
	case *commonpb.AnyValue_BoolValue:
		return strconv.FormatBool(v.BoolValue)
	}
	return value.GetStringValue()
}
