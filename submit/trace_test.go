package submit_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

const (
	outerTrace = "0af7651916cd43dd8448eb211c80319c"
	outerSpan  = "b7ad6b7169203331"
)

// submitted submits a job with these properties and returns its arguments.
func (w *world) submitted(t *testing.T, conf map[string]string) (submit.Result, []string) {
	t.Helper()
	o := w.options(t, "job.py")
	o.Conf = conf
	result, err := submit.Submit(submit.WithTraceparent(t.Context()), o.WithAirflow())
	require.NoError(t, err)
	return result, w.steps[len(w.steps)-1].Config.Args
}

func TestStepContinuesAnOuterTrace(t *testing.T) {
	w := newWorldSampling(t, "0")
	for _, flags := range []string{"00", "01"} {
		t.Setenv("TRACEPARENT", "00-"+outerTrace+"-"+outerSpan+"-"+flags)
		result, args := w.submitted(t, nil)
		require.Equal(t, outerTrace, result.TraceID)
		traceparent := platform.TraceparentOf(args)
		require.Regexp(t, "^00-"+outerTrace+"-[0-9a-f]{16}-"+flags+"$", traceparent, "the outer decision, not the ratio")
		require.NotContains(t, traceparent, outerSpan, "the step has a span of its own")
		require.Equal(t, outerSpan, platform.StepParentOf(args))
	}
	t.Setenv("TRACEPARENT", "00-invalid-01")
	_, args := w.submitted(t, nil)
	require.Empty(t, platform.StepParentOf(args))
	require.Regexp(t, "-00$", platform.TraceparentOf(args), "ratio 0")
}

// The ratio is the job's own or else the cluster's; without one there is no trace.
func TestSamplingOfATraceThatBeginsWithItsStep(t *testing.T) {
	t.Setenv("TRACEPARENT", "")
	w := newWorldSampling(t, "1")
	first, args := w.submitted(t, nil)
	require.Regexp(t, "^00-"+first.TraceID+"-[0-9a-f]{16}-01$", platform.TraceparentOf(args))
	second, args := w.submitted(t, map[string]string{platform.SparkSamplingRatio: "0"})
	require.Regexp(t, "-00$", platform.TraceparentOf(args))
	require.NotEqual(t, first.TraceID, second.TraceID)

	off := newWorldSampling(t, "")
	t.Setenv("TRACEPARENT", "00-"+outerTrace+"-"+outerSpan+"-01")
	result, args := off.submitted(t, nil)
	require.Empty(t, result.TraceID)
	require.NotContains(t, strings.Join(args, " "), "spark.observatory")
	require.Equal(t, result.StepID+" COMPLETED", result.String())
}

func TestAirflowsContextReachesTheJob(t *testing.T) {
	for variable, value := range map[string]string{
		"DAG_ID": "orders", "TASK_ID": "load", "DAG_RUN_ID": "scheduled__2026-11-23", "TRY_NUMBER": "2",
	} {
		t.Setenv("AIRFLOW_CTX_"+variable, value)
	}
	t.Setenv("TRACEPARENT", "")
	w := newWorld(t)
	given := map[string]string{platform.SparkAirflowTask: "mine"}
	_, args := w.submitted(t, given)
	for _, want := range []string{
		"spark.observatory.airflow.dag_id=orders", "spark.observatory.airflow.task_id=mine",
		"spark.observatory.airflow.run_id=scheduled__2026-11-23", "spark.observatory.airflow.try_number=2",
	} {
		require.Contains(t, args, want)
	}
	require.Len(t, given, 1, "the caller's map is its own")
	require.NoError(t, os.Unsetenv("AIRFLOW_CTX_DAG_ID"))
	_, args = w.submitted(t, nil)
	require.NotContains(t, strings.Join(args, " "), "dag_id")
}
