package eventlog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
)

// A struct tag is a constant of its own: this compares it with the platform's.
func TestTraceparentOfASession(t *testing.T) {
	line := `{"Event":"SparkListenerJobStart","Job ID":1,"Submission Time":2,"Stage IDs":[3],"Properties":{"` +
		platform.SparkTraceparent + `":"session","` + platform.SparkConnectOperation + `":"s.o","spark.job.tags":"a,b",` +
		`"traceparent":"thread","callSite.short":"count at x","sql.streaming.queryId":"q","streaming.sql.batchId":"9"}}`
	var got eventlog.Event
	_, err := eventlog.Lines(t.Context(), strings.NewReader(line), "log", func(e eventlog.Event) error {
		got = e
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, &eventlog.JobStart{ID: 1, Time: 2, Stages: []eventlog.Stage{{ID: 3}}, Properties: eventlog.JobProperties{
		CallSite: "count at x", Query: "q", Batch: "9", ThreadParent: "thread", SessionParent: "session",
		Tags: "a,b", ConnectOperation: "s.o",
	}}, got)
}
