package emr

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/schema"
)

// Args describes the cluster. Validate checks it. The inputs come from other
// components; those of strings are all required.
type Args struct {
	Region string // required
	Key    string // of the cluster in the configuration; required
	Name   string // EMR's own name of the cluster, by which people choose it; required
	schema.Cluster
	Ephemeral bool // forbids TerminationProtection, permits a primary node on spot

	// HistoryReadable lets the nodes, and so the jobs, read the profiler's tables of all clusters.
	HistoryReadable bool

	// Scheduled are the schedules of the cluster, by their keys: nodes may read the programs of their steps.
	Scheduled map[string]schema.Schedule
	// StackTags are those that the provider gives to every resource; EMR gets them with a cluster that a schedule starts.
	StackTags map[string]string

	SamplingRatio string // of the jobs' traces, platform.SparkSamplingRatio; "" = they have none

	Identity   schema.Identity // of the roles and the instance profile
	DNSServers []string        // of the VPC, where it has its own; none = AmazonProvidedDNS

	// After is what the cluster itself waits for; its roles do not.
	After []pulumi.Resource

	VPCID                   pulumi.StringInput
	SubnetIDs               pulumi.StringArrayInput // the private subnets that the cluster may run in, at least one
	S3PrefixListID          pulumi.StringInput      // addresses of S3 in the region
	ObservedSecurityGroupID pulumi.StringInput      // opens the way to the control node
	Bucket                  pulumi.StringInput
	BucketARN               pulumi.StringInput
	KMSKeyARN               pulumi.StringInput
	BootstrapPath           pulumi.StringInput      // s3://…
	BootstrapArgs           pulumi.StringArrayInput // with the content hash: the provider ignores a change of the path alone
}
