package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// fakeEngine is a script in the engine's place.
func fakeEngine(t *testing.T, script string) engineCommand {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pulumi")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/bash\n"+script), 0o755)) //nolint:gosec // it is run
	return engineCommand{path: path}
}

func TestTheEnginesOutputAndCodeArePassedOn(t *testing.T) {
	e := fakeEngine(t, `echo "$1 $2 $EXTRA $PULUMI_AUTOMATION_API"; echo trouble >&2; readlink /proc/$$/fd/1; exit 3`)
	var told bytes.Buffer
	stdout, stderr, code, err := e.Run(t.Context(), t.TempDir(), nil, []io.Writer{&told}, nil, []string{"EXTRA=more"}, "up")
	require.Error(t, err)
	require.Equal(t, 3, code)
	require.True(t, strings.HasPrefix(stdout, "--non-interactive up more true\n"), stdout)
	require.Equal(t, stdout, told.String())
	require.Equal(t, "trouble\n", stderr)
	require.Contains(t, stdout, "(deleted)", "no pipe, and no file that others see: the engine prints secrets")
}

// After an interrupt the engine ends what it has begun, and is waited for.
func TestAnInterruptedEngineIsWaitedFor(t *testing.T) {
	e := fakeEngine(t, `trap 'sleep 1; echo ended; exit 1' INT; echo begun >begun; while :; do sleep 0.05; done`)
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
	stdout, _, _, err := e.Run(ctx, dir, nil, nil, nil, nil, "up")
	require.Error(t, err)
	require.Equal(t, "ended\n", stdout)
}

// What a killed command left on this back end is found, waited for or ended;
// others' engines are not.
func TestEnginesOfABackEnd(t *testing.T) {
	start := func(backend string, args ...string) *exec.Cmd {
		cmd := exec.Command("/bin/bash", append([]string{"-c", `trap 'exit 0' TERM; while :; do sleep 0.05; done`}, args...)...)
		cmd.Env = []string{"PULUMI_BACKEND_URL=" + backend}
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	ours := "file://" + t.TempDir()
	left := start(ours, "pulumi", "up", "--exec-kind", "auto.inline")
	start("file:///elsewhere", "pulumi", "up", "--exec-kind", "auto.inline")
	start(ours, "pulumi", "stack", "export") // a person's own
	require.Eventually(t, func() bool {
		found, err := engines(ours)
		return err == nil && len(found) == 1 && found[0] == left.Process.Pid
	}, 5*time.Second, 10*time.Millisecond)

	waited := make(chan error, 1)
	var told bytes.Buffer
	go func() { waited <- awaitEngines(t.Context(), ours, newProgress(&told)) }()
	select {
	case err := <-waited:
		require.Failf(t, "it did not wait", "%v", err)
	case <-time.After(1500 * time.Millisecond): // longer than it takes to tell
	}
	require.NoError(t, endEngines(ours))
	_ = left.Wait()
	require.NoError(t, <-waited)
	require.Contains(t, told.String(), "waiting for what an interrupted command had begun")
}

func TestRemoveTakesAStateFolderAlone(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.MkdirAll(filepath.Join(state+".removing", "left"), 0o755))
	lock, err := hold(state)
	require.NoError(t, err)
	require.NoError(t, remove(t.Context(), state, lock))
	require.NoDirExists(t, state)
	require.NoDirExists(t, state+".removing")

	other := t.TempDir()
	require.ErrorContains(t, remove(t.Context(), other, flock.New(filepath.Join(other, "x"))), "does not look like")
	require.DirExists(t, other)
}

// An up that finds a down's mark ends that down first.
func TestAnInterruptedDownIsEndedFirst(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.MkdirAll(filepath.Join(state, "pulumi"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(state, "command.lock"), nil, 0o600))
	var told bytes.Buffer
	lock, err := holdWhole(t.Context(), state, newProgress(&told))
	require.NoError(t, err)
	require.DirExists(t, filepath.Join(state, "pulumi"), "nothing was interrupted")
	require.NoError(t, lock.Unlock())

	require.NoError(t, os.WriteFile(ending(state), nil, 0o600))
	lock, err = holdWhole(t.Context(), state, newProgress(&told))
	require.NoError(t, err)
	defer func() { _ = lock.Unlock() }()
	require.NoDirExists(t, filepath.Join(state, "pulumi"))
	require.NoFileExists(t, ending(state))
	require.Contains(t, told.String(), "interrupted")
	_, err = hold(state)
	require.ErrorContains(t, err, "another observatory command")
}

func TestConsentNamesWhatWouldBeLost(t *testing.T) {
	plan := changes.Plan{{Name: "emr-cluster", Effect: changes.Replaced, Holds: "steps"}, {Name: "emr-task", Effect: changes.Updated}}
	require.NoError(t, known(nil, plan))
	require.NoError(t, known([]string{"emr-cluster"}, plan))
	require.EqualError(t, known([]string{"emr-task"}, plan), "--accept emr-task: must name what this up would lose (emr-cluster)")
}
