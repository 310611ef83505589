package main

import (
	"context"
	"errors"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/servers"
)

// existing attaches the engine to a local cloud that runs.
func existing(ctx context.Context, s *settings, running localcloud.Running) (*engine, error) {
	state, err := s.stateDir()
	if err != nil {
		return nil, err
	}
	pulumi, err := servers.Find(ctx, "pulumi")
	if err != nil {
		return nil, err
	}
	return newEngine(ctx, state, s.stack, pulumi, running)
}

func pulumiCommand(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "pulumi -- ARG…", Args: cobra.MinimumNArgs(1),
		Short:   "Run the engine's own command line with the local back end and providers",
		Example: "  observatory pulumi -- stack export",
		RunE: func(cmd *cobra.Command, args []string) error {
			running, isLocal, err := local(s)
			if err != nil {
				return err
			}
			if !isLocal {
				return localcloud.ErrDown
			}
			e, err := existing(cmd.Context(), s, running)
			if err != nil {
				return err
			}
			c := exec.CommandContext(cmd.Context(), "pulumi", args...) //nolint:gosec // what it is for
			c.Dir, c.Env = e.dir, os.Environ()
			c.Env = append(c.Env, "PULUMI_STACK="+s.stack)
			c.Stdin, c.Stdout, c.Stderr = os.Stdin, cmd.OutOrStdout(), cmd.ErrOrStderr()
			err = c.Run()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return exitCode(exit.ExitCode())
			}
			return err
		},
	}
}
