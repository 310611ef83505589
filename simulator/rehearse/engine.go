package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
)

// output returns the writer of the engine's output.
func (r *rehearsal) output() io.Writer {
	if r.options.Output == nil {
		return io.Discard
	}
	return r.options.Output
}

func (r *rehearsal) previewStack(ctx context.Context) error {
	_, err := r.runEngine(ctx, func(stream chan<- events.EngineEvent) error {
		_, err := r.stack.Preview(
			ctx, optpreview.ProgressStreams(r.output()), optpreview.EventStreams(stream), optpreview.SuppressProgress(),
		)
		return err
	})
	return err
}

// up updates the stack and returns the steps that changed something.
func (r *rehearsal) up(ctx context.Context) (changes []string, err error) {
	return r.runEngine(ctx, func(stream chan<- events.EngineEvent) error {
		_, err := r.stack.Up(ctx, optup.ProgressStreams(r.output()), optup.EventStreams(stream), optup.SuppressProgress())
		return err
	})
}

func (r *rehearsal) destroy(ctx context.Context) error {
	_, err := r.runEngine(ctx, func(stream chan<- events.EngineEvent) error {
		_, err := r.stack.Destroy(
			ctx, optdestroy.ProgressStreams(r.output()), optdestroy.EventStreams(stream), optdestroy.SuppressProgress(),
		)
		return err
	})
	return err
}

// runEngine runs an operation of the engine, counts its steps and returns those
// that changed something. If the operation fails, its error is the engine's
// error messages instead of all of its output.
func (r *rehearsal) runEngine(ctx context.Context, operation func(stream chan<- events.EngineEvent) error) ([]string, error) {
	stream := make(chan events.EngineEvent)
	done := make(chan struct{})
	var changes, messages []string
	go func() {
		defer close(done)
		for e := range stream {
			if m := e.ResourcePreEvent; m != nil {
				r.steps[string(m.Metadata.Op)]++
				if m.Metadata.Op != apitype.OpSame {
					changes = append(changes, describeStep(m.Metadata))
				}
			}
			if d := e.DiagnosticEvent; d != nil && d.Severity == "error" {
				messages = append(messages, strings.TrimSpace(d.URN+" "+d.Message))
			}
		}
	}()
	err := operation(stream)
	select {
	case <-done:
	case <-ctx.Done():
		return nil, errors.Join(err, ctx.Err())
	}
	if err != nil && len(messages) > 0 {
		err = errors.New(strings.Join(messages, "\n"))
	}
	return changes, err
}

// describeStep formats a step with the paths that differ.
func describeStep(m apitype.StepEventMetadata) string {
	paths := slices.AppendSeq(slices.Clone(m.Diffs), maps.Keys(m.DetailedDiff))
	slices.Sort(paths)
	return fmt.Sprintf("%s %s %s", m.Op, m.URN, strings.Join(slices.Compact(paths), " "))
}

// unprotectAll removes the protection of all resources in the state.
func (r *rehearsal) unprotectAll(ctx context.Context) error {
	if _, err := r.runCLI(ctx, "state", "unprotect", "--all", "--yes"); err != nil {
		return fmt.Errorf("unprotect resources: %w", err)
	}
	return nil
}

// exportState writes the stack's state to Options.Export, if that is set. The Automation
// API exports secrets in clear.
func (r *rehearsal) exportState(ctx context.Context) error {
	if r.options.Export == "" {
		return nil
	}
	state, err := r.runCLI(ctx, "stack", "export")
	if err == nil {
		const private = 0o600
		err = os.WriteFile(r.options.Export, []byte(state), private)
	}
	if err != nil {
		return fmt.Errorf("export state: %w", err)
	}
	return nil
}

// runCLI runs a command of the engine's CLI on the stack and returns its output.
func (r *rehearsal) runCLI(ctx context.Context, args ...string) (string, error) {
	w := r.stack.Workspace()
	environment := []string{"PULUMI_HOME=" + w.PulumiHome()}
	for k, v := range w.GetEnvVars() {
		environment = append(environment, k+"="+v)
	}
	stdout, stderr, _, err := w.PulumiCommand().Run(ctx, w.WorkDir(), nil, nil, nil, environment, append(args, "--stack", r.stack.Name())...)
	if err != nil {
		return "", fmt.Errorf("pulumi %s: %w: %s", args[0], err, stderr)
	}
	return stdout, nil
}

// resources returns the resources in the stack's state.
func (r *rehearsal) resources(ctx context.Context) ([]apitype.ResourceV3, error) {
	exported, err := r.stack.Export(ctx)
	if err != nil {
		return nil, fmt.Errorf("export state: %w", err)
	}
	var deployment apitype.DeploymentV3
	if err := json.Unmarshal(exported.Deployment, &deployment); err != nil {
		return nil, fmt.Errorf("decode state: %w", err)
	}
	return deployment.Resources, nil
}
