package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The applications that the local cloud runs give the committed bytes: a change of
// their version is a change of this file.
func TestRefreshGivesTheCommittedProperties(t *testing.T) {
	fresh, err := refreshProperties(t.Context(), t.TempDir())
	require.NoError(t, err)
	committed, err := os.ReadFile("../properties.json")
	require.NoError(t, err)
	require.Equal(t, string(committed), string(fresh), "run `make facts`")
}

func TestDeprecatedNamesBelongToAllOfHadoop(t *testing.T) {
	out, err := classify([]byte("yarn-site\tb\ncore-site\ta\ndeprecated\tc\nspark-defaults\ts\n"))
	require.NoError(t, err)
	require.Equal(t, "core-site", out[0].Name)
	require.Equal(t, []string{"a", "c"}, out[0].Properties)
	require.Equal(t, []string{"s"}, out[1].Properties)
	require.Equal(t, []string{"b", "c"}, out[2].Properties)
	_, err = classify([]byte("yarn-site b\n"))
	require.ErrorContains(t, err, "no tab")
}
