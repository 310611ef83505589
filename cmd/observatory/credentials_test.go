package main_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without a cloud there is no key pair: none is made for whoever asks.
func TestCredentialsNeedACloud(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	o := observatory(t, root, nil, "credentials", "--state", state)
	require.NotZero(t, o.code)
	require.Contains(t, o.stderr, "find the local cloud whose key pair is asked for")
	require.Empty(t, o.stdout)
	require.NoFileExists(t, filepath.Join(state, "credentials.json"))
}
