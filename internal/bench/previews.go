package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"

	"github.com/emr-observatory/emr-observatory/internal/bench/stats"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/internal/rehearsal"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
)

// manyClusters is how many clusters one is compared with.
const manyClusters = 10

// measurePreviews previews stack dev with one cluster and with many in turn, as a new
// stack and again when both are up.
func measurePreviews(ctx context.Context, r *result, o options) error {
	one, err := stackOf(ctx, 1)
	if err != nil {
		return err
	}
	many, err := stackOf(ctx, manyClusters)
	if err != nil {
		return errors.Join(err, one.Close())
	}
	defer func() { _ = errors.Join(one.Close(), many.Close()) }() // folders in a temporary one
	if r.NewClustersRatio, _, err = previewsInTurn(ctx, one, many, o.pairs); err != nil {
		return err
	}
	for _, s := range []*rehearse.Stage{one, many} {
		if _, err := s.Stack.Up(ctx); err != nil {
			return fmt.Errorf("bring up the stack to preview: %w", err)
		}
	}
	r.UnchangedClustersRatio, r.OneClusterSeconds, err = previewsInTurn(ctx, one, many, o.pairs)
	return err
}

// stackOf opens stack dev with its cluster a number of times, each under its own key.
func stackOf(ctx context.Context, clusters int) (*rehearse.Stage, error) {
	const stack, key = "dev", platform.Project + ":clusters"
	program, o, err := rehearsal.Prepare(ctx, ".", stack, progress.New(io.Discard))
	if err != nil {
		return nil, err
	}
	var given map[string]any
	if err := json.Unmarshal([]byte(o.Config[key].Value), &given); err != nil || len(given) != 1 {
		return nil, errors.Join(err, fmt.Errorf("stack %s has %d clusters, not one", stack, len(given)))
	}
	set := map[string]any{}
	for _, cluster := range given {
		for i := range clusters {
			set[fmt.Sprintf("c%d", i)] = cluster
		}
	}
	text, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	o.Config[key] = auto.ConfigValue{Value: string(text)}
	return rehearse.Open(ctx, program, o)
}

// previewsInTurn previews two stacks by turns: one has one cluster, many has manyClusters.
// It returns the median of many's time over one's, and the median seconds of one. A first
// pair fills the caches and does not count.
func previewsInTurn(ctx context.Context, one, many *rehearse.Stage, pairs int) (ratio, seconds float64, err error) {
	preview := func(s *rehearse.Stage) (float64, error) {
		start := time.Now()
		_, err := s.Stack.Preview(ctx, optpreview.SuppressProgress())
		return time.Since(start).Seconds(), err
	}
	var ratios, ones []float64
	for i := range pairs + 1 {
		base, err := preview(one)
		if err != nil {
			return 0, 0, fmt.Errorf("preview one cluster: %w", err)
		}
		got, err := preview(many)
		if err != nil {
			return 0, 0, fmt.Errorf("preview %d clusters: %w", manyClusters, err)
		}
		logf("preview: one cluster %.2f s, %d clusters %.2f s", base, manyClusters, got)
		if i > 0 {
			ratios, ones = append(ratios, got/base), append(ones, base)
		}
	}
	return stats.Median(ratios), stats.Median(ones), nil
}
