package status_test

import (
	"encoding/hex"
	"log/slog"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// The trace of a step is named if it will have the step's span.
func TestTraceOfAStep(t *testing.T) {
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	api, err := emrapi.New(store, emrapitest.NoNodes{}, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	t.Cleanup(api.Close)
	client := clientOf(t, api)
	cluster := emrapitest.PutCluster(t, store)
	var ids []string
	for _, flags := range []string{"", "-00", "-01"} {
		args := []string{"spark-submit"}
		if flags != "" {
			args = append(args, "--conf", platform.SparkTraceparent+"=00-"+traceID+"-b7ad6b7169203331"+flags)
		}
		added, err := store.AddSteps(cluster, types.StepConfig{
			Name: aws.String("a"), ActionOnFailure: types.ActionOnFailureContinue,
			HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: args},
		})
		require.NoError(t, err)
		ids = append(ids, added...)
	}
	own, err := store.AddSteps(cluster, types.StepConfig{
		Name: aws.String("own ratio"), ActionOnFailure: types.ActionOnFailureContinue,
		HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: []string{
			"spark-submit", "--conf", platform.SparkSamplingRatio + "=0", "--conf", platform.SparkSamplingRatio + "=1",
		}},
	})
	require.NoError(t, err)
	hashed, ownTrace := platform.TraceID(ids[0]), platform.TraceID(own[0])
	for ratio, want := range map[string][]string{
		"1": {hex.EncodeToString(hashed[:]), "", traceID, hex.EncodeToString(ownTrace[:])},
		"0": {"", "", traceID, hex.EncodeToString(ownTrace[:])}, "": {"", "", "", ""},
	} {
		tracing, err := status.ParseTracing(ratio)
		require.NoError(t, err)
		steps, _, err := status.NewStepReader(client, tracing).List(t.Context(), &emr.ListStepsInput{ClusterId: &cluster})
		require.NoError(t, err)
		require.Equal(t, want, []string{steps[3].TraceID, steps[2].TraceID, steps[1].TraceID, steps[0].TraceID}, "ratio %q", ratio)
	}
	for _, wrong := range []string{"half", "-0.1", "1.1", "NaN"} {
		_, err := status.ParseTracing(wrong)
		require.ErrorContains(t, err, "must be a number from 0 to 1")
	}
}
