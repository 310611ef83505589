package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// slowResource is how long a resource takes before it gets a line of its own.
const slowResource = 2 * time.Second

// logEvents runs an operation of the engine and prints its events.
func logEvents(ctx context.Context, log *progress.Log, run func(chan<- events.EngineEvent) error) error {
	ch := make(chan events.EngineEvent, 64)
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		printEvents(ch, log)
	}()
	failed := run(ch)
	if _, err := changes.AwaitEvents(ctx, printed, failed); err != nil {
		return errors.Join(shortError(failed), err)
	}
	return shortError(failed)
}

// printEvents prints errors at once, resources that took long, and a summary.
func printEvents(ch <-chan events.EngineEvent, log *progress.Log) {
	started := map[string]time.Time{}
	counts := map[apitype.OpType]int{}
	for ev := range ch {
		switch {
		case ev.ResourcePreEvent != nil:
			started[ev.ResourcePreEvent.Metadata.URN] = time.Now()
		case ev.ResOutputsEvent != nil:
			m := ev.ResOutputsEvent.Metadata
			counts[m.Op]++
			isResource := !strings.Contains(m.Type, "pulumi:") && m.Provider != ""
			if took := time.Since(started[m.URN]); took > slowResource && m.Op != apitype.OpSame && isResource {
				log.Printf("%s %s (%s)", m.Op, ResourceName(m.URN), took.Round(time.Second))
			}
		case ev.DiagnosticEvent != nil && ev.DiagnosticEvent.Severity == "error":
			log.Printf("error: %s", diagnostic(*ev.DiagnosticEvent))
		}
	}
	log.Printf("resources: %d created, %d updated, %d replaced, %d deleted, %d unchanged",
		counts[apitype.OpCreate], counts[apitype.OpUpdate], counts[apitype.OpReplace], counts[apitype.OpDelete], counts[apitype.OpSame])
}

// diagnostic formats what the engine says of a resource, or of the operation, which has no
// URN: it was cancelled.
func diagnostic(event apitype.DiagnosticEvent) string {
	text := strings.TrimSpace(event.Message)
	if event.URN == "" {
		return text
	}
	return ResourceName(event.URN) + ": " + text
}

// ResourceName returns a resource's type and name, from its URN.
func ResourceName(urn string) string {
	parts := strings.Split(urn, "::")
	if len(parts) < 4 {
		return urn
	}
	types := strings.Split(parts[2], "$")
	return types[len(types)-1] + " " + parts[3]
}
