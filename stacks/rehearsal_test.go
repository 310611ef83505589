package stacks_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/rehearse"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/config"
)

// pulumiBinary is the engine to rehearse with.
func pulumiBinary(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("OBSERVATORY_PULUMI"); p != "" {
		return p
	}
	p, err := exec.LookPath("pulumi")
	require.NoError(t, err, "no pulumi binary: run `make tools`, or set OBSERVATORY_PULUMI to one")
	return p
}

// TestLifeOfTheStack takes the whole program through preview, up, up again
// and destroy on the real engine, with every input checked as the services
// would.
func TestLifeOfTheStack(t *testing.T) {
	engine, m := pulumiBinary(t), materials(t)
	for stack, protected := range map[string]int{"dev": 4, "local": 0} {
		t.Run(stack, func(t *testing.T) {
			values := auto.ConfigMap{}
			for k, v := range stackConfig(t, stack) {
				values[k] = auto.ConfigValue{Value: v}
			}
			program := func(ctx *pulumi.Context) error {
				cfg, err := config.Load(ctx)
				if err != nil {
					return err
				}
				return stacks.Build(ctx, cfg, m)
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
