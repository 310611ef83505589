package steptelemetry_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/emr-observatory/emr-observatory/platform"
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
