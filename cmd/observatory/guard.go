package main

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/emr"

	"github.com/emr-observatory/emr-observatory/stacks/changes"
)

// change brings a stack to what the program says, unless that would lose what
// nobody agreed to lose: data of a stack that is not ephemeral, a cluster whose
// steps have not ended. Then nothing is changed. accepted are logical names of
// resources that may go.
func (e *engine) change(ctx context.Context, ephemeral bool, accepted []string, p *progress) error {
	have, err := e.resources(ctx)
	if err != nil {
		return err
	}
	if have > 0 { // there is something to lose
		plan, err := changes.Preview(ctx, e.stack)
		if err != nil {
			return err
		}
		if len(plan) == 0 {
			p.say("resources: 0 created, 0 updated, 0 replaced, 0 deleted, %d unchanged", have)
			return nil
		}
		cfg, err := awsConfig(ctx)
		if err != nil {
			return err
		}
		guard := changes.Guard{Accepted: accepted, Ephemeral: ephemeral, Unfinished: changes.UnfinishedSteps(emr.NewFromConfig(cfg))}
		if err := guard.Check(ctx, plan); err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
	}
	_, err = e.up(ctx, p)
	return err
}
