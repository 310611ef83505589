package provider

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/localcloud/provider/catalog"
)

// CommandLine is one run of a command:local:Command.
type CommandLine struct {
	Phase       string // create, update or delete
	Line        string
	Interpreter []string // never empty
	Dir, Stdin  string
	Environment map[string]string // beside the runner's own
}

// CommandRunner runs the commands of command:local:Command. The error of a
// command that failed must not hold its output: the caller adds that, with
// secrets taken out.
type CommandRunner interface {
	Run(ctx context.Context, c CommandLine) (stdout, stderr string, err error)
}

// Shell runs commands as processes of this machine.
type Shell struct {
	// Prefix goes before every command, e.g. nsenter and its arguments.
	Prefix []string
}

// Run implements CommandRunner.
func (s Shell) Run(ctx context.Context, c CommandLine) (stdout, stderr string, err error) {
	argv := append(append(append([]string{}, s.Prefix...), c.Interpreter...), c.Line)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // running the program's command is the purpose
	cmd.Dir = c.Dir
	cmd.Env = os.Environ()
	for k, v := range c.Environment {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdin = strings.NewReader(c.Stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// command is the Handler of command:local:Command: it runs create on creation,
// update (or else create) on an edit, delete on deletion, as pulumi-command
// does.
type command struct{ run CommandRunner }

// Create implements Handler.
func (c command) Create(ctx context.Context, r Request) (Result, error) {
	in := catalog.Plain(r.Inputs)
	if in["assetPaths"] != nil || in["archivePaths"] != nil {
		return Result{}, fmt.Errorf("create %s: assetPaths and archivePaths are not supported by the local cloud", r.Name)
	}
	line, _ := in["create"].(string)
	outputs, err := c.execute(ctx, r, "create", line)
	if err != nil {
		return Result{}, err
	}
	id, err := resource.NewUniqueHex("", 32, 0)
	return Result{ID: "create" + id, Outputs: outputs}, err
}

// Read implements Handler: a command leaves nothing that could be looked at.
func (command) Read(_ context.Context, r Request) (Result, bool, error) {
	return Result{ID: r.ID, Outputs: r.Outputs}, true, nil
}

// Update implements Handler.
func (c command) Update(ctx context.Context, r Request) (Result, error) {
	in := catalog.Plain(r.Inputs)
	line, ok := in["update"].(string)
	if !ok {
		line, _ = in["create"].(string)
	}
	outputs, err := c.execute(ctx, r, "update", line)
	return Result{ID: r.ID, Outputs: outputs}, err
}

// Delete implements Handler.
func (c command) Delete(ctx context.Context, r Request) error {
	line, ok := catalog.Plain(r.Inputs)["delete"].(string)
	if !ok {
		return nil
	}
	_, err := c.execute(ctx, r, "delete", line)
	return err
}

// execute runs a line and gives the resource's outputs. An empty line runs
// nothing.
func (c command) execute(ctx context.Context, r Request, phase, line string) (resource.PropertyMap, error) {
	in := catalog.Plain(r.Inputs)
	outputs := r.Inputs.Copy()
	var stdout, stderr string
	if line != "" {
		var err error
		stdout, stderr, err = c.run.Run(ctx, commandLine(in, catalog.Plain(r.Outputs), phase, line))
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w: %s", phase, r.Name, err, redact(tail(stderr+stdout), r.Inputs))
		}
	}
	for key, value := range map[resource.PropertyKey]string{"stdout": stdout, "stderr": stderr} {
		outputs[key] = resource.NewStringProperty(strings.TrimSuffix(value, "\n"))
		if r.Inputs.ContainsSecrets() { // what a secret went into may hold it
			outputs[key] = resource.MakeSecret(outputs[key])
		}
	}
	return outputs, nil
}

func commandLine(in, before map[string]any, phase, line string) CommandLine {
	c := CommandLine{Phase: phase, Line: line, Environment: map[string]string{}}
	c.Dir, _ = in["dir"].(string)
	c.Stdin, _ = in["stdin"].(string)
	interpreter, _ := in["interpreter"].([]any)
	for _, e := range interpreter {
		word, _ := e.(string)
		c.Interpreter = append(c.Interpreter, word)
	}
	if len(c.Interpreter) == 0 {
		c.Interpreter = []string{"/bin/sh", "-c"}
	}
	if keep, set := in["addPreviousOutputInEnv"].(bool); !set || keep {
		for key, name := range map[string]string{"stdout": "PULUMI_COMMAND_STDOUT", "stderr": "PULUMI_COMMAND_STDERR"} {
			if v, ok := before[key].(string); ok {
				c.Environment[name] = v
			}
		}
	}
	environment, _ := in["environment"].(map[string]any)
	for k, v := range environment {
		c.Environment[k], _ = v.(string)
	}
	return c
}

// tail keeps the end of an output, where the failure is told.
func tail(s string) string {
	const most = 2000
	s = strings.TrimSpace(s)
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// redact takes the inputs' secrets out of a text.
func redact(s string, inputs resource.PropertyMap) string {
	var secrets []string
	var collect func(v resource.PropertyValue, secret bool)
	collect = func(v resource.PropertyValue, secret bool) {
		secret = secret || v.IsSecret()
		v, _ = catalog.Reveal(v)
		switch {
		case v.IsObject():
			for _, e := range v.ObjectValue() {
				collect(e, secret)
			}
		case v.IsArray():
			for _, e := range v.ArrayValue() {
				collect(e, secret)
			}
		case secret && v.IsString() && v.StringValue() != "":
			secrets = append(secrets, v.StringValue())
		}
	}
	collect(resource.NewObjectProperty(inputs), false)
	sort.Slice(secrets, func(i, j int) bool { return len(secrets[i]) > len(secrets[j]) })
	for _, secret := range secrets {
		s = strings.ReplaceAll(s, secret, "[secret]")
	}
	return s
}
