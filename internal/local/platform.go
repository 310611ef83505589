// Package local builds and removes the platform on the local cloud: it locks the
// state folder, builds the tools, starts the cloud, runs the engine on it, and
// submits the example job.
//
// It prints progress, but neither results nor help: cmd/observatory does.
package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"github.com/emr-observatory/emr-observatory/internal/engine"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/internet"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/schema/violation"
	"github.com/emr-observatory/emr-observatory/stacks/config"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// Platform is one stack and the local cloud that it runs on.
type Platform struct {
	Project string // the checkout: Pulumi.yaml and the stacks' files
	State   string // folder of the local cloud; need not exist
	Stack   string // Pulumi.<stack>.yaml
}

// Config reads the stack's configuration from its file. entries (key=value)
// override the file. With another access than public the program would wait for the
// control node in vain: the local cloud runs it outside the VPC, without a tunnel.
func (p Platform) Config(entries []string) (schema.Config, error) {
	_, cfg, err := config.ReadStackFile(p.Project, p.Stack, entries...)
	if err == nil {
		l := violation.List{Prefix: platform.Project + ":"}
		l.Require(cfg.ControlNode.Access == schema.AccessPublic, "controlNode.access", cfg.ControlNode.Access,
			"must be public on the local cloud, whose workstation is outside the VPC",
			"set it to public, and put "+internet.WorkstationAddress+"/32 into operatorCidrs")
		err = l.Err()
	}
	if err != nil {
		return cfg, fmt.Errorf("read configuration of stack %s: %w", p.Stack, err)
	}
	return cfg, nil
}

// Connect points this process's AWS clients at the local cloud of a state folder,
// through the environment. found is false if none runs: the clients then keep the
// ambient AWS configuration.
func Connect(state string) (running localcloud.Running, found bool, err error) {
	running, err = localcloud.Find(state)
	if errors.Is(err, localcloud.ErrDown) {
		return running, false, nil
	}
	if err != nil {
		return running, false, fmt.Errorf("find the local cloud of %s: %w", state, err)
	}
	credentials, err := localcloud.LoadCredentials(state)
	if err != nil {
		return running, false, fmt.Errorf("connect to the local cloud: %w", err)
	}
	for k, v := range running.Environment(credentials) {
		if err := os.Setenv(k, v); err != nil {
			return running, false, fmt.Errorf("connect to the local cloud: set %s: %w", k, err)
		}
	}
	return running, true, nil
}

// Engine opens the stack on a running local cloud.
func (p Platform) Engine(ctx context.Context, running localcloud.Running) (*engine.Engine, error) {
	binary, err := findEngine(ctx)
	if err != nil {
		return nil, err
	}
	return engine.Open(ctx, p.engineOptions(binary, running))
}

// Outputs reads the outputs of the stack on a running local cloud, also while another
// command changes the stack.
func (p Platform) Outputs(ctx context.Context, running localcloud.Running) (outputs.Outputs, error) {
	binary, err := findEngine(ctx)
	if err != nil {
		return outputs.Outputs{}, err
	}
	return engine.Outputs(ctx, p.engineOptions(binary, running))
}

func findEngine(ctx context.Context) (string, error) {
	binary, err := servers.Find(ctx, servers.Pulumi)
	if err != nil {
		return "", fmt.Errorf("find the engine: %w", err)
	}
	return binary, nil
}

func (p Platform) engineOptions(binary string, running localcloud.Running) engine.Options {
	return engine.Options{Project: p.Project, State: p.State, Stack: p.Stack, Binary: binary, Running: running}
}

// AWSConfig loads the SDK's default configuration: the environment decides whether
// that is AWS or, after Connect or Up, the local cloud.
func AWSConfig(ctx context.Context) (aws.Config, error) {
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return cfg, fmt.Errorf("load AWS configuration: %w", err)
	}
	return cfg, nil
}

// Programs are the binaries that run the local cloud.
type Programs struct {
	Observatory string // runs Serve as its hidden command `region`
	Machined    string // the init of each machine
}

// start starts the local cloud unless it runs already.
func (p Platform) start(ctx context.Context, o UpOptions, tools Tools) (localcloud.Running, error) {
	options, err := json.Marshal(localcloud.Options{
		State: p.State, Machined: o.Programs.Machined, Applications: tools.Applications, JavaHome: tools.JavaHome, Servers: tools.Servers,
		Grafana: tools.Grafana, LogDelay: o.LogDelay, EventLogInterval: o.EventLogInterval,
	})
	if err != nil {
		return localcloud.Running{}, fmt.Errorf("start the local cloud: %w", err)
	}
	file := filepath.Join(p.State, "options.json")
	if err := os.WriteFile(file, options, 0o600); err != nil {
		return localcloud.Running{}, fmt.Errorf("start the local cloud: %w", err)
	}
	running, err := localcloud.Start(ctx, p.State, o.Programs.Machined, []string{o.Programs.Observatory, "region", file})
	if err != nil {
		return running, fmt.Errorf("start the local cloud: %w", err)
	}
	return running, nil
}

// Serve runs the local cloud in this process, with the options that start wrote
// to a file.
func Serve(ctx context.Context, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the local cloud's options: %w", err)
	}
	var o localcloud.Options
	if err := json.Unmarshal(raw, &o); err != nil {
		return fmt.Errorf("read the local cloud's options from %s: %w", file, err)
	}
	return localcloud.Serve(ctx, o)
}
