package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/emr"

	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

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
	if err := known(accepted, plan); err != nil {
		return err
	}
	g := changes.Guard{Accepted: accepted, Ephemeral: ephemeral, Unfinished: changes.UnfinishedSteps(emr.NewFromConfig(cfg))}
	if err := g.Check(ctx, plan); err != nil {
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
