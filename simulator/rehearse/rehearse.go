// Package rehearse runs a program through the whole life of a stack on the real
// engine with provider servers: preview, up, up again, destroy. It finds what
// unit tests with mocks cannot: inputs that the services would refuse, edits
// that never converge, resources that cannot be destroyed, protection that does
// not protect.
//
// Nothing real is created, and commands of the program are not run.
package rehearse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/record"
)

// Options configure a rehearsal.
type Options struct {
	Project string         // "" = emr-observatory
	Stack   string         // "" = rehearsal
	Config  auto.ConfigMap // stack configuration, keys with their namespace
	// Unprotect is the configuration that an operator sets before a destroy, e.g. to
	// remove a cluster's termination protection. If it is not empty, an up with it
	// precedes the destroy.
	Unprotect     auto.ConfigMap
	PulumiCommand string    // path of the pulumi binary; "" = the one on PATH
	WorkDir       string    // for state and temporary files; "" = a temporary folder that is removed
	Passphrase    string    // encrypts secrets in the state; "" = rehearsal
	Output        io.Writer // receives the engine's output; nil = discarded
	Progress      Progress  // called after each phase; nil = not called
	// Export is the file that receives the stack's state before the destroy, as `pulumi
	// stack export` writes it, with secrets encrypted; "" = none.
	Export string

	// Existing are resources of the account that the stack refers to but does
	// not create, such as its VPC.
	Existing []record.Resource

	// Providers configure the simulator. Command is overridden; Run and Preview also
	// set AcceptViolations. A handler must create nothing real.
	Providers simulator.Options
}

// Progress receives the name of a phase that has ended, a summary of its steps
// and its duration.
type Progress func(phase, message string, elapsed time.Duration)

// Phase is one run of the engine.
type Phase struct {
	Name    string         `json:"name"`
	Seconds float64        `json:"seconds"`
	Steps   map[string]int `json:"steps"` // resources by operation: create, update, delete, same…
}

// Report is the result of a rehearsal.
type Report struct {
	Stack     string   `json:"stack"`
	Resources int      `json:"resources"` // of the stack, as the engine counts: providers and components included
	Checked   int      `json:"checked"`   // those of them whose inputs the provider servers checked
	Protected []string `json:"protected"` // URNs whose destruction was refused
	Kept      []string `json:"kept"`      // URNs of what the destroy left in the account
	Phases    []Phase  `json:"phases"`
	// Problems are all violations, then the error that ended the rehearsal
	// early. The error of Run joins them.
	Problems []string `json:"problems"`
}

// Run rehearses the full lifecycle of a stack. It fails if there is any problem; the
// report then contains what was found so far.
func Run(ctx context.Context, program pulumi.RunFunc, o Options) (Report, error) {
	return rehearse(ctx, program, o, func(r *rehearsal) error {
		if err := r.create(ctx); err != nil || len(r.report.Problems) > 0 {
			return err // nothing is real, so a stack with violations need not be destroyed
		}
		if err := r.updateUnchanged(ctx); err != nil {
			return err
		}
		if err := r.exportState(ctx); err != nil {
			return err
		}
		return r.tearDown(ctx)
	})
}

// Preview runs only the engine's preview of a new stack. Report and error are
// as in Run.
func Preview(ctx context.Context, program pulumi.RunFunc, o Options) (Report, error) {
	return rehearse(ctx, program, o, func(r *rehearsal) error {
		err := r.preview(ctx)
		r.report.Resources = r.steps[string(apitype.OpCreate)]
		r.report.Problems = append(r.report.Problems, r.servers.Violations()...)
		return err
	})
}

type rehearsal struct {
	options Options
	report  Report
	servers *simulator.Servers
	stack   auto.Stack
	steps   map[string]int // of the current phase
}

// rehearse opens a stage, runs the phases on it and completes the report.
func rehearse(ctx context.Context, program pulumi.RunFunc, o Options, runPhases func(*rehearsal) error) (Report, error) {
	o.Providers.AcceptViolations = true
	r := &rehearsal{options: o, report: Report{
		Stack: cmp.Or(o.Stack, defaultStack), Protected: []string{}, Kept: []string{}, Phases: []Phase{}, Problems: []string{},
	}}
	stage, err := Open(ctx, program, o)
	if err == nil {
		r.servers, r.stack = stage.Servers, stage.Stack
		err = errors.Join(runPhases(r), stage.Close())
	}
	if err != nil {
		r.report.Problems = append(r.report.Problems, err.Error())
	}
	if len(r.report.Problems) > 0 {
		return r.report, fmt.Errorf("rehearse stack %s:\n%s", r.report.Stack, strings.Join(r.report.Problems, "\n"))
	}
	return r.report, nil
}

// phase runs f as a phase: it adds its duration and steps to the report.
func (r *rehearsal) phase(name string, f func() error) error {
	start := time.Now()
	r.steps = map[string]int{}
	err := f()
	elapsed := time.Since(start)
	r.report.Phases = append(r.report.Phases, Phase{Name: name, Seconds: elapsed.Seconds(), Steps: r.steps})
	r.report.Checked = r.servers.Checked()
	if r.options.Progress != nil {
		r.options.Progress(name, r.summary(err), elapsed)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// summary lists the steps of the current phase: "create 12, failed".
func (r *rehearsal) summary(err error) string {
	var parts []string
	for _, op := range slices.Sorted(maps.Keys(r.steps)) {
		parts = append(parts, fmt.Sprintf("%s %d", op, r.steps[op]))
	}
	if err != nil {
		parts = append(parts, "failed")
	}
	return strings.Join(parts, ", ")
}
