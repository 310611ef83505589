package local

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/progress"
)

func TestRemoveStateRemovesOnlyAStateFolder(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.MkdirAll(filepath.Join(state+".removing", "left"), 0o755))
	lock, err := lockState(state)
	require.NoError(t, err)
	require.NoError(t, removeState(t.Context(), state, lock))
	require.NoDirExists(t, state)
	require.NoDirExists(t, state+".removing")

	other := t.TempDir()
	require.ErrorContains(t, removeState(t.Context(), other, flock.New(filepath.Join(other, "x"))), "does not look like")
	require.DirExists(t, other)
}

// An up that finds a down's marker finishes that down first.
func TestLockAfterRecoveryFinishesAnInterruptedDown(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.MkdirAll(filepath.Join(state, "pulumi"), 0o755))
	require.NoError(t, os.WriteFile(lockPath(state), nil, 0o600))
	var printed bytes.Buffer
	lock, err := lockAfterRecovery(t.Context(), state, progress.New(&printed))
	require.NoError(t, err)
	require.DirExists(t, filepath.Join(state, "pulumi"), "nothing was interrupted")
	require.NoError(t, lock.Unlock())

	require.NoError(t, os.WriteFile(destroyMarkerPath(state), nil, 0o600))
	lock, err = lockAfterRecovery(t.Context(), state, progress.New(&printed))
	require.NoError(t, err)
	defer func() { _ = lock.Unlock() }()
	require.NoDirExists(t, filepath.Join(state, "pulumi"))
	require.NoFileExists(t, destroyMarkerPath(state))
	require.Contains(t, printed.String(), "interrupted")
	_, err = lockState(state)
	require.ErrorContains(t, err, "another observatory command")
}
