package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

func doctorCommand(s *settings) *cobra.Command {
	var asJSON, onAWS bool
	var node string
	c := &cobra.Command{
		Use: "doctor", Args: cobra.NoArgs,
		Short: "Report what is missing on this machine or in an AWS account, and how to fix it",
		Long: "Looks for the programs, the kernel's features, the disk and the memory that building, the local cloud and the tests need.\n" +
			"It changes nothing. It fails if `up` would; a missing item that affects only tests is reported without failing.\n\n" +
			"With --aws it checks the account of the default AWS SDK configuration instead: identity, region, quotas,\n" +
			"service-linked roles and an existing VPC, compared with what the file of --stack needs. Tested against fakes of the AWS APIs,\n" +
			"not against AWS.\n\n" +
			"With --node it compares the spark-defaults.conf of an EMR node with the values that the platform repeats from\n" +
			observe.RestatedRelease + ". The node must be of a cluster without the platform, whose configurations replace EMR's values.",
		Example: "  observatory doctor\n  observatory doctor --aws --stack dev\n" +
			"  ssh hadoop@NODE cat /etc/spark/conf/spark-defaults.conf | observatory doctor --node -",
		RunE: func(cmd *cobra.Command, _ []string) error {
			examine := examineMachine
			switch {
			case onAWS:
				examine, s.stackGiven = examineAccount, cmd.Flags().Changed("stack")
			case node != "":
				examine = func(context.Context, *settings) (doctor.Report, error) { return examineNode(cmd.InOrStdin(), node) }
			}
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
	c.Flags().BoolVar(&onAWS, "aws", false, "check the AWS account instead of this machine")
	c.Flags().StringVar(&node, "node", "", "check this spark-defaults.conf of an EMR node instead (- is standard input)")
	c.MarkFlagsMutuallyExclusive("aws", "node")
	return c
}

// examineNode reads the spark-defaults.conf of an EMR node.
func examineNode(stdin io.Reader, file string) (doctor.Report, error) {
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return doctor.Report{}, fmt.Errorf("doctor --node: %w", err)
		}
		defer f.Close()
		stdin = f
	}
	return doctor.ExamineNode(stdin, doctor.Restated{
		Release: observe.RestatedRelease, Values: observe.ShippedJavaOptions(), Agent: observe.AgentFlag,
	})
}

// examineMachine runs the checks of doctor on this machine.
func examineMachine(ctx context.Context, s *settings) (doctor.Report, error) {
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

// checkMachine fails if the local cloud cannot be built or run on this machine.
func checkMachine(ctx context.Context, s *settings) error {
	r, err := examineMachine(ctx, s)
	if err != nil {
		return err
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("this machine lacks what the local cloud needs (`observatory doctor` shows all):\n%w", err)
	}
	return nil
}

// tryNamespaces creates a region's namespaces and removes them.
func tryNamespaces() error {
	machined, err := machinedPath()
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	return region.CheckPermitted(machined, []string{exe, "probe"})
}

// probeCommand returns the command that tryNamespaces runs inside the namespaces.
func probeCommand() *cobra.Command {
	return &cobra.Command{Use: "probe", Hidden: true, Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return region.Probe() }}
}
