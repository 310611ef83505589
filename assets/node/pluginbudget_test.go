package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of the executors' 6,000 spans samples may take 4,000; tasks that fail have the rest, also
// where samples have spent all that they may, and however many executors there are. An
// executor counts what it drops, and the driver counts each span once, although answers are
// lost.
func TestFailedTasksHaveSpansAfterTheSamples(t *testing.T) {
	const want = "samples 3990, failed 2010\n" +
		"dropped 7001, known 7001, of the driver 0\n" +
		"known 7002, of the driver 1\n" +
		"spark.span.dropped budget = 7001.0\n" +
		"of many: samples 3000, failed 200, failed on late ones 200\n"
	require.Equal(t, want, pluginMain(t, "Grants"))
}
