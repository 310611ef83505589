package changes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// Preview runs the engine's preview of an update. If the engine or the program
// fails, the error holds their messages, and the plan the changes found before.
func Preview(ctx context.Context, stack auto.Stack, opts ...optpreview.Option) (Plan, error) {
	var given optpreview.Options
	for _, o := range opts {
		o.ApplyOption(&given)
	}
	return follow(ctx, "preview", func(stream chan<- events.EngineEvent) error {
		streams := append(slices.Clone(given.EventStreams), stream) // the option replaces, it does not add
		_, err := stack.Preview(ctx, append(opts, optpreview.EventStreams(streams...), optpreview.SuppressProgress())...)
		return err
	})
}

// Resources returns the resources in the stack's state, in the order of their creation.
func Resources(ctx context.Context, stack auto.Stack) ([]apitype.ResourceV3, error) {
	exported, err := stack.Export(ctx)
	if err != nil {
		return nil, fmt.Errorf("export the state of stack %s: %w", stack.Name(), err)
	}
	var deployment apitype.DeploymentV3
	if err := json.Unmarshal(exported.Deployment, &deployment); err != nil {
		return nil, fmt.Errorf("decode the state of stack %s: %w", stack.Name(), err)
	}
	return deployment.Resources, nil
}

// PlanDestroy lists what a destroy would delete: everything in the stack's
// state. The engine's own preview stops at the first protected resource.
func PlanDestroy(ctx context.Context, stack auto.Stack) (Plan, error) {
	resources, err := Resources(ctx, stack)
	if err != nil {
		return nil, err
	}
	var plan Plan
	for i := range slices.Backward(resources) { // what came last goes first
		old := &resources[i]
		plan.add(step{op: apitype.OpDelete, urn: string(old.URN), typ: string(old.Type), old: stateOfResource(old)})
	}
	return plan, nil
}

// Destroy deletes the whole stack, or nothing if g refuses. Without this check
// the engine, which the Automation API runs without a preview, would fail on a
// protected resource half-way. Event streams in opts are closed at the end,
// also after a refusal.
func Destroy(ctx context.Context, stack auto.Stack, g Guard, opts ...optdestroy.Option) error {
	var given optdestroy.Options
	for _, o := range opts {
		o.ApplyOption(&given)
	}
	plan, err := PlanDestroy(ctx, stack)
	if err == nil {
		err = g.CheckDestroy(ctx, plan)
	}
	if err == nil && g.Begin != nil {
		err = g.Begin()
	}
	if err != nil {
		for _, stream := range given.EventStreams {
			close(stream)
		}
		return fmt.Errorf("destroy stack %s: nothing was changed: %w", stack.Name(), err)
	}
	_, err = follow(ctx, "destroy", func(stream chan<- events.EngineEvent) error {
		streams := append(slices.Clone(given.EventStreams), stream)
		_, err := stack.Destroy(ctx, append(opts, optdestroy.EventStreams(streams...), optdestroy.SuppressProgress())...)
		return err
	})
	return err
}

// lastEvents is how long events may arrive after the engine has failed. One that fails
// before its first event, such as over the type of a configuration value, never closes
// the stream.
const lastEvents = 5 * time.Second

// follow runs the engine and collects its events.
func follow(ctx context.Context, what string, run func(chan<- events.EngineEvent) error) (Plan, error) {
	stream := make(chan events.EngineEvent)
	gathered := make(chan []events.EngineEvent, 1)
	go func() {
		var all []events.EngineEvent
		for e := range stream {
			all = append(all, e)
		}
		gathered <- all
	}()
	failed := run(stream)
	all, err := AwaitEvents(ctx, gathered, failed)
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	return FromEvents(all), reasons(what, all, failed)
}

// AwaitEvents returns what was made of an ended operation's events: the value that
// arrives on read once the engine has closed its stream. After a failure it waits for
// lastEvents at most, and returns the zero value if none arrives.
func AwaitEvents[T any](ctx context.Context, read <-chan T, failed error) (value T, err error) {
	var late <-chan time.Time
	if failed != nil {
		late = time.After(lastEvents)
	}
	select {
	case value = <-read:
		return value, nil
	case <-late:
		return value, nil
	case <-ctx.Done():
		return value, fmt.Errorf("wait for the engine's events: %w", ctx.Err())
	}
}

// reasons extracts the errors of the engine and the program; the Automation
// API's own error contains the whole output.
func reasons(what string, stream []events.EngineEvent, failed error) error {
	if failed == nil {
		return nil
	}
	var lines []string
	for _, e := range stream {
		if d := e.DiagnosticEvent; d != nil && d.Severity == "error" {
			lines = append(lines, strings.TrimSpace(d.Message))
		}
	}
	if len(lines) == 0 {
		return fmt.Errorf("%s: %w", what, failed)
	}
	return fmt.Errorf("%s: %s", what, strings.Join(lines, "\n"))
}
