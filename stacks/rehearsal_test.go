package stacks_test

import (
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
)

// TestStackLifecycle runs preview, up, a second up and destroy of the whole
// program on the real engine. The provider servers check every input as the
// services would.
func TestStackLifecycle(t *testing.T) {
	// What holds data remains, with everything that protects it.
	kept := map[string][]string{"local": {}, "dev": {
		"BucketLifecycleConfigurationV2 storage-data", "BucketLifecycleConfigurationV2 storage-logs",
		"BucketLoggingV2 storage-data",
		"BucketObjectv2 telemetry-artifact-async-profiler.jar",
		"BucketObjectv2 telemetry-artifact-connect.jar",
		"BucketObjectv2 telemetry-artifact-otelcol-linux-amd64.gz", "BucketObjectv2 telemetry-artifact-otelcol-linux-arm64.gz",
		"BucketObjectv2 telemetry-artifact-spark-plugin.jar",
		"BucketObjectv2 telemetry-bootstrap", "BucketObjectv2 telemetry-profiler-binary", "BucketObjectv2 telemetry-status-binary",
		"BucketOwnershipControls storage-data", "BucketOwnershipControls storage-logs",
		"BucketPolicy storage-data", "BucketPolicy storage-logs",
		"BucketPublicAccessBlock storage-data", "BucketPublicAccessBlock storage-logs",
		"BucketServerSideEncryptionConfigurationV2 storage-data", "BucketServerSideEncryptionConfigurationV2 storage-logs",
		"BucketV2 storage-data", "BucketV2 storage-logs",
		"BucketVersioningV2 storage-data", "BucketVersioningV2 storage-logs",
		"Key storage-key", "Volume control-data",
	}}
	engine, program := trial.Pulumi(t), trial.Program(trial.Materials(t))
	for stack, protected := range map[string]int{"dev": 4, "local": 0} {
		t.Run(stack, func(t *testing.T) {
			values := auto.ConfigMap{}
			for k, v := range trial.Values(t, stack) {
				values[k] = auto.ConfigValue{Value: v}
			}
			report, err := rehearse.Run(t.Context(), program, rehearse.Options{
				Project: platform.Project, Stack: stack, Config: values, PulumiCommand: engine, WorkDir: t.TempDir(),
			})
			t.Logf("%d resources, %d checked, %v", report.Resources, report.Checked, report.Phases)
			require.NoError(t, err)
			require.Len(t, report.Protected, protected, "%v", report.Protected)
			require.Greater(t, report.Checked, 100)
			require.Equal(t, kept[stack], namesOf(report.Kept))
		})
	}
}

// namesOf returns type and name of each URN.
func namesOf(urns []string) []string {
	out := make([]string, len(urns))
	for i, urn := range urns {
		u := resource.URN(urn)
		out[i] = string(u.Type().Name()) + " " + u.Name()
	}
	slices.Sort(out)
	return out
}
