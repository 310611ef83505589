package steptelemetry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
)

// sends makes VictoriaMetrics know what the driver of a step's application has sent: 100 s, of
// which spilling cost 30.
func (w *world) sends(t *testing.T, cluster, step, application string, ended int) {
	t.Helper()
	values := map[string]float64{
		platform.MetricSparkWall: 100, platform.MetricPhaseApproximate: 0, platform.MetricApplicationEnded: float64(ended),
		platform.PhaseCompute.Metric(): 100, `spark_stage_cost_seconds_total{rule="spill"`: 30,
		platform.MetricApplicationInfo + `{step_id="` + step + `"`: 1,
	}
	var lines strings.Builder
	for series, value := range values {
		if !strings.Contains(series, "{") {
			series += "{"
		} else {
			series += ","
		}
		fmt.Fprintf(&lines, "%scluster=%q,host_name=\"ip-10-0-0-5\",spark_app_id=%q} %v %d\n", series, cluster, application, value,
			time.Now().Add(-time.Second).UnixMilli())
	}
	storetest.Post(t, w.metrics+"/api/v1/import/prometheus", "text/plain", []byte(lines.String()))
	storetest.Get(t, w.metrics+"/internal/force_flush")
}

// verdicts returns what a span says of its step's applications.
func (s span) verdicts() (all []string) {
	at := slices.IndexFunc(s.Attributes, func(a *commonpb.KeyValue) bool { return a.Key == string(platform.StepVerdicts) })
	if at < 0 {
		return nil
	}
	for _, value := range s.Attributes[at].Value.GetArrayValue().Values {
		all = append(all, value.GetStringValue())
	}
	return all
}

// A step's span waits for the last metrics of its application, and says what they show. A
// killed driver sends none: the span then has what came before.
func TestSpansHaveVerdicts(t *testing.T) {
	w := newWorld(t)
	cluster := w.cluster(t)
	ended, killed := w.add(t, cluster, "ended"), w.add(t, cluster, "killed")
	w.run(t, cluster, types.StepStateCompleted, ended, killed)
	w.sends(t, cluster, ended, "application_17_0001", 0)
	w.sends(t, cluster, killed, "application_17_0002", 0)
	r := w.recorder(t)
	r.Round(t.Context(), time.Now())
	require.Empty(t, w.received(), "the drivers may send more")
	w.sends(t, cluster, ended, "application_17_0001", 1)
	r.Round(t.Context(), time.Now())
	first := w.received()
	require.Equal(t, []string{ended}, stepsOf(first))
	require.Len(t, first[0].verdicts(), 1)
	require.Contains(t, first[0].verdicts()[0], "driver 0 %; spill to disk cost up to 30 s (30 %), try spark.sql.shuffle.partitions")
	r.Round(t.Context(), afterLogs())
	last := w.received()
	require.Equal(t, []string{killed}, stepsOf(last), "each span is sent once")
	require.Contains(t, last[0].verdicts()[0], "driver 0 % (approximate); spill to disk")
}
