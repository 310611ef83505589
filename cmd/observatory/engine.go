package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gopkg.in/yaml.v3"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/provider"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// engine is Pulumi on the local cloud: the real engine with a back end in the
// state folder, its providers attached, and this program in-process.
type engine struct {
	stack auto.Stack
	state string // folder of the local cloud
	dir   string
	env   map[string]string
}

// newEngine opens the stack, making it where there is none. pulumi is the
// engine's binary.
func newEngine(ctx context.Context, state, stack, pulumi string, running localcloud.Running) (*engine, error) {
	credentials, err := localcloud.LoadCredentials(state)
	if err != nil {
		return nil, err
	}
	project, err := projectDir()
	if err != nil {
		return nil, err
	}
	dir, err := workDir(project, state, stack)
	if err != nil {
		return nil, err
	}
	backend := backendDir(state)
	if err := os.MkdirAll(backend, 0o700); err != nil {
		return nil, err
	}
	env := provider.EngineEnvironment(running.DebugProviders(), backend, credentials.Passphrase)
	maps.Copy(env, map[string]string{
		"PULUMI_HOME": filepath.Join(state, "pulumi-home"), "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "true",
		"PATH": filepath.Dir(pulumi) + string(os.PathListSeparator) + os.Getenv("PATH"),
	})
	maps.Copy(env, running.Environment(credentials))
	// The program runs in this process and the engine's command is looked up
	// by it, so both see the same environment.
	for k, v := range env {
		if err := os.Setenv(k, v); err != nil {
			return nil, err
		}
	}
	command, err := auto.NewPulumiCommand(&auto.PulumiCommandOptions{SkipVersionCheck: true})
	if err != nil {
		return nil, fmt.Errorf("find the engine: %w", err)
	}
	s, err := auto.UpsertStackInlineSource(ctx, stack, platform.Project, stacks.ProgramOf(project), auto.WorkDir(dir), auto.EnvVars(env),
		auto.Pulumi(engineCommand{PulumiCommand: command, path: pulumi}))
	if err != nil {
		return nil, fmt.Errorf("open stack %s: %w", stack, err)
	}
	return &engine{stack: s, state: state, dir: dir, env: env}, nil
}

func backendDir(state string) string { return filepath.Join(state, "pulumi") }
func backendURL(state string) string { return "file://" + backendDir(state) }

// workDir copies the project's settings into the state folder, since the
// engine writes the salt of the stack's secrets beside them.
func workDir(project, state, stack string) (string, error) {
	dir := filepath.Join(state, "pulumi-work")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file := "Pulumi." + stack + ".yaml"
	for _, name := range []string{"Pulumi.yaml", file} {
		raw, err := os.ReadFile(filepath.Join(project, name))
		if err != nil {
			return "", fmt.Errorf("stack %s: %w", stack, err)
		}
		if name == file {
			if raw, err = keepSalt(raw, filepath.Join(dir, name)); err != nil {
				return "", err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// keepSalt carries the engine's own keys over from the copy of an earlier run.
func keepSalt(raw []byte, old string) ([]byte, error) {
	before, err := os.ReadFile(old)
	if errors.Is(err, os.ErrNotExist) {
		return raw, nil
	}
	if err != nil {
		return nil, err
	}
	var was, now map[string]any
	if err := errors.Join(yaml.Unmarshal(before, &was), yaml.Unmarshal(raw, &now)); err != nil {
		return nil, err
	}
	for _, k := range []string{"encryptionsalt", "secretsprovider", "encryptedkey"} {
		if v, ok := was[k]; ok {
			now[k] = v
		}
	}
	return yaml.Marshal(now)
}

// configure sets configuration in the working copy of the stack's file, which
// the next run writes anew. Each entry is key=value with dots between levels.
func (e *engine) configure(ctx context.Context, entries []string) error {
	for _, entry := range entries {
		key, value, ok := strings.Cut(entry, "=")
		if !ok || key == "" {
			return fmt.Errorf("--config %q: must be key=value, such as emr.core.count=3", entry)
		}
		err := e.stack.SetConfigWithOptions(ctx, platform.Project+":"+key, auto.ConfigValue{Value: value}, &auto.ConfigOptions{Path: strings.Contains(key, ".")})
		if err != nil {
			return fmt.Errorf("--config %s: %w", entry, err)
		}
	}
	return nil
}

// unlock waits for what a killed run left at work and removes its lock: the
// back end is this state folder's own, and the caller holds the folder.
func (e *engine) unlock(ctx context.Context, p *progress) error {
	if err := awaitEngines(ctx, backendURL(e.state), p); err != nil {
		return err
	}
	locks, err := filepath.Glob(filepath.Join(backendDir(e.state), ".pulumi", "locks", "*", "*", "*", "*.json"))
	if err != nil || len(locks) == 0 {
		return err
	}
	return e.stack.Cancel(ctx)
}

// up brings the stack to what the program says and tells of each resource.
func (e *engine) up(ctx context.Context, p *progress) (auto.UpResult, error) {
	ch := make(chan events.EngineEvent, 64)
	told := make(chan struct{})
	go func() {
		defer close(told)
		tell(ch, p)
	}()
	res, err := e.stack.Up(ctx, optup.EventStreams(ch), optup.SuppressProgress(), optup.ContinueOnError())
	<-told
	return res, short(err)
}

// refresh learns what of the stack is still there.
func (e *engine) refresh(ctx context.Context) error {
	_, err := e.stack.Refresh(ctx, optrefresh.SuppressProgress())
	return err
}

// destroy takes the stack down, or says what is protected and leaves it whole.
// begin is called before the first resource goes.
func (e *engine) destroy(ctx context.Context, p *progress, begin func() error) error {
	ch := make(chan events.EngineEvent, 64)
	told := make(chan struct{})
	go func() {
		defer close(told)
		tell(ch, p)
	}()
	err := changes.Destroy(ctx, e.stack, changes.Guard{Begin: begin}, optdestroy.EventStreams(ch))
	<-told
	return short(err)
}

// short leaves the engine's own account of its work out of an error: each
// fault has been told when it happened.
func short(err error) error {
	if err == nil {
		return nil
	}
	text, _, cut := strings.Cut(err.Error(), "\ncode:")
	if !cut {
		return err
	}
	return errors.New(text + ", for the faults named above")
}

// slow is how long a resource takes before it deserves a line of its own.
const slow = 2 * time.Second

// tell prints faults at once, and resources that took long or were replaced.
func tell(ch <-chan events.EngineEvent, p *progress) {
	began := map[string]time.Time{}
	counts := map[apitype.OpType]int{}
	for ev := range ch {
		switch {
		case ev.ResourcePreEvent != nil:
			began[ev.ResourcePreEvent.Metadata.URN] = time.Now()
		case ev.ResOutputsEvent != nil:
			m := ev.ResOutputsEvent.Metadata
			counts[m.Op]++
			if d := time.Since(began[m.URN]); d > slow && m.Op != apitype.OpSame && !strings.Contains(m.Type, "pulumi:") && m.Provider != "" {
				p.say("%s %s (%s)", m.Op, name(m.URN), d.Round(time.Second))
			}
		case ev.DiagnosticEvent != nil && ev.DiagnosticEvent.Severity == "error":
			p.say("error: %s: %s", name(ev.DiagnosticEvent.URN), strings.TrimSpace(ev.DiagnosticEvent.Message))
		}
	}
	p.say("resources: %d created, %d updated, %d replaced, %d deleted, %d unchanged",
		counts[apitype.OpCreate], counts[apitype.OpUpdate], counts[apitype.OpReplace], counts[apitype.OpDelete], counts[apitype.OpSame])
}

// empty tells whether the stack's state has no resources. What cannot be known
// counts as there.
func (e *engine) empty(ctx context.Context) (bool, error) {
	info, err := e.stack.Info(ctx)
	return err == nil && info.ResourceCount != nil && *info.ResourceCount == 0, err
}

func name(urn string) string {
	parts := strings.Split(urn, "::")
	if len(parts) < 4 {
		return urn
	}
	types := strings.Split(parts[2], "$")
	return types[len(types)-1] + " " + parts[3]
}

// outputsOf reads the stack's outputs as its typed contract.
func (e *engine) outputsOf(ctx context.Context) (outputs.Outputs, error) {
	all, err := e.stack.Outputs(ctx)
	if err != nil {
		return outputs.Outputs{}, err
	}
	return contract(all)
}

func contract(all auto.OutputMap) (outputs.Outputs, error) {
	plain := map[string]any{}
	for k, v := range all {
		plain[k] = v.Value
	}
	o, _, err := outputs.FromMap(plain)
	return o, err
}
