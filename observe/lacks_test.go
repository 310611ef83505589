package observe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/observe"
)

func TestLacks(t *testing.T) {
	wanted := observe.Configurations("1", nil)
	require.Empty(t, observe.Lacks(wanted, wanted))
	require.Len(t, observe.Lacks(nil, wanted), 6, "one a key")
	own := observe.Merge([]observe.Classification{{
		Classification: "spark-defaults",
		Properties:     map[string]string{"spark.driver.defaultJavaOptions": "-Xss8m", "spark.observatory.tracing.samplingRatio": "0.1"},
	}}, wanted)
	require.Empty(t, observe.Lacks(own, wanted), "options and a ratio of the cluster's own")

	own[0].Properties["spark.driver.defaultJavaOptions"] = "-Xss8m"
	delete(own[0].Properties, "spark.executor.defaultJavaOptions")
	own[1].Properties["hadoop.prometheus.endpoint.enabled"] = "false"
	own[3].Configurations[0].Properties["docker.allowed.ro-mounts"] = "/data"
	require.Equal(t, []observe.Lack{
		{"core-site", "hadoop.prometheus.endpoint.enabled", "false", true, "true"},
		{"spark-defaults", "spark.driver.defaultJavaOptions", "-Xss8m", true, observe.AgentFlag},
		{"spark-defaults", "spark.executor.defaultJavaOptions", "", false, wanted[1].Properties["spark.executor.defaultJavaOptions"]},
		{"container-executor.docker", "docker.allowed.ro-mounts", "/data", true, "/opt/observatory"},
	}, observe.Lacks(own, wanted))
}
