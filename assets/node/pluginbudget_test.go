package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of the executors' 6,000 spans samples may take 4,000; tasks that fail have the rest, also
// where samples have spent all that they may. An executor counts what it drops, whether
// the driver answers or not.
func TestFailedTasksHaveSpansAfterTheSamples(t *testing.T) {
	want := "samples 3990, failed 2010\ndropped 7001, known 7001, of the driver 0\nspark.span.dropped budget = 7001.0\n"
	require.Equal(t, want, pluginMain(t, "Grants"))
}
