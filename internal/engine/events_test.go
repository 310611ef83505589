package engine

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/progress"
)

// An engine that refuses its arguments ends before its first event, and never closes
// the stream.
func TestOperationThatFailsWithoutEventsEnds(t *testing.T) {
	err := logEvents(t.Context(), progress.New(t.Output()), func(chan<- events.EngineEvent) error { return errors.New("refused") })
	require.ErrorContains(t, err, "refused")
}

// What the engine says of an operation names no resource.
func TestDiagnosticsNameTheirResource(t *testing.T) {
	for want, event := range map[string]apitype.DiagnosticEvent{
		"update canceled":                   {Message: "update canceled\n"},
		"aws:s3/bucket:Bucket data: denied": {Message: "denied", URN: "urn:pulumi:local::emr-observatory::aws:s3/bucket:Bucket::data"},
	} {
		require.Equal(t, want, diagnostic(event))
	}
}
