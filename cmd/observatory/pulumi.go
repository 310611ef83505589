package main

import (
	"errors"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/internal/plaintext"
	"github.com/emr-observatory/emr-observatory/localcloud"
)

func pulumiCommand(s *settings) *cobra.Command {
	return &cobra.Command{
		Use: "pulumi -- ARG…", Args: cobra.MinimumNArgs(1),
		Short:   "Run the Pulumi CLI with the local back end and providers",
		Example: "  observatory pulumi -- stack export",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := s.platform()
			if err != nil {
				return err
			}
			running, found, err := local.Connect(p.State)
			if err != nil {
				return err
			}
			if !found {
				return localcloud.ErrDown
			}
			e, err := p.Engine(cmd.Context(), running)
			if err != nil {
				return err
			}
			c := exec.CommandContext(cmd.Context(), "pulumi", args...)
			c.Dir, c.Env = e.Dir, append(os.Environ(), "PULUMI_STACK="+s.stack)
			c.Stdin, c.Stdout, c.Stderr = os.Stdin, plaintext.Unwrap(cmd.OutOrStdout()), plaintext.Unwrap(cmd.ErrOrStderr())
			err = c.Run()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return exitCode(exit.ExitCode())
			}
			return err
		},
	}
}
