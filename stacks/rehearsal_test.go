package stacks_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
)

// TestStackLifecycle runs preview, up, a second up and destroy of the whole
// program on the real engine. The provider servers check every input as the
// services would.
func TestStackLifecycle(t *testing.T) {
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
		})
	}
}
