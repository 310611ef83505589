package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

func guardCommand() *cobra.Command {
	var accepted []string
	var asJSON bool
	c := &cobra.Command{
		Use: "guard [FILE]", Args: cobra.MaximumNArgs(1),
		Short: "Refuse an update that would lose something, from what `pulumi preview --json` prints",
		Long: "Reads a preview of the platform from FILE or standard input, before `pulumi up` or in a pipeline. An update is refused that\n" +
			"would lose what a resource holds, end steps of an EMR cluster that run or wait (EMR is asked with the ambient AWS\n" +
			"configuration, if a cluster goes), or stop half-way because AWS refuses it. What may go is named by --accept.",
		Example: "  pulumi preview --stack acme/emr-observatory/dev --json | observatory guard\n  observatory guard preview.json --accept emr-cluster",
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
			refused := guardPreview(cmd.Context(), preview, accepted)
			if asJSON {
				return errors.Join(writeJSON(cmd.OutOrStdout(), verdictOf(preview.Plan, refused)), refused)
			}
			if refused == nil {
				for _, effect := range changes.Effects() {
					if names := preview.Plan.Names(effect); len(names) > 0 {
						fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", effect, strings.Join(names, ", "))
					}
				}
				fmt.Fprintln(cmd.OutOrStdout(), "nothing is lost that was not accepted")
			}
			return refused
		},
	}
	c.Flags().StringSliceVar(&accepted, "accept", nil, "logical names of resources that may be lost with what they hold")
	c.Flags().BoolVar(&asJSON, "json", false, "print the changes and the refusals as JSON")
	return c
}

// verdict is what `guard --json` prints.
type verdict struct {
	Changes  map[changes.Effect][]string `json:"changes"` // logical names
	Refusals []string                    `json:"refusals"`
}

func verdictOf(plan changes.Plan, refused error) verdict {
	v := verdict{Changes: map[changes.Effect][]string{}, Refusals: []string{}}
	for _, effect := range changes.Effects() {
		if names := plan.Names(effect); len(names) > 0 {
			v.Changes[effect] = names
		}
	}
	if refused != nil {
		v.Refusals = strings.Split(refused.Error(), "\n")
	}
	return v
}

// guardPreview judges a preview by the stack's own configuration. EMR is only
// asked if a cluster goes.
func guardPreview(ctx context.Context, preview changes.Digest, accepted []string) error {
	cfg, err := awsConfig(ctx)
	if err != nil {
		return err
	}
	if region := preview.Config[platform.Project+":region"]; region != "" {
		cfg.Region = region
	}
	return guarded(ctx, preview.Plan, cfg, preview.Config[platform.Project+":ephemeral"] == "true", accepted)
}

// guarded checks a plan; cfg is for the EMR whose clusters it may end.
func guarded(ctx context.Context, plan changes.Plan, cfg aws.Config, ephemeral bool, accepted []string) error {
	if err := known(accepted, plan); err != nil {
		return err
	}
	g := changes.Guard{Accepted: accepted, Ephemeral: ephemeral, Unfinished: changes.UnfinishedSteps(emr.NewFromConfig(cfg))}
	return g.Check(ctx, plan)
}

// guard refuses an up that would lose what nobody agreed to lose: data of a
// stack that is not ephemeral, a cluster whose steps have not ended. accepted
// are logical names of resources that may go.
func (e *engine) guard(ctx context.Context, ephemeral bool, accepted []string) error {
	empty, err := e.empty(ctx)
	if err != nil || empty { // there is nothing to lose
		return err
	}
	plan, err := changes.Preview(ctx, e.stack)
	if err != nil {
		return err
	}
	cfg, err := awsConfig(ctx)
	if err != nil {
		return err
	}
	if err := guarded(ctx, plan, cfg, ephemeral, accepted); err != nil {
		return fmt.Errorf("nothing was changed (what may go is named by --accept): %w", err)
	}
	return nil
}

// known refuses consent to what would not be lost: a mistyped name.
func known(accepted []string, plan changes.Plan) error {
	var lost []string
	for _, c := range plan.Lost() {
		lost = append(lost, c.Name)
	}
	for _, name := range accepted {
		if !slices.Contains(lost, name) {
			return fmt.Errorf("--accept %s: must name what this up would lose (%s)", name, strings.Join(lost, ", "))
		}
	}
	return nil
}
