package schema

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// InstanceGroup describes the machines of one role.
type InstanceGroup struct {
	InstanceType string   `json:"instanceType" rule:"emrInstanceType"`
	Count        int      `json:"count" rule:"count"`
	EBS          []Volume `json:"ebs" rule:"volumes"`
	BidPrice     string   `json:"bidPrice" rule:"groupPrice"`

	EBSOptimized   bool            `json:"ebsOptimized"`
	Configurations []Configuration `json:"configurations" rule:"configurations"`
	AutoScaling    *AutoScaling    `json:"autoScaling"`
}

// Help describes the keys, for documents.
func (InstanceGroup) Help() map[string]string {
	return map[string]string{
		"instanceType": "EC2 instance type.",
		"count": "Number of instances. If it is lowered for core or task nodes, EMR removes a node once its YARN containers have ended, " +
			"after an hour at the latest; the update itself fails after 30 minutes.",
		"ebs": "Volumes of each instance. Empty: EMR's own choice for the type.",
		"bidPrice": "Highest spot price in USD per hour, or onDemand for the price on demand as it was when the platform was built (`make " +
			"facts` reads it again, and replaces groups whose price has changed). Empty: on demand.",
		"ebsOptimized": "Ask for dedicated bandwidth to EBS. Types since 2016 always have it. Task groups only.",
		"autoScaling":  "Rules that change the number of nodes. Core and task groups only.",
		"configurations": "Classifications of this group's nodes, which replace the cluster's key by key. The platform's mounts of Docker " +
			"containers stay. Task groups only.",
	}
}

// SetDefaults sets the values of a group of one instance.
func (g *InstanceGroup) SetDefaults() {
	*g = InstanceGroup{InstanceType: defaultInstanceType, Count: 1, EBS: []Volume{}, Configurations: []Configuration{}}
}

// masterCounts: three primary nodes survive the loss of one (EMR Management
// Guide, "Multiple primary nodes").
func masterCounts() []int { return []int{1, threeMasters} }

const threeMasters = 3

// onDemandMasters: EMR Management Guide, "Considerations and best practices for multiple
// primary nodes".
const onDemandMasters = "EMR runs several on demand only"

// minCount is the minimum for core and task. HDFS needs a core node; for an empty
// task group the provider starts a node all the same
// (terraform-provider-aws#38837).
const minCount = 1

// mustBe begins the text of a rule. The rules of the counts are for documents together, and
// each for the errors of its groups.
const mustBe = "must be "

func masterCount() string { return fmt.Sprintf("%d or %d", masterCounts()[0], masterCounts()[1]) }

func workerCount() string { return fmt.Sprintf("at least %d", minCount) }

const noCore = "or 0 for a cluster without core nodes"

func groupRules() map[string]Rule {
	count := textOnly(mustBe + masterCount() + " for master; " + workerCount() + " for core, " + noCore + "; " + workerCount() + " for task")
	count.Min, count.Max = minCount, math.MaxInt32
	return map[string]Rule{
		// EMR still names types below .large in its answers, but no longer in its pages (EMR
		// Management Guide, "Supported instance types"). checkInstanceType knows each type.
		"emrInstanceType": pattern(`^[a-z][a-z0-9-]*\d[a-z0-9-]*\.(large|\d*xlarge|metal(-\d+xl)?)$`,
			"an instance type that the release takes, .large or larger, such as "+defaultInstanceType),
		"count":   count,
		"volumes": textOnly(fmt.Sprintf("must be %d volumes on each instance at most, each kind once", maxVolumes)),
		"price":   predicate(isPrice, "a price in USD above 0 such as 0.12").optional(),
		"groupPrice": predicate(func(s string) bool { return s == BidOnDemand || isPrice(s) },
			"a price in USD above 0 such as 0.12, or "+BidOnDemand).optional(),
	}
}

// Validate adds the violations of a core or task group to l. count is the rule of its count.
func (g InstanceGroup) Validate(l *violation.List, path, count string) {
	checkFields(l, path, g)
	g.checkVolumes(l, path)
	l.Require(inRange(g.Count, minCount, math.MaxInt32), path+".count", g.Count, mustBe+count, "")
}

// checkMaster checks the primary nodes.
func (c Cluster) checkMaster(l *violation.List, path string, ephemeral bool) {
	checkFields(l, path, c.Master)
	c.Master.checkVolumes(l, path)
	c.Master.checkNotTask(l, path)
	l.Require(slices.Contains(masterCounts(), c.Master.Count), path+".count", c.Master.Count, mustBe+masterCount(), "")
	if c.Master.Count == threeMasters {
		l.Require(c.Master.BidPrice == "", path+".bidPrice", c.Master.BidPrice, "must be empty with three primary nodes: "+onDemandMasters,
			"remove it, or set count to 1")
		return
	}
	l.Require(c.Master.BidPrice == "" || ephemeral, path+".bidPrice", c.Master.BidPrice,
		"must be empty unless the stack is ephemeral: losing the primary node loses the cluster", "run the primary node on demand")
}

// checkNotTask refuses what the provider has for task groups only.
func (g InstanceGroup) checkNotTask(l *violation.List, path string) {
	const only = "for task groups only"
	l.Require(!g.EBSOptimized, path+".ebsOptimized", g.EBSOptimized, "must be false: the provider has it "+only,
		"remove it: instance types since 2016 always have dedicated bandwidth")
	l.Require(len(g.Configurations) == 0, path+".configurations", len(g.Configurations), "must be empty: the provider has them "+only,
		"write them into the configurations of the cluster")
}

// checkTask checks what only a task group violates: the provider's resource for
// task groups has no throughput of volumes.
func (g InstanceGroup) checkTask(l *violation.List, path string) {
	for i, v := range g.EBS {
		l.Require(v.Throughput == 0, fmt.Sprintf("%s.ebs[%d].throughput", path, i), v.Throughput,
			"must be 0: the provider cannot set it on task groups", "remove it")
	}
	checkClassifications(l, path+".configurations", g.Configurations)
}

func (g InstanceGroup) checkVolumes(l *violation.List, path string) {
	total := 0
	for i, v := range g.EBS {
		at := fmt.Sprintf("%s.ebs[%d]", path, i)
		v.Validate(l, at)
		l.Require(!slices.ContainsFunc(g.EBS[:i], v.sameKind), at, v, "must differ from the others: the provider reads equal volumes back as one",
			"increase perInstance of the first")
		total += v.PerInstance
	}
	l.Require(total <= maxVolumes || len(g.EBS) == 1, path+".ebs", total, rules["volumes"].Text, "use fewer, larger volumes")
}

var price = pattern(`^\d{1,3}(\.\d{1,5})?$`, "")

func isPrice(s string) bool { return price.Holds(s) && strings.Trim(s, "0.") != "" }
