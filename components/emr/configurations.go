package emr

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/schema"
)

// ConfigurationsJSON renders the cluster's configuration list: the same
// arguments give the same bytes. It is "" if there is nothing to configure.
func (a *Args) ConfigurationsJSON() (string, error) {
	list := observe.ConfigurationsOf(a.Cluster, a.SamplingRatio)
	if len(list) == 0 {
		return "", nil
	}
	text, err := observe.Render(list)
	if err != nil {
		return "", fmt.Errorf("render configurations: %w", err)
	}
	return text, nil
}

// warnOfRestatedValues logs which restated values may not be the release's own.
func (a *Args) warnOfRestatedValues(ctx *pulumi.Context, c *Cluster) error {
	if a.Observe == schema.ObserveHostsOnly {
		return nil
	}
	options := ""
	if a.ReleaseLabel != observe.RestatedRelease {
		options = fmt.Sprintf("%s and %s are restated from %s, the only release whose values are published; "+
			"if jobs depend on others, compare them with `observatory doctor --node FILE`; ",
			schema.SparkDriverAgentKey, schema.SparkExecutorAgentKey, observe.RestatedRelease)
	}
	text := fmt.Sprintf("%s: %s: %sthe read-only mounts of Docker containers in yarn-site and container-executor "+
		"are those of an emr-6 node; if jobs use Docker, name the release's own in configurations",
		a.path("releaseLabel"), a.ReleaseLabel, options)
	err := ctx.Log.Warn(text, &pulumi.LogArgs{Resource: c})
	if err != nil {
		return fmt.Errorf("warn of restated values: %w", err)
	}
	return nil
}
