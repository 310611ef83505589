package schema

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/presets"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Cluster describes one EMR cluster.
type Cluster struct {
	Preset       string   `json:"preset" rule:"preset"`
	ReleaseLabel string   `json:"releaseLabel" rule:"release"`
	Applications []string `json:"applications" rule:"application"`
	Observe      string   `json:"observe" rule:"observe"`

	Master        InstanceGroup            `json:"master"`
	Core          InstanceGroup            `json:"core"`
	Tasks         map[string]InstanceGroup `json:"tasks" rule:"tasks"`
	Fleets        *Fleets                  `json:"fleets"`
	Subnets       []int                    `json:"subnets" rule:"subnets"`
	Placement     string                   `json:"placement" rule:"placement"`
	CustomAMIID   string                   `json:"customAmiId" rule:"image"`
	RootVolumeGiB int                      `json:"rootVolumeGiB" rule:"rootVolume"`

	ManagedScaling *ManagedScaling   `json:"managedScaling"`
	Tenants        map[string]Tenant `json:"tenants" rule:"tenants"`

	StartedBy                string `json:"startedBy" rule:"startedBy"`
	KeepAlive                bool   `json:"keepAlive"`
	IdleTimeoutMinutes       int    `json:"idleTimeoutMinutes" rule:"idleTimeout"`
	TerminationProtection    bool   `json:"terminationProtection"`
	UnhealthyNodeReplacement bool   `json:"unhealthyNodeReplacement"`
	ScaleDownBehavior        string `json:"scaleDownBehavior" rule:"scaleDown"`
	StepConcurrency          int    `json:"stepConcurrency" rule:"stepConcurrency"`
	Steps                    []Step `json:"steps" rule:"steps"`

	SparkDefaults    map[string]string `json:"sparkDefaults" rule:"sparkDefaults"`
	RolledEventLogs  bool              `json:"rolledEventLogs"`
	GlueCatalog      bool              `json:"glueCatalog"`
	Configurations   []Configuration   `json:"configurations" rule:"configurations"`
	BootstrapActions []BootstrapAction `json:"bootstrapActions" rule:"bootstrapActions"`

	ServiceRoleARN       string            `json:"serviceRoleArn" rule:"roleArn"`
	InstanceProfileARN   string            `json:"instanceProfileArn" rule:"profileArn"`
	MasterSecurityGroups []string          `json:"masterSecurityGroups" rule:"securityGroup"`
	CoreSecurityGroups   []string          `json:"coreSecurityGroups" rule:"securityGroup"`
	Access               Access            `json:"access"`
	Encryption           Encryption        `json:"encryption"`
	Kerberos             *Kerberos         `json:"kerberos"`
	RuntimeRoles         RuntimeRoles      `json:"runtimeRoles"`
	Tags                 map[string]string `json:"tags" rule:"clusterTags"`
}

// Help describes the keys, for documents.
func (Cluster) Help() map[string]string {
	return map[string]string{
		"preset": "Shape that the cluster has where its other keys say nothing (presets.md). Objects and maps are merged by key, and " +
			"configurations by classification; a list replaces the preset's, fleets its groups, and null removes what it has. " +
			"`observatory explain` says who set what.",
		"releaseLabel": "EMR release.",
		"applications": "EMR applications to install, Spark among them unless observe is hostsOnly.",
		"observe": "What nodes report: full, or hostsOnly for a cluster without Spark, whose nodes install the collector alone. The " +
			"platform then has the metrics and logs of its machines, but neither jobs and JVMs nor metrics of YARN and HDFS.",
		"master": "Primary node or nodes.",
		"core":   "Core nodes: YARN and HDFS. With count 0, the primary node is the only one.",
		"tasks": "Groups of task nodes (YARN only) by key, which is a part of their names. " +
			"EMR never removes a group: one without key here, or one that was replaced, has 0 nodes and still counts towards EMR's 48.",
		"subnets": "Which of the network's private subnets the cluster may run in, counted from 0.",
		"fleets":  "Instance fleets in place of the groups master, core and tasks: EMR chooses among several instance types.",
		"tenants": "Teams with a queue of their own in YARN, by key, which is the queue's name: jobs choose it with spark.yarn.queue. What " +
			"the tenants leave is the share of the queue default, where jobs run that choose none.",
		"managedScaling": "EMR chooses the number of core and task nodes. Left out: it stays as written.",
		"placement":      "SPREAD puts three primary nodes on different hardware. Empty: wherever EC2 has room.",
		"customAmiId": "Image of all nodes. Empty: EMR's own. It must be built on the Amazon Linux of the release, and of the architecture of " +
			"every group.",
		"rootVolumeGiB": "Size of each node's root volume in GiB; 0 for EMR's own choice.",
		"startedBy": "What starts it: " + StartedByUpdate + ", or " + StartedBySchedules + ", each of whose runs starts a cluster of its own, " +
			"which ends after the steps of the schedule. An update then only creates what such a cluster needs.",
		"keepAlive":             "False: the cluster ends after its last step. The next update starts another, or the next run of its schedule.",
		"idleTimeoutMinutes":    "Minutes without work after which EMR terminates the cluster; 0 for never.",
		"terminationProtection": "Refuse to terminate the cluster, by API or by destroy.",
		"unhealthyNodeReplacement": "Replace core nodes that YARN or HDFS reports as unhealthy. False: they only lose their work and " +
			"stay on the " +
			"bill.",
		"scaleDownBehavior": "When a node that is to go does so: after its tasks, or at the end of its paid hour.",
		"stepConcurrency":   "Steps that run at the same time.",
		"steps": "Steps that run when the cluster has started. A later edit changes nothing: submit further steps with " +
			"`observatory submit`. A cluster that is replaced, or started again after it has ended, runs its steps again.",
		"sparkDefaults": "Entries of spark-defaults, merged key by key over the platform's. " + DataBucket + " is the name of the data bucket.",
		"rolledEventLogs": "Jobs write their event logs in parts of 128 MiB, as AWS recommends for large ones, unless they or sparkDefaults " +
			"set spark.eventLog.rolling.enabled. No part is compacted: that would remove finished jobs from the history. " +
			"Without effect if observe is hostsOnly.",
		"glueCatalog": "Use AWS Glue's Data Catalog as the metastore of Hive, Presto, Spark and Trino. Jobs may use the databases of " +
			"access.glueDatabases.",
		"configurations":   "Classifications of EMR, merged with the platform's. " + DataBucket + " is the name of the data bucket.",
		"bootstrapActions": "Scripts that run on each node after the platform's own and before the applications are installed, in this order.",
		"serviceRoleArn":   "Existing role of EMR itself. Empty: the stack creates one. The program adds a policy to it.",
		"instanceProfileArn": "Existing instance profile of the nodes. Empty: the stack creates one. The program " +
			"adds a policy to its role.",
		"masterSecurityGroups": "Additional security groups of the primary nodes, in the order in which EMR returns them. " + moreGroups,
		"coreSecurityGroups":   "Additional security groups of core and task nodes, in the order in which EMR returns them. " + moreGroups,
		"access":               "What jobs may use beyond the data bucket's lake/.",
		"encryption": "What is encrypted besides the data bucket and every disk, which always are. Objects that jobs write to other " +
			"buckets have the encryption of those buckets.",
		"kerberos":     "Users of the cluster's services need tickets of a KDC on its primary node. Left out: they need none.",
		"runtimeRoles": "Roles that steps may have in place of the nodes'.",
		"tags":         "Tags of the cluster, which EMR copies to its instances and volumes, beside the stack's.",
	}
}

// moreGroups says what additional security groups are for, and what EMR's role asks of
// them (AmazonEMRServicePolicy_v2, CreateInTaggedNetwork).
const moreGroups = "Nodes reach HTTPS addresses only: the outbound rules of such a group open the way to databases and brokers. " +
	"The group needs the tag " + platform.EMRManagedPolicyTag + " = true."

// SetDefaults sets the values of a small cluster.
func (c *Cluster) SetDefaults() {
	*c = Cluster{
		ReleaseLabel:             "emr-7.10.0",
		Applications:             []string{"Hadoop", spark},
		Observe:                  ObserveFull,
		Tasks:                    map[string]InstanceGroup{},
		Tenants:                  map[string]Tenant{},
		Subnets:                  []int{0},
		StartedBy:                StartedByUpdate,
		KeepAlive:                true,
		IdleTimeoutMinutes:       60,
		UnhealthyNodeReplacement: true,
		ScaleDownBehavior:        atTaskCompletion,
		StepConcurrency:          1,
		Steps:                    []Step{},
		SparkDefaults:            map[string]string{},
		RolledEventLogs:          true,
		Configurations:           []Configuration{},
		BootstrapActions:         []BootstrapAction{},
		MasterSecurityGroups:     []string{},
		CoreSecurityGroups:       []string{},
		Tags:                     map[string]string{},
	}
	c.Master.SetDefaults()
	c.Core.SetDefaults()
	c.Core.Count = 2
	c.Access.SetDefaults()
	c.RuntimeRoles.SetDefaults()
}

const spark = "Spark"

// Keys of spark-defaults that load the platform's agent. EMR merges by key and
// appends to no value: a user's value would replace the agent's.
const (
	SparkDriverAgentKey   = "spark.driver.defaultJavaOptions"
	SparkExecutorAgentKey = "spark.executor.defaultJavaOptions"
)

// agentKeys returns the Spark properties that load the launcher's agent.
func agentKeys() []string { return []string{SparkDriverAgentKey, SparkExecutorAgentKey} }

var sparkKey = regexp.MustCompile(`^spark\.[^\s=]+$`)

func clusterRules() map[string]Rule {
	names := oneOf(applicationNames()...)
	names.Text = "must be an EMR application of the release"
	return map[string]Rule{
		"preset": oneOf(presets.Names()...).optional().with(", or empty", "choose one, or remove it: docs/reference/presets.md "+
			"says what each has"),
		"release":     releaseRule(),
		"application": names.with("", "known: "+strings.Join(applicationNames(), ", ")),
		"observe":     oneOf(ObserveFull, ObserveHostsOnly),
		"sparkDefaults": textOnly("must be spark.* properties of one line, without secrets and without " +
			strings.Join(agentKeys(), " and ") + ", which carry the observatory's agent"),
	}
}

// Validate adds the cluster's violations to l. path is the cluster's own, such as
// clusters.etl.
func (c Cluster) Validate(l *violation.List, path string, ephemeral bool) {
	checkFields(l, path, c)
	c.checkObserve(l, path)
	c.checkApplications(l, path)
	c.checkMetastore(l, path)
	c.checkFacts(l, path, time.Now())
	if c.Fleets == nil {
		c.checkMaster(l, path+".master", ephemeral)
		c.checkWorkers(l, path)
	} else {
		c.checkFleets(l, path, ephemeral)
	}
	c.checkAutoScaling(l, path)
	c.checkManagedScaling(l, path)
	c.checkTenants(l, path)
	c.Access.check(l, path+".access")
	c.checkEncryption(l, path+".encryption")
	c.checkKerberos(l, path+".kerberos")
	c.checkRuntimeRoles(l, path+".runtimeRoles")
	c.checkLife(l, path, ephemeral)
	c.checkSteps(l, path+".steps")
	c.checkSparkDefaults(l, path+".sparkDefaults")
	c.checkConfigurations(l, path)
	c.checkBootstrapActions(l, path+".bootstrapActions")
	c.checkGroups(l, path)
	checkNotOfAWS(l, path+".serviceRoleArn", c.ServiceRoleARN, "the program adds a policy to it",
		"leave it empty for a role of the stack, or name another one")
	c.checkImage(l, path+".customAmiId")
	checkClusterTags(l, path+".tags", c.Tags)
}

func (c Cluster) checkSparkDefaults(l *violation.List, path string) {
	rule := rules["sparkDefaults"].Text
	for _, k := range slices.Sorted(maps.Keys(c.SparkDefaults)) {
		v, at := c.SparkDefaults[k], path+"."+k
		switch {
		case isSecret(k, v): // checkFacts refuses it
		case k == platform.SparkSamplingRatio:
			l.Require(false, at, v, "must not be set here: steps would have another ratio", "set tracing.samplingRatio")
		case slices.Contains(agentKeys(), k):
			l.Require(false, at, v, rule, "use "+strings.Replace(k, "default", "extra", 1)+", which Spark adds to it")
		default:
			l.Require(sparkKey.MatchString(k), at, v, rule, "write the property's full name, e.g. spark.executor.memory")
			l.Require(!strings.ContainsAny(v, "\r\n"), at, v, rule, "remove the line break")
		}
	}
}
