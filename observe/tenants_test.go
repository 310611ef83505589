package observe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/schema"
)

// properties returns those of a classification.
func properties(list []observe.Classification, name string) map[string]string {
	for _, c := range list {
		if c.Classification == name {
			return c.Properties
		}
	}
	return nil
}

func TestTenantsAreQueues(t *testing.T) {
	var c schema.Cluster
	c.SetDefaults()
	require.Nil(t, properties(observe.ConfigurationsOf(c, ""), "capacity-scheduler"), "EMR's own queue")

	c.Tenants = map[string]schema.Tenant{"sales": {Share: 50, Ceiling: 80, Preemption: true}, "risk": {Share: 30, Ceiling: 100}}
	list := observe.ConfigurationsOf(c, "")
	const prefix = "yarn.scheduler.capacity.root."
	require.Equal(t, map[string]string{
		prefix + "queues":         "risk,sales,default",
		prefix + "sales.capacity": "50", prefix + "sales.maximum-capacity": "80", prefix + "sales.user-limit-factor": "2",
		prefix + "risk.capacity": "30", prefix + "risk.maximum-capacity": "100", prefix + "risk.disable_preemption": "true",
		prefix + "risk.user-limit-factor": "4",
		prefix + "default.capacity":       "20", prefix + "default.maximum-capacity": "100", prefix + "default.user-limit-factor": "5",
		"yarn.scheduler.capacity.resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
	}, properties(list, "capacity-scheduler"))
	require.Equal(t, "true", properties(list, "yarn-site")["yarn.resourcemanager.scheduler.monitor.enable"])
	require.Equal(t, "0.5", properties(list, "yarn-site")["yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round"])

	// With node labels, each queue has its share of the labelled nodes. What the user sets stays.
	c.Configurations = []schema.Configuration{
		{Classification: "yarn-site", Properties: map[string]string{
			"yarn.node-labels.enabled": "true", "yarn.node-labels.am.default-node-label-expression": "ON_DEMAND",
			"yarn.resourcemanager.scheduler.monitor.enable": "false",
		}},
		{Classification: "capacity-scheduler", Properties: map[string]string{prefix + "sales.user-limit-factor": "1"}},
	}
	list = observe.ConfigurationsOf(c, "")
	scheduler := properties(list, "capacity-scheduler")
	require.Equal(t, "50", scheduler[prefix+"sales.accessible-node-labels.ON_DEMAND.capacity"])
	require.Equal(t, "*", scheduler[prefix+"default.accessible-node-labels"])
	require.Equal(t, "1", scheduler[prefix+"sales.user-limit-factor"])
	require.Equal(t, "false", properties(list, "yarn-site")["yarn.resourcemanager.scheduler.monitor.enable"])
}
