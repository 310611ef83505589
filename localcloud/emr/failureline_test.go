package emr

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What EMR says of a failure is text of an error. Of a program that only ends itself it has
// none.
func TestFailureLine(t *testing.T) {
	const info = "26/11/27 10:00:09 INFO MetricsSystemImpl: s3a-file-system metrics system shutdown complete.\n"
	for text, want := range map[string]string{
		info: "", "no such table\n" + info: "", "26/11/27 10:00:09 WARN Client: Error: retried\n": "", "": "",
		info + "ValueError: no\n" + info:                                "ValueError: no",
		"before\nCaused by: java.io.IOException: no such bucket\nafter": "Caused by: java.io.IOException: no such bucket",
	} {
		file := filepath.Join(t.TempDir(), "stderr")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.Equal(t, want, failureLine(file))
	}
	require.Empty(t, failureLine(filepath.Join(t.TempDir(), "none")))
}
