package engine

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scriptCommand runs a script in place of the engine.
func scriptCommand(t *testing.T, script string) command {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pulumi")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/bash\n"+script), 0o755))
	return command{path: path}
}

func TestCommandReturnsOutputAndExitCode(t *testing.T) {
	c := scriptCommand(t, `echo "$1 $2 $EXTRA $PULUMI_AUTOMATION_API"; echo trouble >&2; readlink /proc/$$/fd/1; exit 3`)
	var copied bytes.Buffer
	stdout, stderr, code, err := c.Run(t.Context(), t.TempDir(), nil, []io.Writer{&copied}, nil, []string{"EXTRA=more"}, "up")
	require.Error(t, err)
	require.Equal(t, 3, code)
	require.True(t, strings.HasPrefix(stdout, "--non-interactive up more true\n"), stdout)
	require.Equal(t, stdout, copied.String())
	require.Equal(t, "trouble\n", stderr)
	require.Contains(t, stdout, "(deleted)", "no pipe, and no file that others see: the engine prints secrets")
}

// After an interrupt the engine finishes what it has begun, and Run waits for it.
func TestCommandWaitsForAnInterruptedEngine(t *testing.T) {
	// The program does this too. Otherwise a test that runs under nohup or in the
	// background of a script has SIGINT ignored, and the engine inherits that.
	notified := make(chan os.Signal, 1)
	signal.Notify(notified, os.Interrupt)
	defer signal.Stop(notified)
	c := scriptCommand(t, `trap 'sleep 1; echo ended; exit 1' INT; echo begun >begun; while :; do sleep 0.05; done`)
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
				interrupt()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	stdout, _, _, err := c.Run(ctx, dir, nil, nil, nil, nil, "up")
	require.Error(t, err)
	require.Equal(t, "ended\n", stdout)
}
