package statefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/statefile"
)

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	value := map[string]int{"kept": 1}
	require.NoError(t, statefile.Load(path, &value), "no file")
	require.Equal(t, map[string]int{"kept": 1}, value)
	require.NoError(t, statefile.Save(path, map[string]int{"a": 2}))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	value = nil
	require.NoError(t, statefile.Load(path, &value))
	require.Equal(t, map[string]int{"a": 2}, value)
	require.ErrorContains(t, statefile.Save(path, make(chan int)), "encode "+path)
	require.NoError(t, os.WriteFile(path, []byte(`{"a"`), 0o600))
	require.ErrorContains(t, statefile.Load(path, &value), "read "+path)
}
