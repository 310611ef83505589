// Package engine runs Pulumi on the local cloud: the real engine with a back end
// in the state folder, the local providers attached, and this program in-process.
//
// It starts no cloud and takes no lock on the state folder: internal/local does.
package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// Options say which stack to open, and where.
type Options struct {
	Project string             // the checkout: Pulumi.yaml and the stacks' files
	State   string             // folder of the local cloud
	Stack   string             // Pulumi.<stack>.yaml
	Binary  string             // the engine's
	Running localcloud.Running // the cloud that serves the providers
}

// Engine operates one stack on the local cloud.
type Engine struct {
	Dir string // working folder: copies of the project's and the stack's file

	stack auto.Stack
	state string
}

// Open opens the stack and creates it if it does not exist. It sets this
// process's environment: the program runs in it. Only one command at a time may
// have the stack open, since it rewrites the files of the working folder.
func Open(ctx context.Context, o Options) (*Engine, error) {
	return open(ctx, o, filepath.Join(o.State, "pulumi-work"), auto.UpsertStackInlineSource)
}

// Outputs reads the outputs of an existing stack, also while another command has
// it open. It sets this process's environment, as Open does.
func Outputs(ctx context.Context, o Options) (outputs.Outputs, error) {
	dir, err := os.MkdirTemp("", "observatory-outputs-")
	if err != nil {
		return outputs.Outputs{}, fmt.Errorf("read outputs of stack %s: %w", o.Stack, err)
	}
	defer os.RemoveAll(dir)
	e, err := open(ctx, o, dir, auto.SelectStackInlineSource)
	if err != nil {
		return outputs.Outputs{}, err
	}
	return e.Outputs(ctx)
}

// selectStack is a function of the Automation API that opens a stack.
type selectStack func(
	ctx context.Context, stack, project string, program pulumi.RunFunc, opts ...auto.LocalWorkspaceOption,
) (auto.Stack, error)

func open(ctx context.Context, o Options, dir string, selectStack selectStack) (*Engine, error) {
	credentials, err := localcloud.LoadCredentials(o.State)
	if err != nil {
		return nil, fmt.Errorf("open stack %s: %w", o.Stack, err)
	}
	if err := fillWorkDir(dir, o); err != nil {
		return nil, fmt.Errorf("open stack %s: %w", o.Stack, err)
	}
	backend := backendDir(o.State)
	if err := os.MkdirAll(backend, 0o700); err != nil {
		return nil, fmt.Errorf("open stack %s: %w", o.Stack, err)
	}
	env := simulator.EngineEnvironment(o.Running.DebugProviders(), backend, credentials.Passphrase)
	maps.Copy(env, map[string]string{
		"PULUMI_HOME": filepath.Join(o.State, "pulumi-home"), "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "true",
		"PATH": filepath.Dir(o.Binary) + string(os.PathListSeparator) + os.Getenv("PATH"),
	})
	maps.Copy(env, o.Running.Environment(credentials))
	for k, v := range env {
		if err := os.Setenv(k, v); err != nil {
			return nil, fmt.Errorf("open stack %s: set %s: %w", o.Stack, k, err)
		}
	}
	cli, err := auto.NewPulumiCommand(&auto.PulumiCommandOptions{SkipVersionCheck: true})
	if err != nil {
		return nil, fmt.Errorf("find the engine: %w", err)
	}
	s, err := selectStack(ctx, o.Stack, platform.Project, stacks.ProgramOf(o.Project, artifacts.Development),
		auto.WorkDir(dir), auto.EnvVars(env), auto.Pulumi(command{PulumiCommand: cli, path: o.Binary}))
	if err != nil {
		return nil, fmt.Errorf("open stack %s: %w", o.Stack, err)
	}
	return &Engine{Dir: dir, stack: s, state: o.State}, nil
}

// Configure sets configuration in the working copy of the stack's file, which
// the next Open overwrites. Each entry is key=value with dots between levels and
// [0] for the first entry of a list.
func (e *Engine) Configure(ctx context.Context, entries []string) error {
	for _, entry := range entries {
		key, value, ok := strings.Cut(entry, "=")
		if !ok || key == "" {
			return fmt.Errorf("--config %q: must be key=value, such as clusters.main.core.count=3", entry)
		}
		err := e.stack.SetConfigWithOptions(ctx, platform.Project+":"+key, auto.ConfigValue{Value: value},
			&auto.ConfigOptions{Path: strings.ContainsAny(key, ".[")})
		if err != nil {
			return fmt.Errorf("--config %s: %w", entry, err)
		}
	}
	return nil
}

// Unlock waits for the engine of a killed command and removes its lock on the
// stack. The caller holds the state folder's lock, so no other command has one.
func (e *Engine) Unlock(ctx context.Context, log *progress.Log) error {
	if err := awaitOrphans(ctx, backendURL(e.state), log); err != nil {
		return err
	}
	locks, err := filepath.Glob(filepath.Join(backendDir(e.state), ".pulumi", "locks", "*", "*", "*", "*.json"))
	if err != nil || len(locks) == 0 {
		return err
	}
	if err := e.stack.Cancel(ctx); err != nil {
		return fmt.Errorf("unlock stack %s: %w", e.stack.Name(), err)
	}
	return nil
}

// Up updates the stack to what the program declares.
func (e *Engine) Up(ctx context.Context, log *progress.Log) (outputs.Outputs, error) {
	var result auto.UpResult
	err := logEvents(ctx, log, func(ch chan<- events.EngineEvent) (err error) {
		result, err = e.stack.Up(ctx, optup.EventStreams(ch), optup.SuppressProgress(), optup.ContinueOnError())
		return err
	})
	if err != nil {
		return outputs.Outputs{}, fmt.Errorf("bring up stack %s: %w", e.stack.Name(), err)
	}
	return typedOutputs(result.Outputs)
}

// RefreshUnready refreshes the stack's state if a resource in it did not become ready,
// such as a cluster that failed to start. Without that, an update counts the resource as
// there, and its protection forbids to destroy the stack.
func (e *Engine) RefreshUnready(ctx context.Context) error {
	resources, err := changes.Resources(ctx, e.stack)
	if err != nil {
		return fmt.Errorf("look for unready resources: %w", err)
	}
	if !anyUnready(resources) {
		return nil
	}
	return e.Refresh(ctx)
}

func anyUnready(resources []apitype.ResourceV3) bool {
	return slices.ContainsFunc(resources, func(r apitype.ResourceV3) bool { return len(r.InitErrors) > 0 })
}

// Refresh updates the stack's state to the resources that still exist.
func (e *Engine) Refresh(ctx context.Context) error {
	if _, err := e.stack.Refresh(ctx, optrefresh.SuppressProgress()); err != nil {
		return fmt.Errorf("refresh stack %s: %w", e.stack.Name(), err)
	}
	return nil
}

// Destroy destroys the stack. If a resource is protected, it deletes nothing and
// its error names the resource. It calls begin before the first deletion.
func (e *Engine) Destroy(ctx context.Context, log *progress.Log, begin func() error) error {
	err := logEvents(ctx, log, func(ch chan<- events.EngineEvent) error {
		return changes.Destroy(ctx, e.stack, changes.Guard{Begin: begin}, optdestroy.EventStreams(ch))
	})
	if err != nil {
		return fmt.Errorf("destroy stack %s: %w", e.stack.Name(), err)
	}
	return nil
}

// Outputs reads the stack's outputs.
func (e *Engine) Outputs(ctx context.Context) (outputs.Outputs, error) {
	all, err := e.stack.Outputs(ctx)
	if err != nil {
		return outputs.Outputs{}, fmt.Errorf("read outputs of stack %s: %w", e.stack.Name(), err)
	}
	return typedOutputs(all)
}

// typedOutputs converts the engine's outputs to their types.
func typedOutputs(all auto.OutputMap) (outputs.Outputs, error) {
	plain := map[string]any{}
	for k, v := range all {
		plain[k] = v.Value
	}
	o, _, err := outputs.FromMap(plain)
	if err != nil {
		return o, fmt.Errorf("read the stack's outputs: %w", err)
	}
	return o, nil
}

// isEmpty reports whether the stack's state has no resources; false if their
// number is unknown.
func (e *Engine) isEmpty(ctx context.Context) (bool, error) {
	info, err := e.stack.Info(ctx)
	if err != nil {
		return false, fmt.Errorf("count resources of stack %s: %w", e.stack.Name(), err)
	}
	return info.ResourceCount != nil && *info.ResourceCount == 0, nil
}

// shortError drops the engine's transcript from an error: the errors of resources have
// already been printed.
func shortError(err error) error {
	if err == nil {
		return nil
	}
	text, _, cut := strings.Cut(err.Error(), "\ncode:")
	if !cut {
		return err
	}
	return errors.New(text + ": see the errors above")
}
