package schema

import (
	"net/netip"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Config is the whole configuration.
type Config struct {
	Region            string              `json:"region" required:"true" rule:"region"`
	Ephemeral         bool                `json:"ephemeral"`
	Tags              map[string]string   `json:"tags" rule:"tags"`
	OperatorCIDRs     []string            `json:"operatorCidrs" rule:"operatorCidr"`
	Network           Network             `json:"network"`
	ControlNode       ControlNode         `json:"controlNode"`
	Architectures     []string            `json:"architectures" rule:"nodeArch"`
	Clusters          map[string]Cluster  `json:"clusters" rule:"clusters"`
	Schedules         map[string]Schedule `json:"schedules" rule:"schedules"`
	Budget            Budget              `json:"budget"`
	BlockPublicAccess bool                `json:"blockPublicAccess"`
	Retention         Retention           `json:"retention"`
	Limits            Limits              `json:"limits"`
	Tracing           Tracing             `json:"tracing"`
	Profiler          Profiler            `json:"profiler"`
	AWSEndpoints      AWSEndpoints        `json:"awsEndpoints"`
	Grafana           Grafana             `json:"grafana"`

	PermissionsBoundary string `json:"permissionsBoundary" rule:"boundary"`
	IAMPath             string `json:"iamPath" rule:"iamPath"`
}

// Help describes the keys, for documents.
func (Config) Help() map[string]string {
	return map[string]string{
		"region": "AWS region of the whole stack.",
		"ephemeral": "True for a stack that may vanish with its data: nothing is protected or retained, buckets are " +
			"emptied on destroy.",
		"tags": "Tags of every AWS resource, beside the project's own.",
		"operatorCidrs": "Networks from which people and `pulumi up` reach Grafana, the Kubernetes API and /status. Empty: " +
			"none, which fits only controlNode.access tunnel.",
		"network":     "The VPC: created by the stack, or an existing one.",
		"controlNode": "The EC2 instance that runs the telemetry servers.",
		"architectures": "Processor architectures whose nodes find their artifacts in the data bucket: of the stack's clusters, and " +
			"of others that use its bootstrap action. An edit replaces all clusters of the stack: they share that action.",
		"clusters":  "The EMR clusters by key, which is a part of their names. Without any, the platform observes clusters that others start.",
		"schedules": "Steps that start by the clock, by key. EventBridge Scheduler calls EMR; nothing of the platform has to run for it.",
		"budget":    "What the stack may cost. The preview prints an estimate with or without one.",
		"blockPublicAccess": "Make EMR refuse clusters with public security groups, on every port, in the whole account and region. " +
			"Removing the key, or the stack, leaves the account as it is. False: the account's own setting is left alone.",
		"retention": "How long data is kept, in days.",
		"limits": "How much of one cluster's telemetry is stored in an hour. What is beyond is refused, counted, and shown by cluster; " +
			"other clusters lose nothing as long as VictoriaMetrics takes the series of all. What a cluster has not used remains for an hour.",
		"tracing":      "Traces of jobs and steps, and where a copy of them goes.",
		"profiler":     "The Spark history of finished and running clusters, as tables in the lake.",
		"awsEndpoints": "Endpoints that replace AWS's own, for S3-compatible stores and for the local cloud.",
		"grafana":      "How the program reaches Grafana.",
		"permissionsBoundary": "ARN of the policy that bounds every IAM role of the stack. Empty: none. It must allow what the roles do, " +
			"with sts:AssumeRole for the control node's if profiler.enabled. Roles that the configuration names stay as they are.",
		"iamPath": "Path of every IAM role, instance profile and policy of the stack, such as /team/. Empty: /. Changing it replaces them " +
			"and the clusters.",
	}
}

// Defaults returns the configuration of a stack that sets only its region. The
// region has no default, so that no stack lands in an unintended region.
func Defaults() Config {
	c := Config{
		Tags: map[string]string{}, OperatorCIDRs: []string{}, Architectures: platform.Architectures(), Clusters: map[string]Cluster{},
		Schedules: map[string]Schedule{},
	}
	c.Budget.SetDefaults()
	c.Network.SetDefaults()
	c.ControlNode.SetDefaults()
	c.Retention.SetDefaults()
	c.Limits.SetDefaults()
	c.Tracing.SetDefaults()
	c.Profiler.SetDefaults()
	return c
}

// Validate reports every violation of the configuration at once.
func (c Config) Validate() error {
	var l violation.List
	c.Check(&l)
	return l.Err()
}

// Check adds the configuration's violations to l.
func (c Config) Check(l *violation.List) {
	checkFields(l, "", c)
	checkTags(l, "tags", c.Tags)
	c.Network.Validate(l, "network", c.Region)
	c.ControlNode.Validate(l, "controlNode")
	c.checkPrivateIP(l)
	c.checkAccess(l)
	c.checkOperators(l)
	c.checkCertificate(l)
	checkFields(l, "budget", c.Budget)
	c.checkClusters(l)
	c.checkSchedules(l)
	c.checkCapacity(l)
	c.checkAddresses(l)
	c.Retention.Validate(l, "retention")
	c.Limits.Validate(l, "limits")
	c.Tracing.Validate(l, "tracing")
	c.Profiler.Validate(l, "profiler")
	checkOrigins(l, "awsEndpoints", c.AWSEndpoints)
	checkOrigins(l, "grafana", c.Grafana)
}

// checkPrivateIP requires that the control node's address is inside its subnet, if
// the stack creates that.
func (c Config) checkPrivateIP(l *violation.List) {
	ip, ipErr := netip.ParseAddr(c.ControlNode.PrivateIP)
	if ipErr != nil || c.Network.VPCID != "" || !isPrivateNetwork(c.Network.CIDR) || !rules["privateIp"].Holds(c.ControlNode.PrivateIP) {
		return
	}
	subnets := SubnetsOf(netip.MustParsePrefix(c.Network.CIDR))
	subnet := subnets.Private[0]
	if c.ControlNode.Access == AccessPublic {
		subnet = subnets.Public
	}
	r := rules["privateIp"]
	remedy := "choose a free address of " + subnet.String() + ", or leave it empty"
	l.Require(subnet.Contains(ip), "controlNode.privateIp", c.ControlNode.PrivateIP, r.Text, remedy)
	l.Require(!subnet.Contains(ip) || !isReserved(subnet, ip), "controlNode.privateIp", c.ControlNode.PrivateIP,
		"must not be one of the first four addresses of its subnet, nor the last: EC2 reserves them", remedy)
}

func globalRules() map[string]Rule {
	return map[string]Rule{
		"region": pattern(platform.RegionPattern, "an AWS region name such as us-east-1").
			with("", "choose one: `pulumi config set emr-observatory:region us-east-1`"),
		"operatorCidr": operatorRule(),
	}
}

// CheckRegion checks a region on its own.
func CheckRegion(l *violation.List, path, region string) {
	r := rules["region"]
	l.Require(r.Holds(region), path, region, r.Text, r.Remedy)
}

// CheckOperators checks the networks of operators on their own.
func CheckOperators(l *violation.List, path string, cidrs []string) {
	checkEach(l, path, cidrs, rules["operatorCidr"])
}
