package engine

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

// command runs the engine's command line so that an operation it has begun is
// finished and recorded even if this process ends. The Automation API's own
// command gives the engine pipes, which kill it when they close, and ten seconds
// after an interrupt.
type command struct {
	auto.PulumiCommand        // for its version
	path               string // the engine's binary
}

// unknownExitCode is the Automation API's.
const unknownExitCode = -2

// Run implements auto.PulumiCommand. After an interrupt it still waits for the
// engine, without limit, and passes the interrupt on; a second interrupt ends
// this process alone.
func (c command) Run(ctx context.Context, workdir string, stdin io.Reader, stdoutWriters, stderrWriters []io.Writer, env []string,
	args ...string,
) (stdout, stderr string, code int, err error) {
	if !slices.Contains(args, "--non-interactive") {
		args = append([]string{"--non-interactive"}, args...)
	}
	code = unknownExitCode
	outFile, err := unlinkedFile()
	if err != nil {
		return "", "", code, err
	}
	defer outFile.Close()
	errFile, err := unlinkedFile()
	if err != nil {
		return "", "", code, err
	}
	defer errFile.Close()
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = workdir, stdin, outFile, errFile
	cmd.Env = append(append(os.Environ(), env...), "PULUMI_AUTOMATION_API=true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C arrives through ctx, once
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err == nil {
		code = 0
	}
	stdout, outErr := copyOut(outFile, stdoutWriters)
	stderr, errErr := copyOut(errFile, stderrWriters)
	return stdout, stderr, code, errors.Join(err, outErr, errErr)
}

// unlinkedFile creates a file without a name in any folder: the engine prints
// secrets to it.
func unlinkedFile() (*os.File, error) {
	f, err := os.CreateTemp("", "observatory-engine-")
	if err != nil {
		return nil, fmt.Errorf("create a file for the engine's output: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("unlink the engine's output: %w", err), f.Close())
	}
	return f, nil
}

// copyOut returns a file's content and writes it to the writers too.
func copyOut(f *os.File, writers []io.Writer) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("read the engine's output: %w", err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return "", fmt.Errorf("read the engine's output: %w", err)
	}
	for _, w := range writers {
		if _, err := w.Write(text); err != nil {
			return "", fmt.Errorf("copy the engine's output: %w", err)
		}
	}
	return string(text), nil
}
