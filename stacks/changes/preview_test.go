package changes

import (
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/stretchr/testify/require"
)

// An engine that refuses the configuration ends before its first event, and never
// closes the stream.
func TestEngineThatFailsWithoutEventsIsReported(t *testing.T) {
	plan, err := follow(t.Context(), "preview", func(chan<- events.EngineEvent) error { return errors.New("wrong type") })
	require.EqualError(t, err, "preview: wrong type")
	require.Empty(t, plan)
}
