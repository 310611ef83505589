package emr

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
)

// classification is one entry of EMR's configuration list. The keys' case is
// the API's: the provider compares the JSON it reads back, and any other
// spelling, or an empty list, replaces the cluster at every update
// (terraform-provider-aws#7101).
type classification struct {
	Classification string            `json:"Classification"`
	Configurations []classification  `json:"Configurations,omitempty"`
	Properties     map[string]string `json:"Properties,omitempty"`
}

// Keys of spark-defaults that carry the agent.
const (
	driverDefaultJavaOptions   = "spark.driver.defaultJavaOptions"
	executorDefaultJavaOptions = "spark.executor.defaultJavaOptions"
)

// agentKeys are replaced as a whole when a caller names them: EMR merges by
// key, it appends to none.
func agentKeys() []string { return []string{driverDefaultJavaOptions, executorDefaultJavaOptions} }

// What EMR ships under these keys (spark-defaults.conf of an emr-7.1.0 node).
// They are restated because naming a key drops EMR's own value. The logging
// flags are unknown to Java 17, which starts all the same: Spark adds
// -XX:+IgnoreUnrecognizedVMOptions itself.
const (
	shippedDriverJavaOptions   = "-XX:OnOutOfMemoryError='kill -9 %p'"
	shippedExecutorJavaOptions = "-verbose:gc -XX:+PrintGCDetails -XX:+PrintGCDateStamps -XX:OnOutOfMemoryError='kill -9 %p'"
)

// agentFlag loads the observatory into a JVM. It stands in the default
// options, never in extraJavaOptions: those are the jobs' own, and a job that
// sets them would take the agent out without knowing.
const agentFlag = "-javaagent:" + platform.NodeLauncherJar

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
	return []classification{
		// YARN's and HDFS's own metrics under /prom, read by the node's collector.
		{Classification: "core-site", Properties: map[string]string{"hadoop.prometheus.endpoint.enabled": "true"}},
		{Classification: "spark-defaults", Properties: a.sparkDefaults()},
	}
}

// sparkDefaults is the platform's with the caller's over it.
func (a *Args) sparkDefaults() map[string]string {
	d := map[string]string{
		driverDefaultJavaOptions:   shippedDriverJavaOptions + " " + agentFlag,
		executorDefaultJavaOptions: shippedExecutorJavaOptions + " " + agentFlag,
	}
	maps.Copy(d, a.SparkDefaults)
	return d
}

// dropsAgent tells whether the caller's value of a key would leave the JVMs
// without the agent.
func dropsAgent(key, value string) bool {
	return slices.Contains(agentKeys(), key) && !containsFlag(value, agentFlag)
}
