package changes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// Preview asks the engine what an update of the stack would do. Where the
// engine or the program refuses, the error holds their own reasons, and the
// plan what had been found until then.
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

// PlanDestroy is what a destroy of the stack would delete: everything in its
// state. The engine's own preview stops at the first protected resource.
func PlanDestroy(ctx context.Context, stack auto.Stack) (Plan, error) {
	exported, err := stack.Export(ctx)
	if err != nil {
		return nil, fmt.Errorf("export state: %w", err)
	}
	var deployment apitype.DeploymentV3
	if err := json.Unmarshal(exported.Deployment, &deployment); err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	var r reading
	for i := range slices.Backward(deployment.Resources) { // what came last goes first
		old := &deployment.Resources[i]
		r.add(step{op: apitype.OpDelete, urn: string(old.URN), typ: string(old.Type), old: recorded(old)})
	}
	return r.plan, nil
}

// Destroy takes the whole stack down or nothing of it: what g refuses stops it
// before the first resource goes. The engine itself, run without a preview as
// the Automation API does, meets a protected resource half-way. Event streams
// among opts are closed at the end, also of a refusal.
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

// follow runs the engine and gathers its events.
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
	select {
	case all := <-gathered:
		return Of(all), reasons(what, all, failed)
	case <-ctx.Done():
		return nil, errors.Join(failed, ctx.Err())
	}
}

// reasons are the errors that the engine and the program gave, instead of the
// whole output that the Automation API gives.
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
