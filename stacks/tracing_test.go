package stacks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks"
)

// inputs returns all inputs of the resources that a configuration registers, as JSON.
func inputs(t *testing.T, tracing string) string {
	t.Helper()
	cfg := parseConfig(t, map[string]string{"tracing": tracing})
	rec, err := recorder.Run(func(ctx *pulumi.Context) error { return stacks.Build(ctx, cfg, trial.Materials(t)) }, trial.Answers()...)
	require.NoError(t, err)
	var all strings.Builder
	for _, r := range rec.Resources {
		fmt.Fprintf(&all, "%v\n", r.Inputs.Mappable())
	}
	return all.String()
}

// Jobs and steps have the same ratio, and no key where tracing is off.
func TestOneRatioServesJobsAndSteps(t *testing.T) {
	const flag = "--sampling-ratio"
	on := inputs(t, `{"samplingRatio":0.25}`)
	require.Contains(t, on, platform.SparkSamplingRatio+`":"0.25"`)
	require.Contains(t, on, flag)
	off := inputs(t, `{"enabled":false,"endpoint":"otlp.example.com:4317"}`)
	require.NotContains(t, off, "spark.observatory.tracing")
	require.NotContains(t, off, flag)
	require.NotContains(t, off, "otlp.example.com")
}
