package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The applications that the local cloud runs give the committed bytes: a change of
// their version is a change of these files.
func TestRefreshGivesTheCommittedFacts(t *testing.T) {
	folder := t.TempDir()
	for name, refresh := range map[string]func(context.Context, string) ([]byte, error){
		"properties.json": refreshProperties, "sparksettings.json": refreshSettings,
	} {
		fresh, err := refresh(t.Context(), folder)
		require.NoError(t, err)
		committed, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		require.Equal(t, string(committed), string(fresh), "run `make facts`")
	}
}

func TestDeprecatedNamesBelongToAllOfHadoop(t *testing.T) {
	out, sensitive, err := classify([]byte("yarn-site\tb\ncore-site\ta\ndeprecated\tc\nspark-defaults\ts\nsetting\ts\tint\nsensitive\tx$\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"x$"}, sensitive)
	require.Len(t, out, 3)
	require.Equal(t, "core-site", out[0].Name)
	require.Equal(t, []string{"a", "c"}, out[0].Properties)
	require.Equal(t, []string{"s"}, out[1].Properties)
	require.Equal(t, []string{"b", "c"}, out[2].Properties)
	_, _, err = classify([]byte("yarn-site b\n"))
	require.ErrorContains(t, err, "no tab")
	_, err = readSettings([]byte("setting\tspark.x\tint\n"))
	require.ErrorContains(t, err, "2 fields and not 7")
}
