// Package observe says what an EMR cluster needs so that the platform observes it,
// whoever starts the cluster: the security group, the policy of its nodes, the
// bootstrap action and the configurations. The stack's own clusters use the same
// values. It creates nothing.
package observe

import (
	"maps"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Settings are what a cluster needs besides its own. The stack output observe has
// this value.
type Settings struct {
	SecurityGroupID string           `json:"securityGroupId" help:"Additional group of all nodes: the way to the control node."`
	NodePolicyARN   string           `json:"nodePolicyArn" help:"Policy for the role of the nodes: read what the bootstrap action installs."`
	Bootstrap       Bootstrap        `json:"bootstrap" help:"Bootstrap action that installs collector and agents."`
	Configurations  []Classification `json:"configurations" help:"Configurations to merge into the cluster's own."`

	// Tags are those of the stack; none if the profiler reads every cluster's history, or there
	// is no profiler. EMR takes them on a running cluster, too.
	Tags map[string]string `json:"tags" optional:"true" help:"Tags without which the profiler does not read its history."`
}

// Bootstrap is the bootstrap action as EMR takes it.
type Bootstrap struct {
	Path string   `json:"path" help:"s3:// URI of the script."`
	Args []string `json:"args" help:"Its arguments; the hash is among them."`
	Hash string   `json:"hash" help:"sha256 of all that it installs."`
}

// Classification is one entry of EMR's configuration list. The keys' case is
// the API's: the AWS provider compares the JSON it reads back, and any other
// spelling, or an empty list, replaces the cluster at every update
// (terraform-provider-aws#7101). Properties are always there, if empty as {}: so
// the provider's documentation and its acceptance tests write them.
type Classification struct {
	Classification string            `json:"Classification"`
	Configurations []Classification  `json:"Configurations,omitempty"`
	Properties     map[string]string `json:"Properties"`
}

// SparkDefaults is the classification of Spark's own file.
const SparkDefaults = "spark-defaults"

// Configurations returns the configurations of an observed cluster. samplingRatio is
// that of its jobs' traces, platform.SparkSamplingRatio; "" = they have none.
// sparkDefaults are merged over the platform's own, key by key.
func Configurations(samplingRatio string, sparkDefaults map[string]string) []Classification {
	spark := ShippedJavaOptions()
	for key, options := range spark {
		spark[key] = options + " " + AgentFlag
	}
	if samplingRatio != "" {
		spark[platform.SparkSamplingRatio] = samplingRatio
	}
	maps.Copy(spark, sparkDefaults)
	return append([]Classification{
		// YARN's and HDFS's own metrics under /prom, read by the node's collector.
		{Classification: "core-site", Properties: map[string]string{"hadoop.prometheus.endpoint.enabled": "true"}},
		{Classification: SparkDefaults, Properties: spark},
	}, dockerClassifications()...)
}
