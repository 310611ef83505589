package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/emr-observatory/emr-observatory/internal/engine"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/localcloud"
)

func lockPath(state string) string { return filepath.Join(state, "command.lock") }

// destroyMarkerPath returns the path of a file that exists once a down has begun to
// destroy the stack. After an interrupted down no up can continue from the state:
// it no longer lists what goes with the control node, although the node still
// exists.
func destroyMarkerPath(state string) string { return filepath.Join(state, "ending") }

// lockState locks the state folder for one command. A second up or down fails
// instead of disturbing the first.
func lockState(state string) (*flock.Flock, error) {
	if err := os.MkdirAll(state, 0o755); err != nil {
		return nil, fmt.Errorf("create the state folder: %w", err)
	}
	lock := flock.New(lockPath(state))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", state, err)
	}
	if !locked {
		return nil, fmt.Errorf("another observatory command works on %s: wait for it or end it", state)
	}
	return lock, nil
}

// lockAfterRecovery locks the state folder for an up. It first finishes a down
// that was interrupted.
func lockAfterRecovery(ctx context.Context, state string, log *progress.Log) (*flock.Flock, error) {
	lock, err := lockState(state)
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(destroyMarkerPath(state))
	if errors.Is(err, os.ErrNotExist) { // no down was interrupted
		return lock, nil
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look for an interrupted down: %w", err), lock.Unlock())
	}
	log.Printf("finishing an interrupted down first")
	if err := engine.KillOrphans(state); err != nil {
		return nil, err
	}
	if err := removeState(ctx, state, lock); err != nil {
		return nil, err
	}
	return lockState(state)
}

// removeState stops the local cloud, unlocks its state folder and deletes it. A
// command that starts meanwhile finds a whole folder or none.
func removeState(ctx context.Context, state string, lock *flock.Flock) error {
	if err := localcloud.Stop(ctx, state); err != nil {
		return fmt.Errorf("stop the local cloud of %s: %w", state, err)
	}
	if _, err := os.Stat(lockPath(state)); err != nil {
		return fmt.Errorf("%s does not look like a local cloud's state folder: remove it by hand", state)
	}
	removing := state + ".removing"
	err := errors.Join(os.RemoveAll(removing), os.Rename(state, removing)) // including the rest of a killed removal
	if err = errors.Join(err, lock.Unlock(), os.RemoveAll(removing)); err != nil {
		return fmt.Errorf("remove %s: %w", state, err)
	}
	return nil
}
