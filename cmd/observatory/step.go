package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

func stepCommand(s *settings) *cobra.Command {
	c := &cobra.Command{Use: "step", Short: "Follow or cancel a step that runs, on the local cloud or on AWS"}
	c.AddCommand(stepFollowCommand(s), stepCancelCommand(s))
	return c
}

func stepFollowCommand(s *settings) *cobra.Command {
	var o submit.Options
	f := stepFlags{settings: s, o: &o}
	c := &cobra.Command{
		Use: "follow [flags] STEP", Args: cobra.ExactArgs(1),
		Short: "Wait for a step's end, as submit --wait does",
		Long: "Waits for the end of a step (s-…) and tells why it failed, or where the time of its applications went. Of a step that has\n" +
			"ended it tells the same.",
		Example: "  observatory step follow --cluster j-0123456789ABC s-0123456789ABC\n" +
			"  observatory step follow --cluster j-0123456789ABC --logs s-0123456789ABC   # with the last lines of its logs, if it failed",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.find(cmd); err != nil {
				return err
			}
			o.Progress = progress.New(cmd.ErrOrStderr()).Writer()
			result, err := submit.Follow(cmd.Context(), o, args[0])
			return f.report(cmd, result, err)
		},
	}
	f.addTo(c)
	f.addWaitTo(c, "")
	return c
}

func stepCancelCommand(s *settings) *cobra.Command {
	var o submit.Options
	f := stepFlags{settings: s, o: &o}
	c := &cobra.Command{
		Use: "cancel [flags] STEP", Args: cobra.ExactArgs(1),
		Short:   "Cancel a step that waits or runs",
		Long:    "Asks EMR to cancel a step (s-…). One that runs is interrupted, and may take a moment to end.",
		Example: "  observatory step cancel --cluster j-0123456789ABC s-0123456789ABC",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.find(cmd); err != nil {
				return err
			}
			if err := submit.Cancel(cmd.Context(), o.AWS, o.Cluster, args[0]); err != nil {
				return err
			}
			step := submit.Result{Cluster: o.Cluster, StepID: args[0]}
			fmt.Fprintf(cmd.OutOrStdout(), "step %s of cluster %s is being cancelled; to wait for its end: %s\n",
				step.StepID, step.Cluster, s.stepCommand("follow", step))
			return nil
		},
	}
	f.addTo(c)
	return c
}

// find finds the cluster of a step, and how to reach it. A step's cluster is all that is
// needed: of one that is named by its id no outputs are read.
func (f *stepFlags) find(cmd *cobra.Command) error {
	err := f.resolve(cmd.InOrStdin())
	if err != nil {
		return err
	}
	if platform.IsClusterID(f.o.Cluster) && f.outputs == "" {
		_, _, err = connect(f.settings, f.o)
	} else {
		err = defaults(cmd.Context(), f.settings, f.outputs, cmd.InOrStdin(), f.o)
	}
	if err != nil {
		return err
	}
	f.o.AWS, err = local.AWSConfig(cmd.Context())
	return err
}
