package emr

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/emr-observatory/emr-observatory/platform"
)

// classification is one entry of EMR's configuration list. The keys' case is
// the API's: the provider compares the JSON it reads back, and any other
// spelling, or an empty list, replaces the cluster at every update
// (terraform-provider-aws#7101). Properties are always there, if empty as {}: so
// the provider's documentation and its acceptance tests write them.
type classification struct {
	Classification string            `json:"Classification"`
	Configurations []classification  `json:"Configurations,omitempty"`
	Properties     map[string]string `json:"Properties"`
}

// ConfigurationsJSON renders the cluster's configuration list: the same
// arguments give the same bytes.
func (a *Args) ConfigurationsJSON() (string, error) {
	b, err := json.Marshal(a.classifications())
	if err != nil {
		return "", fmt.Errorf("render configurations: %w", err)
	}
	return string(b), nil
}

func (a *Args) classifications() []classification {
	return append([]classification{
		// YARN's and HDFS's own metrics under /prom, read by the node's collector.
		{Classification: "core-site", Properties: map[string]string{"hadoop.prometheus.endpoint.enabled": "true"}},
		{Classification: "spark-defaults", Properties: a.sparkDefaults()},
	}, dockerClassifications()...)
}

// sparkDefaults merges the caller's properties over the platform's.
func (a *Args) sparkDefaults() map[string]string {
	d := ShippedJavaOptions()
	for key, options := range d {
		d[key] = options + " " + AgentFlag
	}
	if a.SamplingRatio != "" {
		d[platform.SparkSamplingRatio] = a.SamplingRatio
	}
	maps.Copy(d, a.SparkDefaults)
	return d
}
