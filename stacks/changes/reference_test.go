package changes_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

var update = flag.Bool("update", false, "write the rendered files")

// requireReference compares docs/reference/changes.md with the rows.
func requireReference(t *testing.T, rows []changes.Row) {
	t.Helper()
	at := filepath.Join(trial.Root(t), "docs/reference/changes.md")
	if *update {
		require.NoError(t, os.WriteFile(at, changes.Reference(rows), 0o644))
	}
	got, err := os.ReadFile(at)
	require.NoError(t, err)
	require.Equal(t, string(changes.Reference(rows)), string(got), "stale: run `make generate`")
}
