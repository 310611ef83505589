package changes

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// replacedCluster returns the replacement of a cluster.
func replacedCluster(before, after map[string]any, paths ...string) Change {
	return Change{Type: typeCluster, Effect: Replaced, Paths: paths, old: before, new: after}
}

func TestFleetsAreReconfiguredByTheirOwnCall(t *testing.T) {
	fleets := map[string]any{"masterInstanceFleet": map[string]any{}, "coreInstanceFleet": map[string]any{}}
	require.Equal(t, "reconfigure the running fleets with `aws emr modify-instance-fleet`, and make the edit with the next cluster",
		inPlace(replacedCluster(fleets, fleets, "configurationsJson")))
}

// A replacement that the program asks for names no input.
func TestAnotherShapeIsExplainedWithoutPaths(t *testing.T) {
	object := map[string]any{}
	groups := map[string]any{"masterInstanceGroup": object, "coreInstanceGroup": object}
	fleets := map[string]any{"masterInstanceFleet": object, "coreInstanceFleet": object}
	alone := map[string]any{"masterInstanceGroup": object}
	for want, inputs := range map[string][2]map[string]any{
		"EMR cannot change a running cluster from groups to fleets, or back":                                          {groups, fleets},
		"EMR cannot add the core nodes of a running cluster, or remove all of them":                                   {groups, alone},
		"EMR cannot take `ebs` away from the groups and fleets of a running cluster, and only resizes its task fleet": {fleets, fleets},
	} {
		require.Equal(t, want, inPlace(replacedCluster(inputs[0], inputs[1])))
		require.Equal(t, want, inPlace(replacedCluster(inputs[1], inputs[0])))
	}
}
