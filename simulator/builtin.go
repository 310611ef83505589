package simulator

import (
	"context"
	"fmt"
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/command"
	"github.com/emr-observatory/emr-observatory/simulator/generate"
)

// builtinHandlers serve the resources that are always real: keys,
// certificates, random values and commands.
func builtinHandlers(runner command.Runner) map[string]Handler {
	if runner == nil {
		runner = command.Shell{}
	}
	out := map[string]Handler{command.Token: commandHandler{runner: runner}}
	for _, token := range generate.Tokens() {
		out[token] = generatedHandler{}
	}
	return out
}

// generatedHandler serves resources that are generated once. They exist only
// in the engine's state.
type generatedHandler struct{ Recording }

// Create implements Handler.
func (generatedHandler) Create(_ context.Context, r Request) (Result, error) {
	id, outputs, err := generate.Create(r.Type, r.Inputs)
	if err != nil {
		return Result{}, fmt.Errorf("create %s: %w", r.Name, err)
	}
	return Result{ID: id, Outputs: outputs}, nil
}

// Update implements Handler. It only copies inputs: an edit that changes the
// generated value replaces the resource.
func (generatedHandler) Update(_ context.Context, r Request) (Result, error) {
	out := r.Outputs.Copy()
	maps.Copy(out, r.Inputs)
	return Result{ID: r.ID, Outputs: out}, nil
}

// commandHandler serves command:local:Command. A command leaves nothing to read.
type commandHandler struct {
	Recording

	runner command.Runner
}

// Create implements Handler.
func (c commandHandler) Create(ctx context.Context, r Request) (Result, error) {
	outputs, err := c.run(ctx, r, command.Create)
	if err != nil {
		return Result{}, err
	}
	id, err := resource.NewUniqueHex("create", 32, 0)
	if err != nil {
		return Result{}, fmt.Errorf("name command %s: %w", r.Name, err)
	}
	return Result{ID: id, Outputs: outputs}, nil
}

// Update implements Handler.
func (c commandHandler) Update(ctx context.Context, r Request) (Result, error) {
	outputs, err := c.run(ctx, r, command.Update)
	return Result{ID: r.ID, Outputs: outputs}, err
}

// Delete implements Handler.
func (c commandHandler) Delete(ctx context.Context, r Request) error {
	_, err := c.run(ctx, r, command.Delete)
	return err
}

func (c commandHandler) run(ctx context.Context, r Request, phase command.Phase) (resource.PropertyMap, error) {
	outputs, err := command.Run(ctx, c.runner, phase, r.Inputs, r.Outputs)
	if err != nil {
		return nil, fmt.Errorf("command %s: %w", r.Name, err)
	}
	return outputs, nil
}
