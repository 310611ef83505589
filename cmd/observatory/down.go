package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
				if err := os.WriteFile(ending(state), nil, 0o600); err != nil {
					return err
				}
				if err := ended(state, e.destroy(ctx, p)); err != nil {
					return fmt.Errorf("destroy stack %s: %w", s.stack, err)
				}
			} else if !errors.Is(err, localcloud.ErrDown) {
				return err
			}
			_ = lock.Unlock()
			if err := remove(ctx, state); err != nil {
				return err
			}
			p.say("local cloud stopped, %s removed", state)
			return nil
		},
	}
}

// remove stops a local cloud and deletes its state.
func remove(ctx context.Context, state string) error {
	if err := localcloud.Stop(ctx, state); err != nil {
		return err
	}
	return removeState(state)
}

// removeState deletes a state folder, but never a folder that is none.
func removeState(state string) error {
	if _, err := os.Stat(state); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, mark := range []string{"command.lock", "credentials.json"} {
		if _, err := os.Stat(filepath.Join(state, mark)); err == nil {
			return os.RemoveAll(state)
		}
	}
	return fmt.Errorf("%s does not look like a local cloud's state folder: remove it by hand", state)
}
