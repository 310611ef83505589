package emr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// logScaledCounts logs in a preview the keys of instance counts that have no effect once
// the cluster runs. The preview shows no difference for them, because the properties that
// EMR scales are in ignoreChanges.
func (a *Args) logScaledCounts(ctx *pulumi.Context, c *Cluster) error {
	counts := a.scaledCounts()
	if len(counts) == 0 || !ctx.DryRun() {
		return nil
	}
	err := ctx.Log.Info(fmt.Sprintf("%s: EMR scales this cluster: once it runs, changing %s has no effect",
		strings.TrimSuffix(a.path(""), "."), strings.Join(counts, ", ")), &pulumi.LogArgs{Resource: c})
	if err != nil {
		return fmt.Errorf("log the counts that EMR scales: %w", err)
	}
	return nil
}

// scaledCounts returns the keys of the counts that EMR owns.
func (a *Args) scaledCounts() []string {
	if a.Fleets != nil {
		return a.scaledTargets()
	}
	var keys []string
	if a.HasCore() && (a.ManagedScaling != nil || a.Core.AutoScaling != nil) {
		keys = append(keys, "core.count")
	}
	for _, key := range slices.Sorted(maps.Keys(a.Tasks)) {
		if a.ManagedScaling != nil || a.Tasks[key].AutoScaling != nil {
			keys = append(keys, "tasks."+key+".count")
		}
	}
	return keys
}

// scaledTargets returns the keys of the fleets' targets that EMR owns.
func (a *Args) scaledTargets() []string {
	if a.ManagedScaling == nil {
		return nil
	}
	var keys []string
	if a.Fleets.Core != nil {
		keys = append(keys, "fleets.core.onDemand", "fleets.core.spot")
	}
	if a.Fleets.Task != nil {
		keys = append(keys, "fleets.task.onDemand", "fleets.task.spot")
	}
	return keys
}
