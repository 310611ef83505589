package rehearse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/simulator/command"
)

// Stage is a stack on the real engine with simulated providers.
type Stage struct {
	Stack   auto.Stack
	Servers *simulator.Servers

	temporaryDir string // removed by Close; "" = none
}

// Open creates the stack and serves its providers. Stages with the same WorkDir
// share a backend, so that stack references resolve. The caller must close it.
func Open(ctx context.Context, program pulumi.RunFunc, o Options) (*Stage, error) {
	s := &Stage{}
	if err := s.open(ctx, program, o); err != nil {
		return nil, errors.Join(fmt.Errorf("open stage: %w", err), s.Close())
	}
	return s, nil
}

func (s *Stage) open(ctx context.Context, program pulumi.RunFunc, o Options) (err error) {
	if o.WorkDir == "" {
		if o.WorkDir, err = os.MkdirTemp("", "rehearsal-"); err != nil {
			return fmt.Errorf("create work folder: %w", err)
		}
		s.temporaryDir = o.WorkDir
	}
	o.Providers.Command = noCommands{}
	if s.Servers, err = simulator.Listen(o.Providers); err != nil {
		return err
	}
	for _, r := range o.Existing {
		s.Servers.Account.Add(r)
	}
	s.Stack, err = createStack(ctx, program, o, s.Servers.Environment())
	return err
}

// Close stops the providers and removes the temporary folder.
func (s *Stage) Close() error {
	var errs []error
	if s.Servers != nil {
		errs = append(errs, s.Servers.Close())
	}
	if s.temporaryDir != "" {
		errs = append(errs, os.RemoveAll(s.temporaryDir))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close stage: %w", err)
	}
	return nil
}

const defaultStack = "rehearsal"

// noCommands runs no command and reports success.
type noCommands struct{}

// Run implements command.Runner.
func (noCommands) Run(context.Context, command.Line) (stdout, stderr string, err error) {
	return "", "", nil
}

// createStack creates the stack in a file backend in the work folder.
func createStack(ctx context.Context, program pulumi.RunFunc, o Options, providers string) (auto.Stack, error) {
	project := cmp.Or(o.Project, "emr-observatory")
	state, home, work := filepath.Join(o.WorkDir, "state"), filepath.Join(o.WorkDir, "home"), filepath.Join(o.WorkDir, "work", project)
	for _, dir := range []string{state, home, work} {
		const private = 0o700
		if err := os.MkdirAll(dir, private); err != nil {
			return auto.Stack{}, fmt.Errorf("create work folder: %w", err)
		}
	}
	cli, err := pulumiCommand(o.PulumiCommand, filepath.Join(o.WorkDir, "cli"))
	if err != nil {
		return auto.Stack{}, err
	}
	environment := simulator.EngineEnvironment(providers, state, cmp.Or(o.Passphrase, "rehearsal"))
	// Write the state once per run: writing it after each resource takes more than
	// half of the time. A killed run loses nothing real.
	environment["PULUMI_SKIP_CHECKPOINTS"] = "true"
	environment["GOGC"] = "400" // the engine ends within seconds
	if err := withoutEngineLogs(home); err != nil {
		return auto.Stack{}, err
	}
	stack, err := auto.UpsertStackInlineSource(ctx, cmp.Or(o.Stack, defaultStack), project, program,
		auto.Pulumi(cli), auto.PulumiHome(home), auto.WorkDir(work), auto.EnvVars(environment))
	if err != nil {
		return auto.Stack{}, fmt.Errorf("create stack: %w", err)
	}
	if err := stack.SetAllConfig(ctx, o.Config); err != nil {
		return auto.Stack{}, fmt.Errorf("configure stack: %w", err)
	}
	return stack, nil
}

// withoutEngineLogs puts a file where the engine would make its folder of debug logs. It
// has no setting for them, continues without, and needs a third less CPU time.
func withoutEngineLogs(home string) error {
	const private = 0o600
	err := os.WriteFile(filepath.Join(home, "logs"), []byte("A rehearsal keeps no debug logs of the engine.\n"), private)
	if err != nil {
		return fmt.Errorf("turn off the engine's debug logs: %w", err)
	}
	return nil
}

// pulumiCommand returns the CLI at path ("" = on PATH), linked below root in the
// folder layout that the Automation API expects.
func pulumiCommand(path, root string) (auto.PulumiCommand, error) {
	options := &auto.PulumiCommandOptions{}
	if path != "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("find the pulumi binary: %w", err)
		}
		if _, err := os.Stat(absolute); err != nil {
			return nil, fmt.Errorf("find the pulumi binary: %w; run `make tools` to build it", err)
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
		return nil, fmt.Errorf("find the pulumi binary: %w; run `make tools` to build it", err)
	}
	return cli, nil
}
