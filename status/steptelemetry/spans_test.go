package steptelemetry_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

const traceID = "0af7651916cd43dd8448eb211c80319c"

func traceparent(trace, span, flags string) []string {
	return []string{"--conf", platform.SparkTraceparent + "=00-" + trace + "-" + span + "-" + flags}
}

func TestSpanOfASubmittedStep(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	args := append(traceparent(traceID, "b7ad6b7169203331", "01"), "--conf", platform.SparkStepParent+"=00f067aa0ba902b7")
	id := w.add(t, cluster, "daily", args...)
	w.run(t, cluster, types.StepStateFailed, id)
	r := w.recorder(t)
	r.Round(t.Context(), time.Now())
	require.Empty(t, w.received(), "its log may name its applications")
	r.Round(t.Context(), afterLogs())
	require.Empty(t, r.Problems())
	spans := w.received()
	require.Len(t, spans, 1)
	got := spans[0]
	require.Equal(t, traceID+"-b7ad6b7169203331", got.ids())
	require.Equal(t, "00f067aa0ba902b7", hex.EncodeToString(got.ParentSpanId))
	require.Equal(t, "step daily", got.Name)
	require.Equal(t, map[string]string{
		"service.name": "emr-step", "cluster": cluster, "node.role": "master", "host.name": "ip-10-0-0-5",
	}, got.labels)
	require.Equal(t, map[string]string{
		"emr.step.id": id, "emr.step.name": "daily", "emr.step.state": "FAILED", "spark.kind": "step",
	}, got.attributes())
	require.Equal(t, tracepb.Status_STATUS_CODE_ERROR, got.Status.Code)
	require.Equal(t, "Unknown Error.: no such day", got.Status.Message)
	require.WithinDuration(t, time.Now(), time.Unix(0, int64(got.StartTimeUnixNano)), time.Minute)
	require.GreaterOrEqual(t, got.EndTimeUnixNano, got.StartTimeUnixNano)
	r.Round(t.Context(), afterLogs())
	require.Empty(t, w.received(), "once")
}

func TestSpanOfAStepThatNobodyTraced(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	plain := w.add(t, cluster, "plain", "--class", "Main", "s3://b/a.jar")
	broken := w.add(t, cluster, "broken", traceparent("0af7", "b7ad", "01")...)
	w.run(t, cluster, types.StepStateCompleted, plain, broken)
	w.recorder(t).Round(t.Context(), afterLogs())
	spans := w.received()
	require.Len(t, spans, 2)
	for i, id := range []string{broken, plain} { // the newest first
		trace, span := platform.TraceID(id), platform.StepSpanID(id)
		require.Equal(t, hex.EncodeToString(trace[:])+"-"+hex.EncodeToString(span[:]), spans[i].ids())
		require.Empty(t, spans[i].ParentSpanId)
		require.NotEqual(t, tracepb.Status_STATUS_CODE_ERROR, spans[i].Status.GetCode())
	}
}

// A decision in the arguments is obeyed; the ratio decides on all others.
func TestSampledStepsOnly(t *testing.T) {
	const other = "4bf92f3577b34da6a3ce929d0e0e4736"
	for name, test := range map[string]struct {
		tracing status.Tracing
		want    []string
	}{
		"all":  {status.Tracing{Enabled: true, Ratio: 1}, []string{"plain", "kept"}},
		"none": {status.Tracing{Enabled: true}, []string{"kept"}},
		"off":  {status.Tracing{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.tracing = test.tracing
			cluster := w.cluster(t)
			w.run(t, cluster, types.StepStateCompleted,
				w.add(t, cluster, "kept", traceparent(traceID, "b7ad6b7169203331", "01")...),
				w.add(t, cluster, "dropped", traceparent(other, "00f067aa0ba902b7", "00")...),
				w.add(t, cluster, "plain"))
			r := w.recorder(t)
			r.Round(t.Context(), afterLogs())
			var names []string
			for _, span := range w.received() {
				names = append(names, span.attributes()["emr.step.name"])
			}
			require.Equal(t, test.want, names)
			require.EqualValues(t, 3, w.sum(cluster)["COMPLETED"], "metrics do not depend on it")
		})
	}
}

// Each of the steps that run at once belongs to its own trace, and none has a parent
// that was not named.
func TestStepsAtOnceHaveTheirOwnParents(t *testing.T) {
	w := newWorld(t)
	clusters := []string{w.cluster(t), w.cluster(t)}
	want := map[string]string{} // span -> parent
	var ids [2][]string
	for i := range 8 {
		trace, span, parent := fmt.Sprintf("%032x", 100+i), fmt.Sprintf("%016x", 200+i), fmt.Sprintf("%016x", 300+i)
		args := traceparent(trace, span, "01")
		switch i % 4 {
		case 0:
			args = append(args, "--conf="+platform.SparkStepParent+"="+parent)
		case 1:
			parent = ""
		case 2:
			args = append(args, "--conf", platform.SparkStepParent+"="+span) // it cannot be its own
			parent = ""
		default:
			args = append(args, "--conf", platform.SparkStepParent+"=none")
			parent = ""
		}
		want[trace+"-"+span] = parent
		ids[i%2] = append(ids[i%2], w.add(t, clusters[i%2], "etl.py", args...))
	}
	for i, of := range ids {
		for _, id := range of { // all start before one ends
			require.NoError(t, w.store.SetStepState(clusters[i], id, types.StepStateRunning, nil))
		}
	}
	r := w.recorder(t)
	r.Round(t.Context(), afterLogs())
	require.Empty(t, w.received())
	for i, of := range ids {
		for _, id := range of {
			require.NoError(t, w.store.SetStepState(clusters[i], id, types.StepStateCompleted, nil))
		}
	}
	r.Round(t.Context(), afterLogs())
	got := map[string]string{}
	for _, span := range w.received() {
		got[span.ids()] = hex.EncodeToString(span.ParentSpanId)
		require.Contains(t, clusters, span.labels["cluster"])
	}
	require.Equal(t, want, got)
}

func TestStepThatNeverStartedHasNoSpan(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	id := w.add(t, cluster, "cancelled")
	require.NoError(t, w.store.SetStepState(cluster, id, types.StepStateCancelled, nil))
	r := w.recorder(t)
	r.Round(t.Context(), time.Now())
	require.Empty(t, w.received())
	require.Equal(t, map[string]int64{"CANCELLED": 1}, w.sum(cluster))
	r.Round(t.Context(), time.Now())
	require.Equal(t, map[string]int64{"CANCELLED": 1}, w.sum(cluster), "counted once")
}

// The last step of each name has its duration, as long as it is among the latest.
func TestMetricsOfSteps(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	w.run(t, cluster, types.StepStateCompleted, w.add(t, cluster, "daily"))
	w.run(t, cluster, types.StepStateFailed, w.add(t, cluster, "daily"), w.add(t, cluster, "hourly"))
	w.add(t, cluster, "waiting")
	w.recorder(t).Round(t.Context(), afterLogs())
	require.Equal(t, map[string]int64{"COMPLETED": 1, "FAILED": 2}, w.sum(cluster))
	w.mu.Lock()
	defer w.mu.Unlock()
	duration := w.points[cluster+" observatory.step.duration"]
	require.Equal(t, "s", duration.Unit)
	var got []map[string]string
	for _, p := range duration.GetGauge().DataPoints {
		got = append(got, labelsOf(p.Attributes))
		require.Less(t, p.GetAsDouble(), 60.0)
	}
	require.ElementsMatch(t, []map[string]string{
		{"step_name": "daily", "step_state": "FAILED"}, {"step_name": "hourly", "step_state": "FAILED"},
	}, got)
	require.True(t, w.points[cluster+" observatory.step.count"].GetSum().IsMonotonic)
}

// The span of a failed step has the cause that its log names, once the log had time to arrive.
func TestSpanOfAFailedStepHasItsCause(t *testing.T) {
	w := newWorld(t)
	w.logs = storetest.Logs(t)
	cluster := w.cluster(t)
	id := w.add(t, cluster, "raises")
	w.run(t, cluster, types.StepStateFailed, id)
	record := fmt.Sprintf(`{"_time":%q,"_msg":"Traceback (most recent call last):\nValueError: no orders","service.name":%q,%q:%q}`,
		time.Now().UTC().Format(time.RFC3339Nano), platform.ServiceStep, platform.StepID, id)
	response, err := http.Post(w.logs+"/insert/jsonline?_stream_fields=service.name", "application/stream+json", strings.NewReader(record))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	storetest.Get(t, w.logs+"/internal/force_flush")
	r := w.recorder(t)
	r.Round(t.Context(), time.Now())
	require.Empty(t, w.received())
	r.Round(t.Context(), afterLogs())
	spans := w.received()
	require.Len(t, spans, 1)
	require.Equal(t, "ValueError: no orders", spans[0].Status.Message)
}
