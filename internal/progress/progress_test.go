package progress_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/progress"
)

func TestWriterPrintsWholeLines(t *testing.T) {
	var out bytes.Buffer
	w := progress.New(&out).Writer()
	for _, piece := range []string{"one\r\ntw", "o\n", "\n", "not ended"} {
		n, err := w.Write([]byte(piece))
		require.NoError(t, err)
		require.Equal(t, len(piece), n)
	}
	require.Equal(t, "   0s  one\n   0s  two\n", out.String())
}

func TestStepUnlessReadyOmitsReadySteps(t *testing.T) {
	var out bytes.Buffer
	log := progress.New(&out)
	log.StepUnlessReady("tempo", "ready", 0)
	log.StepUnlessReady("pyroscope", "built", 90*time.Second)
	require.Equal(t, "   0s  pyroscope          built (1m30s)\n", out.String())
}
