package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

func (r *rehearsal) output() io.Writer {
	if r.options.Output == nil {
		return io.Discard
	}
	return r.options.Output
}

// follow runs the engine and reads its events: the steps that were not "same",
// and on failure the errors alone instead of the whole output. It counts all
// steps.
func (r *rehearsal) follow(ctx context.Context, run func(stream chan<- events.EngineEvent) error) ([]string, error) {
	stream := make(chan events.EngineEvent)
	done := make(chan struct{})
	var steps, faults []string
	go func() {
		defer close(done)
		for e := range stream {
			if m := e.ResourcePreEvent; m != nil {
				r.steps[string(m.Metadata.Op)]++
			}
			if line := step(e); line != "" {
				steps = append(steps, line)
			}
			if d := e.DiagnosticEvent; d != nil && d.Severity == "error" {
				faults = append(faults, strings.TrimSpace(d.URN+" "+d.Message))
			}
		}
	}()
	failed := run(stream)
	select {
	case <-done:
	case <-ctx.Done():
		return nil, errors.Join(failed, ctx.Err())
	}
	if failed != nil && len(faults) > 0 {
		failed = errors.New(strings.Join(faults, "\n"))
	}
	return steps, failed
}

// step is a line on a step that does something, with the paths that differ.
func step(e events.EngineEvent) string {
	if e.ResourcePreEvent == nil || e.ResourcePreEvent.Metadata.Op == apitype.OpSame {
		return ""
	}
	m := e.ResourcePreEvent.Metadata
	fields := append([]string{}, m.Diffs...)
	for path := range m.DetailedDiff {
		fields = append(fields, path)
	}
	slices.Sort(fields)
	return fmt.Sprintf("%s %s %s", m.Op, m.URN, strings.Join(slices.Compact(fields), " "))
}

func (r *rehearsal) up(ctx context.Context) ([]string, error) {
	return r.follow(ctx, func(stream chan<- events.EngineEvent) error {
		_, err := r.stack.Up(ctx, optup.ProgressStreams(r.output()), optup.EventStreams(stream), optup.SuppressProgress())
		return err
	})
}

func (r *rehearsal) destroy(ctx context.Context) error {
	_, err := r.follow(ctx, func(stream chan<- events.EngineEvent) error {
		_, err := r.stack.Destroy(ctx, optdestroy.ProgressStreams(r.output()), optdestroy.EventStreams(stream), optdestroy.SuppressProgress())
		return err
	})
	return err
}

// preview runs the engine's preview. With an output given, that is what the
// engine prints for people.
func (r *rehearsal) preview(ctx context.Context) error {
	return r.phase("preview", func() error {
		_, err := r.follow(ctx, func(stream chan<- events.EngineEvent) error {
			_, err := r.stack.Preview(ctx, optpreview.ProgressStreams(r.output()), optpreview.EventStreams(stream), optpreview.SuppressProgress())
			return err
		})
		return err
	})
}

// build previews the stack and brings it up.
func (r *rehearsal) build(ctx context.Context) error {
	err := r.preview(ctx)
	if err == nil {
		err = r.phase("up", func() error { _, err := r.up(ctx); return err })
	}
	r.report.Faults = r.servers.Faults() // beside what stopped the run
	if err != nil {
		return err
	}
	resources, err := r.resources(ctx)
	r.report.Resources = len(resources)
	return err
}

// settle brings the same program up again: nothing may change.
func (r *rehearsal) settle(ctx context.Context) error {
	return r.phase("up again", func() error {
		changes, err := r.up(ctx)
		if err == nil && len(changes) > 0 {
			err = fmt.Errorf("%d changes without an edit:\n%s", len(changes), strings.Join(changes, "\n"))
		}
		return err
	})
}

// tearDown destroys the stack. What is protected must refuse first.
func (r *rehearsal) tearDown(ctx context.Context) error {
	if err := r.release(ctx); err != nil {
		return err
	}
	resources, err := r.resources(ctx)
	if err != nil {
		return err
	}
	for _, res := range resources {
		if res.Protect {
			r.report.Protected = append(r.report.Protected, string(res.URN))
		}
	}
	slices.Sort(r.report.Protected)
	if len(r.report.Protected) > 0 {
		if err := r.phase("destroy, refused", func() error { return r.refused(ctx) }); err != nil {
			return err
		}
	}
	if err := r.phase("destroy", func() error { return r.destroy(ctx) }); err != nil {
		return err
	}
	left, err := r.resources(ctx)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("destroy: %d resources are left, first %s", len(left), left[0].URN)
	}
	return err
}

// release applies the configuration that goes before a destroy.
func (r *rehearsal) release(ctx context.Context) error {
	if len(r.options.Release) == 0 {
		return nil
	}
	return r.phase("up, released", func() error {
		if err := r.stack.SetAllConfig(ctx, r.options.Release); err != nil {
			return err
		}
		_, err := r.up(ctx)
		return err
	})
}

// refused checks that a destroy fails for the protection and takes no
// protected resource, and then takes the protection off.
func (r *rehearsal) refused(ctx context.Context) error {
	err := r.destroy(ctx)
	if err == nil {
		return fmt.Errorf("%d protected resources were destroyed", len(r.report.Protected))
	}
	if !strings.Contains(err.Error(), "protect") {
		return fmt.Errorf("failed, but not for the protection: %w", err)
	}
	left, err := r.resources(ctx)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, res := range left {
		there[string(res.URN)] = true
	}
	for _, urn := range r.report.Protected {
		if !there[urn] {
			return fmt.Errorf("protected resource is gone: %s", urn)
		}
	}
	return r.unprotect(ctx)
}

func (r *rehearsal) unprotect(ctx context.Context) error {
	w := r.stack.Workspace()
	var environment []string
	for k, v := range w.GetEnvVars() {
		environment = append(environment, k+"="+v)
	}
	environment = append(environment, "PULUMI_HOME="+w.PulumiHome())
	_, stderr, _, err := w.PulumiCommand().Run(ctx, w.WorkDir(), nil, nil, nil, environment, "state", "unprotect", "--all", "--yes", "--stack", r.stack.Name())
	if err != nil {
		return fmt.Errorf("unprotect: %w: %s", err, stderr)
	}
	return nil
}

// resources gives the stack's state.
func (r *rehearsal) resources(ctx context.Context) ([]apitype.ResourceV3, error) {
	exported, err := r.stack.Export(ctx)
	if err != nil {
		return nil, fmt.Errorf("export state: %w", err)
	}
	var deployment apitype.DeploymentV3
	if err := json.Unmarshal(exported.Deployment, &deployment); err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	return deployment.Resources, nil
}
