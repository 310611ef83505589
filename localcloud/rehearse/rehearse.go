// Package rehearse runs a program through a stack's whole life on the real
// engine with recorded providers: preview, up, up again, destroy. It finds
// what unit tests with mocks cannot: inputs that the services would refuse,
// edits that never converge, resources that cannot be destroyed, protection
// that does not protect.
//
// Nothing real stands behind it; commands of the program are not run.
package rehearse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/localcloud/provider"
)

// Options say what is rehearsed and with what.
type Options struct {
	Project string         // "" = emr-observatory
	Stack   string         // "" = rehearsal
	Config  auto.ConfigMap // stack configuration, keys with their namespace
	// Release is configuration that an operator sets before a destroy, e.g. to
	// take off a cluster's termination protection. Where it is not empty, an
	// up with it goes before the destroy.
	Release       auto.ConfigMap
	PulumiCommand string    // path of the pulumi binary; "" = the one on PATH
	WorkDir       string    // for state and temporary files; "" = a temporary folder that is removed
	Progress      io.Writer // the engine's output; nil = none

	Providers provider.Options // Handlers and Command are the rehearsal's own; Run sets KeepGoing too
}

// Phase is one run of the engine.
type Phase struct {
	Name    string
	Seconds float64
}

// Report is what a rehearsal saw.
type Report struct {
	Resources int      // in the stack's state after up, providers and components included
	Checked   int      // resources whose inputs were checked
	Protected []string // URNs that refused to be destroyed
	Phases    []Phase
	Faults    []string // all of them; the error of Run joins the same
}

// Run rehearses program. The error is not nil if anything at all was wrong;
// the report holds what was seen until then.
func Run(ctx context.Context, program pulumi.RunFunc, o Options) (Report, error) {
	r := &rehearsal{options: o}
	err := r.run(ctx, program)
	if err != nil {
		r.report.Faults = append(r.report.Faults, err.Error())
	}
	if len(r.report.Faults) > 0 {
		return r.report, fmt.Errorf("rehearse: %s", strings.Join(r.report.Faults, "\n"))
	}
	return r.report, nil
}

type rehearsal struct {
	options Options
	report  Report
	servers *provider.Servers
	stack   auto.Stack
}

func (r *rehearsal) run(ctx context.Context, program pulumi.RunFunc) (err error) {
	r.options.Providers.KeepGoing = true
	stage, err := Open(ctx, program, r.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	r.servers, r.stack = stage.Servers, stage.Stack
	if err := r.build(ctx); err != nil {
		return err
	}
	if r.report.Faults = r.servers.Faults(); len(r.report.Faults) > 0 {
		return nil // a faulty stack need not be torn down: nothing is real
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	return r.tearDown(ctx)
}

// phase runs one step of the stack's life and takes its time.
func (r *rehearsal) phase(name string, f func() error) error {
	begun := time.Now()
	err := f()
	r.report.Phases = append(r.report.Phases, Phase{Name: name, Seconds: time.Since(begun).Seconds()})
	r.report.Checked = r.servers.Checked()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
