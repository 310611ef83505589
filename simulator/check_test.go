package simulator_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator"
)

func TestCheckInputsAgreesWithTheServer(t *testing.T) {
	c := dial(t, "aws", simulator.Options{})
	for name, inputs := range map[string]values{
		"valid":         validCluster(),
		"unknown key":   withValue(validCluster(), 1.0, "colour").(values),
		"broken rule":   withValue(validCluster(), "7.10", "releaseLabel").(values),
		"missing value": withValue(validCluster(), absent, "masterInstanceGroup", "instanceType").(values),
	} {
		var want []string
		for _, v := range simulator.CheckInputs(clusterType, resource.NewPropertyMapFromMap(inputs)) {
			want = append(want, v.String())
		}
		require.Equal(t, name == "valid", len(want) == 0, name)
		require.Equal(t, want, c.check(clusterType, inputs), name)
	}
	require.Len(t, simulator.CheckInputs("aws:emr/clster:Clster", nil), 1)
	require.Len(t, simulator.CheckInputs("azure:a/b:B", nil), 1)
}
