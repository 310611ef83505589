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
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/localcloud/provider"
	"github.com/emr-observatory/emr-observatory/localcloud/provider/record"
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
	Passphrase    string    // of the state's secrets; "" = rehearsal
	Output        io.Writer // the engine's own account; nil = none
	Progress      Progress  // told each phase as it ends; nil = none

	// Existing are resources of the account that the stack did not make but
	// names, such as its VPC.
	Existing []record.Resource

	Providers provider.Options // Handlers and Command are the rehearsal's own; Run sets KeepGoing too
}

// Progress is told the name of a phase that has ended, what it did, and how
// long it took.
type Progress func(phase, message string, elapsed time.Duration)

// Phase is one run of the engine.
type Phase struct {
	Name    string         `json:"name"`
	Seconds float64        `json:"seconds"`
	Steps   map[string]int `json:"steps"` // resources by what was done to them: create, update, delete, same…
}

// Report is what a rehearsal saw.
type Report struct {
	Stack     string   `json:"stack"`
	Resources int      `json:"resources"` // in the stack's state after up, providers and components included
	Checked   int      `json:"checked"`   // resources whose inputs were checked
	Protected []string `json:"protected"` // URNs that refused to be destroyed
	Phases    []Phase  `json:"phases"`
	Faults    []string `json:"faults"` // all of them; the error of Run joins the same
}

// Run rehearses program. The error is not nil if anything at all was wrong;
// the report holds what was seen until then.
func Run(ctx context.Context, program pulumi.RunFunc, o Options) (Report, error) {
	return play(ctx, program, o, func(r *rehearsal) error {
		if err := r.build(ctx); err != nil || len(r.report.Faults) > 0 {
			return err // a faulty stack need not be torn down: nothing is real
		}
		if err := r.settle(ctx); err != nil {
			return err
		}
		return r.tearDown(ctx)
	})
}

// Preview is the engine's preview of a new stack, and nothing else of its
// life. Errors and report are as Run's.
func Preview(ctx context.Context, program pulumi.RunFunc, o Options) (Report, error) {
	return play(ctx, program, o, func(r *rehearsal) error {
		err := r.preview(ctx)
		r.report.Faults = r.servers.Faults()
		return err
	})
}

type rehearsal struct {
	options Options
	report  Report
	servers *provider.Servers
	stack   auto.Stack
	steps   map[string]int // of the phase that runs
}

func play(ctx context.Context, program pulumi.RunFunc, o Options, act func(*rehearsal) error) (Report, error) {
	o.Providers.KeepGoing = true
	r := &rehearsal{options: o, report: Report{Stack: or(o.Stack, defaultStack), Protected: []string{}, Phases: []Phase{}, Faults: []string{}}}
	stage, err := Open(ctx, program, o)
	if err == nil {
		r.servers, r.stack = stage.Servers, stage.Stack
		err = errors.Join(act(r), stage.Close())
	}
	if err != nil {
		r.report.Faults = append(r.report.Faults, err.Error())
	}
	if len(r.report.Faults) > 0 {
		return r.report, fmt.Errorf("rehearse: %s", strings.Join(r.report.Faults, "\n"))
	}
	return r.report, nil
}

// phase runs one step of the stack's life and takes its time.
func (r *rehearsal) phase(name string, f func() error) error {
	begun := time.Now()
	r.steps = map[string]int{}
	err := f()
	took := time.Since(begun)
	r.report.Phases = append(r.report.Phases, Phase{Name: name, Seconds: took.Seconds(), Steps: r.steps})
	r.report.Checked = r.servers.Checked()
	if r.options.Progress != nil {
		r.options.Progress(name, r.told(err), took)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// told is a phase in a few words.
func (r *rehearsal) told(err error) string {
	var parts []string
	for _, op := range slices.Sorted(maps.Keys(r.steps)) {
		parts = append(parts, fmt.Sprintf("%s %d", op, r.steps[op]))
	}
	if err != nil {
		parts = append(parts, "failed")
	}
	return strings.Join(parts, ", ")
}
