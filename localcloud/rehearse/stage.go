package rehearse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/localcloud/provider"
)

// Stage is a stack on the real engine with recorded providers behind it.
type Stage struct {
	Stack   auto.Stack
	Servers *provider.Servers

	temporary string // folder to remove; "" = none
}

// Open makes the stack and serves its providers. Stages with the same WorkDir
// see each other's stacks, as stack references do. The caller closes it.
func Open(ctx context.Context, program pulumi.RunFunc, o Options) (stage *Stage, err error) {
	s := &Stage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if o.WorkDir == "" {
		if o.WorkDir, err = os.MkdirTemp("", "rehearsal-"); err != nil {
			return nil, fmt.Errorf("make work folder: %w", err)
		}
		s.temporary = o.WorkDir
	}
	o.Providers.Handlers, o.Providers.Command = nil, silent{}
	if s.Servers, err = provider.Listen(o.Providers); err != nil {
		return nil, err
	}
	for _, r := range o.Existing {
		s.Servers.Account.Learn(r)
	}
	if s.Stack, err = prepare(ctx, program, o, s.Servers.Environment()); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the providers and removes what Open made in a folder of its own.
func (s *Stage) Close() error {
	var faults []error
	if s.Servers != nil {
		faults = append(faults, s.Servers.Close())
	}
	if s.temporary != "" {
		faults = append(faults, os.RemoveAll(s.temporary))
	}
	return errors.Join(faults...)
}

const defaultStack = "rehearsal"

// silent runs no command and says that all went well.
type silent struct{}

// Run implements provider.CommandRunner.
func (silent) Run(context.Context, provider.CommandLine) (string, string, error) { return "", "", nil }

// prepare makes the stack in a backend of files of its own.
func prepare(ctx context.Context, program pulumi.RunFunc, o Options, providers string) (auto.Stack, error) {
	project := or(o.Project, "emr-observatory")
	state, home, work := filepath.Join(o.WorkDir, "state"), filepath.Join(o.WorkDir, "home"), filepath.Join(o.WorkDir, "work", project)
	for _, dir := range []string{state, home, work} {
		const private = 0o700
		if err := os.MkdirAll(dir, private); err != nil {
			return auto.Stack{}, fmt.Errorf("make work folder: %w", err)
		}
	}
	cli, err := commandAt(o.PulumiCommand, filepath.Join(o.WorkDir, "cli"))
	if err != nil {
		return auto.Stack{}, err
	}
	environment := provider.EngineEnvironment(providers, state, or(o.Passphrase, "rehearsal"))
	// The state is written once per run instead of at each resource, which took
	// more than half of the time. What a killed run loses is not real.
	environment["PULUMI_SKIP_CHECKPOINTS"] = "true"
	stack, err := auto.UpsertStackInlineSource(ctx, or(o.Stack, defaultStack), project, program,
		auto.Pulumi(cli), auto.PulumiHome(home), auto.WorkDir(work), auto.EnvVars(environment))
	if err != nil {
		return auto.Stack{}, fmt.Errorf("make stack: %w", err)
	}
	if err := stack.SetAllConfig(ctx, o.Config); err != nil {
		return auto.Stack{}, fmt.Errorf("configure stack: %w", err)
	}
	return stack, nil
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
