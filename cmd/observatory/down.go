package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/servers"
)

func downCommand(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "down", Args: cobra.NoArgs,
		Short: "Destroy the stack on the local cloud, stop the cloud and remove its state",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			state, err := s.stateDir()
			if err != nil {
				return err
			}
			lock, err := hold(state)
			if err != nil {
				return err
			}
			p := newProgress(cmd.OutOrStdout())
			running, err := localcloud.Find(state)
			if err == nil {
				pulumi, err := servers.Find(ctx, "pulumi")
				if err != nil {
					return err
				}
				e, err := newEngine(ctx, state, s.stack, pulumi, running)
				if err != nil {
					return err
				}
				if err := e.unlock(ctx, p); err != nil {
					return err
				}
				if err := e.destroy(ctx, p, func() error { return os.WriteFile(ending(state), nil, 0o600) }); err != nil {
					return fmt.Errorf("destroy stack %s: %w", s.stack, err)
				}
			} else if !errors.Is(err, localcloud.ErrDown) {
				return err
			}
			if err := remove(ctx, state, lock); err != nil {
				return err
			}
			p.say("local cloud stopped, %s removed", state)
			return nil
		},
	}
}

// remove stops a local cloud, gives the state folder free and deletes it. A
// command that comes meanwhile finds a whole folder or none.
func remove(ctx context.Context, state string, lock *flock.Flock) error {
	if err := localcloud.Stop(ctx, state); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(state, "command.lock")); err != nil {
		return fmt.Errorf("%s does not look like a local cloud's state folder: remove it by hand", state)
	}
	gone := state + ".removing"
	err := errors.Join(os.RemoveAll(gone), os.Rename(state, gone)) // what a killed removal left goes as well
	return errors.Join(err, lock.Unlock(), os.RemoveAll(gone))
}
