package phases_test

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/platform"
)

// engineTolerance is how far the plugin and the Go engine may be apart.
const engineTolerance = 10 // ms

// requirePlugin compares what the plugin sent with the Go engine's division.
func (r *run) requirePlugin(t *testing.T, want phases.Result) {
	t.Helper()
	id := r.application(t)
	root := r.awaitRoot(t, id)
	r.awaitEnd(t, id) // metrics follow spans
	var segments []phases.Segment
	for _, s := range r.received.spansOf(id) {
		if s.values["spark.kind"] == string(platform.SpanPhase) {
			segments = append(segments, phases.Segment{
				Phase: platform.Phase(s.values["spark.phase"]), From: millis(t, s.Start), To: millis(t, s.End),
			})
		}
	}
	require.InDelta(t, want.Begin, millis(t, root.Start), engineTolerance, "begin")
	require.InDelta(t, want.End, millis(t, root.End), engineTolerance, "end")
	for _, phase := range platform.Phases() {
		attribute, err := strconv.ParseFloat(root.values["spark.phase."+string(phase)+".seconds"], 64)
		require.NoError(t, err, "%s: %v", phase, root.values)
		require.InDelta(t, want.Phases[phase], 1000*attribute, engineTolerance, "%s on the application's span", phase)
		require.InDelta(t, want.Phases[phase], 1000*r.finalGauge(t, id, metricOf(phase)), engineTolerance, "%s as a metric", phase)
	}
	requireSegments(t, want.Segments, segments)
	r.requireTree(t, id, nil)
}

// mostSegments is how many phases of an application have a span: the longest
// (observatory.spark.Limits).
const mostSegments = 1000

// requireSegments compares the spans of the phases with the Go engine's segments.
func requireSegments(t *testing.T, want, got []phases.Segment) {
	t.Helper()
	require.Len(t, got, min(len(want), mostSegments), "%v\n%v", want, got)
	if len(want) > mostSegments {
		return // the shortest are left out
	}
	slices.SortFunc(got, func(a, b phases.Segment) int { return cmp.Compare(a.From, b.From) })
	for i, s := range got {
		require.Equal(t, want[i].Phase, s.Phase, "%d of %v\n%v", i, want, got)
		require.InDelta(t, want[i].From, s.From, engineTolerance, "begin of %v", want[i])
		require.InDelta(t, want[i].To, s.To, engineTolerance, "end of %v", want[i])
	}
}

// metricOf returns the emitted name of the seconds of a phase.
func metricOf(phase platform.Phase) string {
	if phase == platform.PhaseResourceWait {
		return "spark.resource_wait"
	}
	return "spark.phase." + string(phase)
}

// awaitRoot returns the application's span.
func (r *run) awaitRoot(t *testing.T, id string) (root sentSpan) {
	t.Helper()
	err := testenv.Poll(t.Context(), testenv.Answer, 100*time.Millisecond, func(context.Context) error {
		for _, s := range r.received.spansOf(id) {
			if s.values["spark.kind"] == string(platform.SpanApplication) {
				root = s
				return nil
			}
		}
		return fmt.Errorf("%s (%s) sent no span of the application", r.name, id)
	})
	require.NoError(t, err)
	return root
}

// awaitEnd waits for the metrics that the application's driver sends at its end.
func (r *run) awaitEnd(t *testing.T, id string) {
	t.Helper()
	err := testenv.Poll(t.Context(), testenv.Answer, 100*time.Millisecond, func(context.Context) error {
		if points := r.received.pointsOf(id, "spark.application.ended"); len(points) == 0 || points[len(points)-1].value != 1 {
			return fmt.Errorf("%s (%s) sent no final metrics", r.name, id)
		}
		return nil
	})
	require.NoError(t, err)
}

func (r *run) finalGauge(t *testing.T, id, metric string) float64 {
	t.Helper()
	points := r.received.pointsOf(id, metric)
	require.NotEmpty(t, points, "%s of %s", metric, id)
	return points[len(points)-1].value
}

// metricOfState is the metric of the phase of the moment.
const metricOfState = "spark.phase.state"

// stateOf returns its value in a phase.
func stateOf(phase platform.Phase) float64 { return float64(slices.Index(platform.Phases(), phase)) }

// requireStates requires that phases were those of the moment at one export or more each,
// first seen in this order.
func (r *run) requireStates(t *testing.T, id string, want ...platform.Phase) {
	t.Helper()
	points := r.received.pointsOf(id, metricOfState)
	last := -1
	for _, phase := range want {
		first := slices.IndexFunc(points, func(p sentPoint) bool { return p.value == stateOf(phase) })
		require.Greater(t, first, last, "%s is missing or too early: %v", phase, points)
		last = first
	}
}

// requireTree fails if a span of the application has a parent that never arrived, is
// there twice, or is in another's trace. given are the spans of others that it was
// told to join, with their traces.
func (r *run) requireTree(t *testing.T, id string, given map[string]string) {
	t.Helper()
	spans, known := r.received.spansOf(id), map[string]string{}
	for _, s := range spans {
		require.NotContains(t, known, s.SpanID, "%s twice", s.Name)
		known[s.SpanID] = s.TraceID
	}
	root := applicationSpan(id, r.attempt())
	require.Contains(t, known, root, "the application's span has the id that everybody can compute")
	for span, trace := range given {
		known[span] = trace
	}
	for _, s := range spans {
		if s.SpanID == root && s.ParentID == "" {
			continue
		}
		if r.nth > 0 && s.TraceID != known[root] {
			continue // of an attempt that was killed before its outer spans ended
		}
		require.Contains(t, known, s.ParentID, "the parent of %s", s.Name)
		require.Equal(t, known[s.ParentID], s.TraceID, "the trace of %s and of its parent", s.Name)
	}
}

// attempt is YARN's attempt of the application: Spark names none in client mode.
func (r *run) attempt() string {
	if r.inCluster {
		return strconv.Itoa(r.nth + 1)
	}
	return ""
}

func applicationSpan(id, attempt string) string {
	span := platform.SpanID(id, attempt, platform.SpanApplication, "0")
	return hex.EncodeToString(span[:])
}

func millis(t *testing.T, nanos fmt.Stringer) int64 {
	t.Helper()
	n, err := strconv.ParseInt(nanos.String(), 10, 64)
	require.NoError(t, err)
	return n / 1e6
}
