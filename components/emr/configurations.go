package emr

import (
	"encoding/json"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/schema"
)

// ConfigurationsJSON renders the cluster's configuration list: the same
// arguments give the same bytes.
func (a *Args) ConfigurationsJSON() (string, error) {
	b, err := json.Marshal(observe.Configurations(a.SamplingRatio, a.SparkDefaults))
	if err != nil {
		return "", fmt.Errorf("render configurations: %w", err)
	}
	return string(b), nil
}

// warnOfOtherRelease logs that the restated options may not be the release's own.
func (a *Args) warnOfOtherRelease(ctx *pulumi.Context, c *Cluster) error {
	if a.ReleaseLabel == observe.RestatedRelease {
		return nil
	}
	err := ctx.Log.Warn(fmt.Sprintf("%s: %s: %s and %s are restated from %s, the only release whose values are published; "+
		"if jobs depend on others, compare them with `observatory doctor --node FILE`",
		a.path("releaseLabel"), a.ReleaseLabel, schema.SparkDriverAgentKey, schema.SparkExecutorAgentKey, observe.RestatedRelease), &pulumi.LogArgs{Resource: c})
	if err != nil {
		return fmt.Errorf("warn of another release: %w", err)
	}
	return nil
}
