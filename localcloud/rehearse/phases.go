package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

func (r *rehearsal) progress() io.Writer {
	if r.options.Progress == nil {
		return io.Discard
	}
	return r.options.Progress
}

// build previews the stack and brings it up.
func (r *rehearsal) build(ctx context.Context) error {
	preview := func() error {
		_, err := r.stack.Preview(ctx, optpreview.ProgressStreams(r.progress()))
		return err
	}
	if err := r.phase("preview", preview); err != nil {
		return errors.Join(err, faultsOf(r.servers.Faults()))
	}
	up := func() error {
		_, err := r.stack.Up(ctx, optup.ProgressStreams(r.progress()))
		return err
	}
	if err := r.phase("up", up); err != nil {
		return errors.Join(err, faultsOf(r.servers.Faults()))
	}
	resources, err := r.resources(ctx)
	r.report.Resources = len(resources)
	return err
}

func faultsOf(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}

// settle brings the same program up again: nothing may change.
func (r *rehearsal) settle(ctx context.Context) error {
	return r.phase("up again", func() error {
		changes, err := r.upListing(ctx)
		if err != nil {
			return err
		}
		if len(changes) > 0 {
			return fmt.Errorf("%d changes without an edit:\n%s", len(changes), strings.Join(changes, "\n"))
		}
		return nil
	})
}

// upListing brings the stack up and gives a line for every step that was not
// "same".
func (r *rehearsal) upListing(ctx context.Context) ([]string, error) {
	stream := make(chan events.EngineEvent)
	done := make(chan []string)
	go func() {
		var lines []string
		for e := range stream {
			if e.ResourcePreEvent == nil || e.ResourcePreEvent.Metadata.Op == apitype.OpSame {
				continue
			}
			m := e.ResourcePreEvent.Metadata
			fields := append([]string{}, m.Diffs...)
			for path := range m.DetailedDiff {
				fields = append(fields, path)
			}
			sort.Strings(fields)
			lines = append(lines, fmt.Sprintf("%s %s %s", m.Op, m.URN, strings.Join(slices.Compact(fields), " ")))
		}
		done <- lines
	}()
	_, err := r.stack.Up(ctx, optup.ProgressStreams(r.progress()), optup.EventStreams(stream))
	return <-done, err
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
	sort.Strings(r.report.Protected)
	if len(r.report.Protected) > 0 {
		if err := r.phase("destroy, refused", func() error { return r.refused(ctx) }); err != nil {
			return err
		}
	}
	destroy := func() error {
		_, err := r.stack.Destroy(ctx, optdestroy.ProgressStreams(r.progress()))
		return err
	}
	if err := r.phase("destroy", destroy); err != nil {
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
		_, err := r.stack.Up(ctx, optup.ProgressStreams(r.progress()))
		return err
	})
}

// refused checks that a destroy fails for the protection and takes no
// protected resource, and then takes the protection off.
func (r *rehearsal) refused(ctx context.Context) error {
	_, err := r.stack.Destroy(ctx, optdestroy.ProgressStreams(r.progress()))
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
