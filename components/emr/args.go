package emr

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/schema"
)

// Args describes the cluster. Validate checks it. The inputs come from other
// components; those of strings are all required.
type Args struct {
	Region string // required
	schema.EMR
	Ephemeral bool // forbids TerminationProtection, permits a primary node on spot

	SamplingRatio string // of the jobs' traces, platform.SparkSamplingRatio; "" = they have none

	// After is what the cluster itself waits for; its roles do not. nil = nothing.
	After pulumi.Resource

	SubnetID                     pulumi.StringInput
	MasterSecurityGroupID        pulumi.StringInput
	CoreSecurityGroupID          pulumi.StringInput
	ServiceAccessSecurityGroupID pulumi.StringInput
	Bucket                       pulumi.StringInput
	BucketARN                    pulumi.StringInput
	KMSKeyARN                    pulumi.StringInput
	BootstrapPath                pulumi.StringInput      // s3://…
	BootstrapArgs                pulumi.StringArrayInput // with the content hash: the provider ignores a change of the path alone
}
