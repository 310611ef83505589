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
	path               string // the engine's binary
}

// Run implements auto.PulumiCommand. After an interrupt, too, it waits without
// limit for the engine, which passes the interrupt on; a second one ends this
// process alone.
func (e engineCommand) Run(ctx context.Context, workdir string, stdin io.Reader, outputs, problems []io.Writer, env []string, args ...string) (stdout, stderr string, code int, err error) {
	if !slices.Contains(args, "--non-interactive") {
		args = append([]string{"--non-interactive"}, args...)
	}
	code = -2 // unknown, as in the Automation API
	out, err := unnamed()
	if err != nil {
		return "", "", code, err
	}
	defer out.Close()
	troubles, err := unnamed()
	if err != nil {
		return "", "", code, err
	}
	defer troubles.Close()
	cmd := exec.CommandContext(ctx, e.path, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = workdir, stdin, out, troubles
	cmd.Env = append(append(os.Environ(), env...), "PULUMI_AUTOMATION_API=true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C comes by way of ctx, once
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err == nil {
		code = 0
	}
	stdout, outErr := passOn(out, outputs)
	stderr, troubleErr := passOn(troubles, problems)
	return stdout, stderr, code, errors.Join(err, outErr, troubleErr)
}

// unnamed is a file that no folder shows: the engine prints secrets to it.
func unnamed() (*os.File, error) {
	f, err := os.CreateTemp("", "observatory-engine-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// passOn reads what was written to a file, for the writers too.
func passOn(f *os.File, writers []io.Writer) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	text, err := io.ReadAll(f)
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
