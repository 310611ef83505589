// Package command runs the commands of command:local:Command as pulumi-command
// does. The caller decides when: on create, update and delete.
package command

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/emr-observatory/emr-observatory/simulator/property"
)

// Token is the resource type.
const Token = "command:local:Command"

// Phase is the operation that a command runs for.
type Phase string

// The phases, named as the inputs that hold their commands.
const (
	Create Phase = "create"
	Update Phase = "update"
	Delete Phase = "delete"
)

// Line is one command line to run.
type Line struct {
	Phase       Phase
	Text        string
	Interpreter []string // never empty
	Dir, Stdin  string
	Environment map[string]string // added to the runner's own
}

// Runner runs commands. The error of a failed command must not contain its
// output: Run adds the output with secrets redacted.
type Runner interface {
	Run(ctx context.Context, l Line) (stdout, stderr string, err error)
}

// Shell runs commands as processes of this machine.
type Shell struct {
	// Start starts a command, on the machine that runs the program; nil = here.
	Start func(*exec.Cmd) error
}

// Run implements Runner.
func (s Shell) Run(ctx context.Context, l Line) (stdout, stderr string, err error) {
	argv := append(slices.Clone(l.Interpreter), l.Text)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = l.Dir
	cmd.Env = os.Environ()
	for k, v := range l.Environment {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdin = strings.NewReader(l.Stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := (*exec.Cmd).Start
	if s.Start != nil {
		start = s.Start
	}
	err = start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return out.String(), errs.String(), fmt.Errorf("run %s: %w", argv[0], err)
	}
	return out.String(), errs.String(), nil
}

// Run runs the command that inputs hold for the phase and returns the
// resource's outputs. previous are the outputs of the last run, nil on create.
// Without a command for the phase nothing runs; an update falls back to create.
func Run(ctx context.Context, runner Runner, phase Phase, inputs, previous resource.PropertyMap) (resource.PropertyMap, error) {
	in := property.Plain(inputs)
	if phase != Delete && (in["assetPaths"] != nil || in["archivePaths"] != nil) {
		return nil, fmt.Errorf("%s: assetPaths and archivePaths are not supported by the simulator; remove them", phase)
	}
	text, ok := in[string(phase)].(string)
	if !ok && phase == Update {
		text, _ = in[string(Create)].(string)
	}
	var stdout, stderr string
	if text != "" {
		var err error
		stdout, stderr, err = runner.Run(ctx, newLine(in, property.Plain(previous), phase, text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", phase, err, redact(tail(stderr+stdout), inputs))
		}
	}
	outputs := inputs.Copy()
	for key, value := range map[resource.PropertyKey]string{"stdout": stdout, "stderr": stderr} {
		outputs[key] = resource.NewStringProperty(strings.TrimSuffix(value, "\n"))
		if inputs.ContainsSecrets() { // a command may print the secrets it was given
			outputs[key] = resource.MakeSecret(outputs[key])
		}
	}
	return outputs, nil
}

func newLine(in, previous map[string]any, phase Phase, text string) Line {
	l := Line{Phase: phase, Text: text, Environment: map[string]string{}}
	l.Dir, _ = in["dir"].(string)
	l.Stdin, _ = in["stdin"].(string)
	interpreter, _ := in["interpreter"].([]any)
	for _, e := range interpreter {
		word, _ := e.(string)
		l.Interpreter = append(l.Interpreter, word)
	}
	if len(l.Interpreter) == 0 {
		l.Interpreter = []string{"/bin/sh", "-c"}
	}
	if add, set := in["addPreviousOutputInEnv"].(bool); !set || add {
		for key, name := range map[string]string{"stdout": "PULUMI_COMMAND_STDOUT", "stderr": "PULUMI_COMMAND_STDERR"} {
			if v, ok := previous[key].(string); ok {
				l.Environment[name] = v
			}
		}
	}
	environment, _ := in["environment"].(map[string]any)
	for k, v := range environment {
		l.Environment[k], _ = v.(string)
	}
	return l
}

// tail keeps the end of an output, which says why a command failed.
func tail(s string) string {
	const maxBytes = 2000
	s = strings.TrimSpace(s)
	if len(s) > maxBytes {
		return "…" + s[len(s)-maxBytes:]
	}
	return s
}

// redact replaces the secrets of inputs in s.
func redact(s string, inputs resource.PropertyMap) string {
	found := secretStrings(resource.NewObjectProperty(inputs), false)
	// Longer ones first: one secret may be part of another.
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	for _, secret := range found {
		s = strings.ReplaceAll(s, secret, "[secret]")
	}
	return s
}

// secretStrings returns the strings in v that are secret or part of a secret.
func secretStrings(v resource.PropertyValue, inSecret bool) []string {
	inSecret = inSecret || v.IsSecret()
	v, _ = property.Unwrap(v)
	var out []string
	switch {
	case v.IsObject():
		for e := range maps.Values(v.ObjectValue()) {
			out = append(out, secretStrings(e, inSecret)...)
		}
	case v.IsArray():
		for _, e := range v.ArrayValue() {
			out = append(out, secretStrings(e, inSecret)...)
		}
	case inSecret && v.IsString() && v.StringValue() != "":
		out = append(out, v.StringValue())
	}
	return out
}
