package outputs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

func TestFindCluster(t *testing.T) {
	lake := outputs.Cluster{ID: "j-1", Name: "emr-observatory-dev-lake"}
	reports := outputs.Cluster{Name: "emr-observatory-dev-reports"}
	both := outputs.Outputs{Clusters: map[string]outputs.Cluster{"lake": lake, "reports": reports}}
	require.Equal(t, []string{"lake"}, both.Running())
	for _, name := range []string{"", "lake", "j-1", lake.Name} {
		found, err := both.FindCluster(name)
		require.NoError(t, err, name)
		require.Equal(t, lake, found)
	}
	for _, name := range []string{"reports", reports.Name} {
		_, err := both.FindCluster(name)
		require.ErrorContains(t, err, "each run of its schedules starts one of reports; give the id (j-…)")
	}
	_, err := both.FindCluster("other")
	require.ErrorContains(t, err, "must be a cluster of the stack, which has lake;")
	_, err = outputs.Outputs{Clusters: map[string]outputs.Cluster{"reports": reports}}.FindCluster("")
	require.ErrorContains(t, err, "each run of its schedules starts one of reports")
	_, err = outputs.Outputs{}.FindCluster("")
	require.ErrorContains(t, err, "the stack has no cluster of its own")
}
