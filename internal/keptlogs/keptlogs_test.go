package keptlogs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/keptlogs"
)

// testWithResult is a testing.TB whose Failed returns a given result.
type testWithResult struct {
	testing.TB
	failed bool
}

func (o testWithResult) Failed() bool { return o.failed }

func TestCopyKeepsLogsOfFailedTestsOnly(t *testing.T) {
	root, kept := t.TempDir(), t.TempDir()
	t.Setenv(keptlogs.DirEnv, kept)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "pod/var/log"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "pod/var/log/container.log"), []byte("a line"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "pod/data"), []byte("no log"), 0o600))

	files := func() []string {
		found, err := filepath.Glob(filepath.Join(kept, "*", "pod/*"))
		require.NoError(t, err)
		return found
	}
	keptlogs.Copy(testWithResult{t, false}, root)
	require.Empty(t, files())
	keptlogs.Copy(testWithResult{t, true}, root)
	require.Len(t, files(), 1)
	logs, err := filepath.Glob(filepath.Join(kept, "*", "pod/var/log/container.log"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	body, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	require.Equal(t, "a line", string(body))
}
