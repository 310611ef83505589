package engine

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/progress"
)

// An engine that refuses its arguments ends before its first event, and never closes
// the stream.
func TestOperationThatFailsWithoutEventsEnds(t *testing.T) {
	err := logEvents(t.Context(), progress.New(t.Output()), func(chan<- events.EngineEvent) error { return errors.New("refused") })
	require.ErrorContains(t, err, "refused")
}
