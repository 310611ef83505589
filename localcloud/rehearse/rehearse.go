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
	"os"
	"path/filepath"
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

	Providers provider.Options // KeepGoing, Handlers and Command are the rehearsal's own
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
	if r.options.WorkDir == "" {
		if r.options.WorkDir, err = os.MkdirTemp("", "rehearsal-"); err != nil {
			return fmt.Errorf("make work folder: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(r.options.WorkDir)) }()
	}
	providers := r.options.Providers
	providers.KeepGoing, providers.Handlers, providers.Command = true, nil, silent{}
	if r.servers, err = provider.Listen(providers); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.servers.Close()) }()
	if err := r.prepare(ctx, program); err != nil {
		return err
	}
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

// silent runs no command and says that all went well.
type silent struct{}

// Run implements provider.CommandRunner.
func (silent) Run(context.Context, provider.CommandLine) (string, string, error) { return "", "", nil }

// prepare makes the stack in a backend of files of its own.
func (r *rehearsal) prepare(ctx context.Context, program pulumi.RunFunc) error {
	state, home, work := filepath.Join(r.options.WorkDir, "state"), filepath.Join(r.options.WorkDir, "home"), filepath.Join(r.options.WorkDir, "work")
	for _, dir := range []string{state, home, work} {
		const private = 0o700
		if err := os.MkdirAll(dir, private); err != nil {
			return fmt.Errorf("make work folder: %w", err)
		}
	}
	cli, err := commandAt(r.options.PulumiCommand, filepath.Join(r.options.WorkDir, "cli"))
	if err != nil {
		return err
	}
	environment := map[string]string{
		provider.EnvironmentKey:                       r.servers.Environment(),
		"PULUMI_BACKEND_URL":                          "file://" + state,
		"PULUMI_CONFIG_PASSPHRASE":                    "rehearsal",
		"PULUMI_SKIP_UPDATE_CHECK":                    "true",
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
	}
	r.stack, err = auto.UpsertStackInlineSource(ctx, or(r.options.Stack, "rehearsal"), or(r.options.Project, "emr-observatory"), program,
		auto.Pulumi(cli), auto.PulumiHome(home), auto.WorkDir(work), auto.EnvVars(environment))
	if err != nil {
		return fmt.Errorf("make stack: %w", err)
	}
	if err := r.stack.SetAllConfig(ctx, r.options.Config); err != nil {
		return fmt.Errorf("configure stack: %w", err)
	}
	return nil
}

// commandAt gives the CLI at path, through the folder layout that the
// Automation API looks for.
func commandAt(path, root string) (auto.PulumiCommand, error) {
	options := &auto.PulumiCommandOptions{}
	if path != "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("find the pulumi binary: %w", err)
		}
		if _, err := os.Stat(absolute); err != nil {
			return nil, fmt.Errorf("find the pulumi binary: %w; `make tools` builds it", err)
		}
		const public = 0o755
		if err := os.MkdirAll(filepath.Join(root, "bin"), public); err != nil {
			return nil, fmt.Errorf("link the pulumi binary: %w", err)
		}
		link := filepath.Join(root, "bin", "pulumi")
		if err := os.Symlink(absolute, link); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("link the pulumi binary: %w", err)
		}
		options.Root = root
	}
	cli, err := auto.NewPulumiCommand(options)
	if err != nil {
		return nil, fmt.Errorf("find the pulumi binary: %w; `make tools` builds it", err)
	}
	return cli, nil
}

func or(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
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
