package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
)

// engineCommand runs the engine's command line so that what it has begun comes
// to an end and is written down, whatever becomes of this process. The
// Automation API's own gives it pipes, whose end kills it, and ten seconds
// after an interrupt.
type engineCommand struct {
	auto.PulumiCommand        // for its version
	path, dir          string // the engine's binary; where its output goes while it runs
}

// Run implements auto.PulumiCommand. It waits for the engine without limit:
// after an interrupt too, which the engine passes on.
func (e engineCommand) Run(ctx context.Context, workdir string, stdin io.Reader, outputs, problems []io.Writer, env []string, args ...string) (stdout, stderr string, code int, err error) {
	if !slices.Contains(args, "--non-interactive") {
		args = append([]string{"--non-interactive"}, args...)
	}
	const unknown = -2 // as in the Automation API
	out, err := os.CreateTemp(e.dir, "engine-*.out")
	if err != nil {
		return "", "", unknown, err
	}
	defer forgetFile(out)
	faults, err := os.CreateTemp(e.dir, "engine-*.err")
	if err != nil {
		return "", "", unknown, err
	}
	defer forgetFile(faults)
	cmd := exec.CommandContext(ctx, e.path, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = workdir, stdin, out, faults
	cmd.Env = append(append(os.Environ(), env...), "PULUMI_AUTOMATION_API=true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C comes by way of ctx, once
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err = cmd.Run()
	code = unknown
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err == nil {
		code = 0
	}
	stdout, fault := printed(out, outputs)
	stderr, fault2 := printed(faults, problems)
	return stdout, stderr, code, errors.Join(err, fault, fault2)
}

// printed reads what was written to a file, for the writers too.
func printed(f *os.File, writers []io.Writer) (string, error) {
	text, err := os.ReadFile(f.Name())
	if err != nil {
		return "", err
	}
	for _, w := range writers {
		if _, err := w.Write(text); err != nil {
			return "", fmt.Errorf("pass on the engine's output: %w", err)
		}
	}
	return string(text), nil
}

func forgetFile(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name())
}
