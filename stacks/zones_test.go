package stacks_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
)

// TestZonesOfAStackStay takes a stack without named zones through a change of what
// EC2 offers: a new stack would get other zones, the existing one keeps its own. An
// edit that its zone does not offer is refused before anything changes.
func TestZonesOfAStackStay(t *testing.T) {
	values := auto.ConfigMap{}
	for k, v := range trial.Values(t, "dev") {
		values[k] = auto.ConfigValue{Value: v}
	}
	values[platform.Project+":network"] = auto.ConfigValue{Value: `{"cidr":"10.0.0.0/16"}`}
	options := rehearse.Options{
		Project: platform.Project, Stack: "dev", Config: values, PulumiCommand: trial.Pulumi(t), WorkDir: t.TempDir(),
		Providers: simulator.Options{Unoffered: map[string][]string{"us-east-1a": {"m5.xlarge"}}},
	}
	program := trial.Program(trial.Materials(t))
	onStage := func(o rehearse.Options, f func(auto.Stack)) {
		stage, err := rehearse.Open(t.Context(), program, o)
		require.NoError(t, err)
		f(stage.Stack)
		require.NoError(t, stage.Close())
	}
	onStage(options, func(s auto.Stack) {
		_, err := s.Up(t.Context()) // starts nothing in us-east-1a, where the provider servers would refuse it
		require.NoError(t, err)
	})

	options.Providers.Unoffered = map[string][]string{"us-east-1c": {"m5.xlarge"}} // a new stack: us-east-1a and b
	onStage(options, func(s auto.Stack) {
		up, err := s.Up(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"same"}, slices.Collect(maps.Keys(*up.Summary.ResourceChanges)))
	})

	options.Providers.Unoffered = map[string][]string{"us-east-1b": {"r5.xlarge"}}
	options.Config = maps.Clone(values)
	options.Config[platform.Project+":clusters"] = auto.ConfigValue{Value: `{"main":{"core":{"instanceType":"r5.xlarge"}}}`}
	onStage(options, func(s auto.Stack) {
		_, err := s.Preview(t.Context())
		require.ErrorContains(t, err, "us-east-1b does not offer r5.xlarge")
		require.ErrorContains(t, err, "zones that offer all: us-east-1a, us-east-1c")
	})
}
