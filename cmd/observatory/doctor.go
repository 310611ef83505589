package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/doctor"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

func doctorCommand(s *settings) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Args: cobra.NoArgs,
		Short: "Say what this machine lacks, and how to get it",
		Long: "Looks for the programs, the kernel's features, the disk and the memory that building, the local cloud and the tests need.\n" +
			"It changes nothing. It fails if `up` would; what only tests need is told without failing.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := examine(cmd.Context(), s)
			if err != nil {
				return err
			}
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), r)
			} else {
				r.Render(cmd.OutOrStdout())
			}
			if err == nil && !r.OK {
				err = exitCode(1)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

// examine looks at this machine for the stack's state folder.
func examine(ctx context.Context, s *settings) (doctor.Report, error) {
	state, err := s.stateDir()
	if err != nil {
		return doctor.Report{}, err
	}
	project, err := projectDir()
	if err != nil {
		return doctor.Report{}, err
	}
	_, err = localcloud.Find(state)
	if err != nil && !errors.Is(err, localcloud.ErrDown) {
		return doctor.Report{}, err
	}
	return doctor.Examine(ctx, doctor.Options{Project: project, State: state, Running: err == nil, Namespaces: tryNamespaces}), nil
}

// fit refuses a machine on which the local cloud cannot be built or run.
func fit(ctx context.Context, s *settings) error {
	r, err := examine(ctx, s)
	if err != nil {
		return err
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("this machine lacks what the local cloud needs (`observatory doctor` shows all):\n%w", err)
	}
	return nil
}

func tryNamespaces() error {
	helper, err := machined()
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	return region.Try(helper, []string{exe, "probe"})
}

// probeCommand runs inside the namespaces that doctor tries.
func probeCommand() *cobra.Command {
	return &cobra.Command{Use: "probe", Hidden: true, Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return region.Probe() }}
}
