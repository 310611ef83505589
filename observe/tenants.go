package observe

import (
	"math"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// TenantQueues returns the configurations that give each tenant a queue of YARN's capacity
// scheduler, and what the tenants leave to the queue default (Hadoop, "CapacityScheduler").
// Queues count memory and cores. Where node labels are on, each queue has its share of the
// labelled nodes, too.
func TenantQueues(c schema.Cluster) []Classification {
	if len(c.Tenants) == 0 {
		return nil
	}
	const prefix = "yarn.scheduler.capacity."
	scheduler := map[string]string{
		prefix + "root.queues":         strings.Join(append(c.TenantKeys(), schema.DefaultQueue), ","),
		prefix + "resource-calculator": schema.DominantCalculator,
	}
	label := nodeLabel(c)
	queue := func(name string, share, ceiling int) {
		at := prefix + "root." + name + "."
		scheduler[at+"capacity"] = strconv.Itoa(share)
		scheduler[at+"maximum-capacity"] = strconv.Itoa(ceiling)
		// All jobs run as one user, who otherwise gets the queue's share at most.
		scheduler[at+"user-limit-factor"] = strconv.FormatFloat(math.Ceil(float64(ceiling)/float64(share)), 'f', -1, 64)
		if label != "" {
			scheduler[at+"accessible-node-labels"] = "*"
			scheduler[at+"accessible-node-labels."+label+".capacity"] = strconv.Itoa(share)
			scheduler[at+"accessible-node-labels."+label+".maximum-capacity"] = strconv.Itoa(ceiling)
		}
	}
	for _, key := range c.TenantKeys() {
		t := c.Tenants[key]
		queue(key, t.Share, t.Ceiling)
		if !t.Preemption {
			scheduler[prefix+"root."+key+".disable_preemption"] = "true"
		}
	}
	queue(schema.DefaultQueue, c.LeftShare(), schema.WholeCluster)
	return []Classification{
		{Classification: "capacity-scheduler", Properties: scheduler},
		{Classification: "yarn-site", Properties: map[string]string{
			"yarn.resourcemanager.scheduler.monitor.enable": "true",
			// By default a round ends containers of a tenth of the cluster at most, and none that is
			// larger than that, and only a fifth of what lacks
			// (ProportionalCapacityPreemptionPolicy): on few nodes a tenant would wait without end.
			"yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round": "0.5",
			"yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor": "1",
		}},
	}
}

// nodeLabel returns the label of the nodes on which the cluster's application masters run, ""
// without node labels.
func nodeLabel(c schema.Cluster) string {
	for _, e := range c.Configurations {
		if e.Classification == "yarn-site" && e.Properties[platform.YARNNodeLabels] == "true" {
			return e.Properties[platform.YARNMasterLabel]
		}
	}
	return ""
}
