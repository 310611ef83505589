package stacks_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
)

// The stack pr runs on spot. A preview in an account without the role names the
// command that creates it; dev, on demand, does not look.
func TestPreviewRefusesSpotWithoutTheAccountsRole(t *testing.T) {
	engine, program := trial.Pulumi(t), trial.Program(trial.Materials(t))
	for stack, needed := range map[string]bool{"pr": true, "dev": false} {
		values := auto.ConfigMap{}
		for k, v := range trial.Values(t, stack) {
			values[k] = auto.ConfigValue{Value: v}
		}
		stage, err := rehearse.Open(t.Context(), program, rehearse.Options{
			Project: platform.Project, Stack: stack, Config: values, PulumiCommand: engine, WorkDir: t.TempDir(),
			Existing: existingNetwork(t, stack),
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, stage.Close()) })
		stage.Servers.Account.LoseServiceRole(platform.SpotService)
		_, err = stage.Stack.Preview(t.Context())
		if !needed {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "clusters.main.core.bidPrice: ")
		require.ErrorContains(t, err, "`aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`")
	}
}
