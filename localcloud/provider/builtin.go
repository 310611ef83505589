package provider

import "context"

// builtin are the Handlers of parts that are always real: keys and
// certificates, random values, commands.
func builtin(run CommandRunner) map[string]Handler {
	if run == nil {
		run = Shell{}
	}
	out := map[string]Handler{"command:local:Command": command{run: run}}
	for token, make := range makers() {
		out[token] = once{make: make}
	}
	return out
}

// once is a Handler of things that are made once and never change: the
// engine's state is the thing.
type once struct {
	make func(r Request) (Result, error)
}

// Create implements Handler.
func (o once) Create(_ context.Context, r Request) (Result, error) { return o.make(r) }

// Read implements Handler.
func (once) Read(_ context.Context, r Request) (Result, bool, error) {
	return Result{ID: r.ID, Outputs: r.Outputs}, true, nil
}

// Update implements Handler: only inputs that make no difference come here.
func (once) Update(_ context.Context, r Request) (Result, error) {
	out := r.Outputs.Copy()
	for k, v := range r.Inputs {
		out[k] = v
	}
	return Result{ID: r.ID, Outputs: out}, nil
}

// Delete implements Handler.
func (once) Delete(context.Context, Request) error { return nil }
