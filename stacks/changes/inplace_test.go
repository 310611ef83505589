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
