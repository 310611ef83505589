package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/changes"
	"github.com/emr-observatory/emr-observatory/stacks/config"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// Guard refuses an update that would lose data of a stack that is not ephemeral,
// or a cluster whose steps have not ended. accepted are the logical names of
// resources that may be lost. cfg is for EMR's API.
func (e *Engine) Guard(ctx context.Context, cfg aws.Config, ephemeral bool, accepted []string) error {
	empty, err := e.isEmpty(ctx)
	if err != nil || empty { // there is nothing to lose
		return err
	}
	plan, err := changes.Preview(ctx, e.stack)
	if err != nil {
		return fmt.Errorf("preview stack %s: %w", e.stack.Name(), err)
	}
	if err := checkPlan(ctx, plan, cfg, ephemeral, accepted); err != nil {
		return fmt.Errorf("nothing was changed (--accept names what may be lost): %w", err)
	}
	return nil
}

// GuardPreview is Guard for a preview that the engine has printed. The region and
// whether the stack is ephemeral come from the preview's configuration. It calls
// EMR only if the plan deletes or replaces a cluster.
func GuardPreview(ctx context.Context, cfg aws.Config, preview changes.Digest, accepted []string) error {
	return checkPlan(ctx, preview.Plan, inRegionOf(preview, cfg), preview.Config[platform.Project+":ephemeral"] == "true", accepted)
}

// EndedClusters returns those of the stack's clusters that have ended without the
// stack, but for those that the preview deletes. Before a stack's first update it does
// not call EMR.
func EndedClusters(ctx context.Context, cfg aws.Config, preview changes.Digest) ([]changes.Ended, error) {
	clusters := clusterIDs(preview)
	client := emr.NewFromConfig(inRegionOf(preview, cfg))
	var out []changes.Ended
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(clusters)) {
		ended, err := changes.FindEnded(ctx, client, stacks.ClusterResource(key), clusters[key], preview.Plan)
		if err != nil {
			errs = append(errs, fmt.Errorf("look whether the stack's cluster %s still runs: %w", key, err))
		} else if ended != nil {
			out = append(out, *ended)
		}
	}
	return out, errors.Join(errs...)
}

// Overlaps returns the schedules whose last runs took longer than the time between two of them, on clusters that
// the stack has. Before a stack's first update it does not call EMR.
func Overlaps(ctx context.Context, cfg aws.Config, preview changes.Digest, now time.Time) ([]changes.Overlap, error) {
	values := map[string]string{}
	for key, value := range preview.Config {
		if name, ours := strings.CutPrefix(key, platform.Project+":"); ours {
			values[name] = value
		}
	}
	given, err := config.Parse(values)
	if err != nil {
		return nil, nil //nolint:nilerr // the preview has said so
	}
	clusters := clusterIDs(preview)
	client := emr.NewFromConfig(inRegionOf(preview, cfg))
	var out []changes.Overlap
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(clusters)) {
		schedules := given.SchedulesOf(key)
		if len(schedules) == 0 {
			continue
		}
		found, err := changes.FindOverlaps(ctx, client, clusters[key], gapsOf(schedules, now), now)
		if err != nil {
			errs = append(errs, fmt.Errorf("look up how long the runs of schedules on cluster %s took: %w", key, err))
		}
		out = append(out, found...)
	}
	return out, errors.Join(errs...)
}

// gapsOf returns the shortest times between two runs of the schedules that are enabled and run more than once in two weeks.
func gapsOf(schedules map[string]schema.Schedule, now time.Time) map[string]time.Duration {
	const lookAhead = 14 * 24 * time.Hour
	out := map[string]time.Duration{}
	for key, s := range schedules {
		times, err := s.Times(now)
		if err != nil || !s.Enabled {
			continue
		}
		if gap := times.ShortestGap(now, now.Add(lookAhead)); gap > 0 {
			out[key] = gap
		}
	}
	return out
}

// clusterIDs returns the ids of the clusters that the stack had before the preview, by their keys. Those of schedules have none.
func clusterIDs(preview changes.Digest) map[string]string {
	clusters, _ := preview.Outputs[outputs.Clusters].(map[string]any)
	out := map[string]string{}
	for key, of := range clusters {
		cluster, _ := of.(map[string]any)
		if id, _ := cluster["id"].(string); id != "" {
			out[key] = id
		}
	}
	return out
}

// inRegionOf returns cfg with the region of the preview's stack.
func inRegionOf(preview changes.Digest, cfg aws.Config) aws.Config {
	if region := preview.Config[platform.Project+":region"]; region != "" {
		cfg.Region = region
	}
	return cfg
}

// checkPlan refuses a plan that loses what accepted does not name.
func checkPlan(ctx context.Context, plan changes.Plan, cfg aws.Config, ephemeral bool, accepted []string) error {
	if err := checkAccepted(accepted, plan); err != nil {
		return err
	}
	g := changes.Guard{Accepted: accepted, Ephemeral: ephemeral, Unfinished: changes.UnfinishedSteps(emr.NewFromConfig(cfg))}
	return g.Check(ctx, plan)
}

// checkAccepted refuses an accepted name of a resource that the plan would not
// lose: it is probably misspelt.
func checkAccepted(accepted []string, plan changes.Plan) error {
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
