package changes_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

var update = flag.Bool("update", false, "write the rendered files")

// requireReference compares docs/reference/changes.md with the rows: all of it, or each
// of these rows.
func requireReference(t *testing.T, rows []changes.Row, all bool) {
	t.Helper()
	at := filepath.Join(trial.Root(t), "docs/reference/changes.md")
	if *update {
		require.NoError(t, os.WriteFile(at, changes.Reference(rows), 0o644))
	}
	got, err := os.ReadFile(at)
	require.NoError(t, err)
	const stale = "stale: run `make generate`"
	if all {
		require.Equal(t, string(changes.Reference(rows)), string(got), stale)
		return
	}
	for line := range strings.Lines(string(changes.Reference(rows))) {
		require.Contains(t, string(got), line, stale)
	}
}
