package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/internal/engine"
	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

func guardCommand() *cobra.Command {
	var accepted []string
	var asJSON bool
	c := &cobra.Command{
		Use: "guard [FILE]", Args: cobra.MaximumNArgs(1),
		Short: "Refuse an update that would lose something, from what `pulumi preview --json` prints",
		Long: "Reads a preview of the platform from FILE or standard input, before `pulumi up` or in a pipeline. Refuses an update that\n" +
			"would lose what a resource holds, end running or pending steps of an EMR cluster (looked up with the ambient AWS\n" +
			"configuration if a cluster is deleted), or stop half-way because AWS refuses it. --accept names what may be lost.\n" +
			"It also says if the stack's cluster has ended, as an idle one does: Pulumi learns of that only by a refresh.",
		Example: "  pulumi preview --stack acme/emr-observatory/dev --json | observatory guard\n" +
			"  observatory guard preview.json --accept emr-main-cluster",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := cmd.InOrStdin()
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			preview, err := changes.FromDigest(in)
			if err != nil {
				return err
			}
			cfg, err := local.AWSConfig(cmd.Context())
			if err != nil {
				return err
			}
			refusal := engine.GuardPreview(cmd.Context(), cfg, preview, accepted)
			notices := noticesOf(cmd.Context(), cfg, preview)
			if asJSON {
				return errors.Join(writeJSON(cmd.OutOrStdout(), verdictOf(preview.Plan, notices, refusal)), refusal)
			}
			for _, notice := range notices {
				fmt.Fprintln(cmd.OutOrStdout(), notice)
			}
			if refusal == nil {
				for _, effect := range changes.Effects() {
					if names := preview.Plan.Names(effect); len(names) > 0 {
						fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", effect, strings.Join(names, ", "))
					}
				}
				fmt.Fprintln(cmd.OutOrStdout(), "no unaccepted loss")
			}
			return refusal
		},
	}
	c.Flags().StringSliceVar(&accepted, "accept", nil, "logical names of resources that may be lost with what they hold")
	c.Flags().BoolVar(&asJSON, "json", false, "print the changes and the refusals as JSON")
	return c
}

// verdict is what `guard --json` prints.
type verdict struct {
	Changes  map[changes.Effect][]string `json:"changes"` // logical names
	Notices  []string                    `json:"notices"` // what is worth knowing, but no reason to refuse
	Refusals []string                    `json:"refusals"`
}

// noticesOf says which of the stack's clusters have ended, and which schedules' runs overlap. A failed look-up does not
// refuse an update that may have nothing to do with the cluster.
func noticesOf(ctx context.Context, cfg aws.Config, preview changes.Digest) []string {
	notices := []string{}
	ended, err := engine.EndedClusters(ctx, cfg, preview)
	for _, e := range ended {
		notices = append(notices, e.String())
	}
	overlaps, more := engine.Overlaps(ctx, cfg, preview, time.Now())
	for _, o := range overlaps {
		notices = append(notices, o.String())
	}
	if err = errors.Join(err, more); err != nil {
		notices = append(notices, strings.Split(err.Error(), "\n")...)
	}
	return notices
}

// verdictOf returns what the plan changes, and the refusal line by line.
func verdictOf(plan changes.Plan, notices []string, refusal error) verdict {
	v := verdict{Changes: map[changes.Effect][]string{}, Notices: notices, Refusals: []string{}}
	for _, effect := range changes.Effects() {
		if names := plan.Names(effect); len(names) > 0 {
			v.Changes[effect] = names
		}
	}
	if refusal != nil {
		v.Refusals = strings.Split(refusal.Error(), "\n")
	}
	return v
}
