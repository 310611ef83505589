package platform

import "strings"

// EMRManagedPolicyTag is the tag, with value "true", that the managed policy
// AmazonEMRServicePolicy_v2 requires on every subnet, security group and cluster
// (EMR Management Guide, "Using the v2 managed policies").
const EMRManagedPolicyTag = "for-use-with-amazon-emr-managed-policies"

// InstanceMetadata is the address of the instance metadata service, which has the
// role's credentials (EC2 User Guide, "Access instance metadata"), over HTTP at
// InstanceMetadataPort.
const InstanceMetadata = "169.254.169.254"

// Networks inside K3s (its defaults for cluster-cidr and service-cidr). Pods on the
// control node cannot reach a VPC that overlaps them.
const (
	KubernetesPodCIDR     = "10.42.0.0/16"
	KubernetesServiceCIDR = "10.43.0.0/16"
)

// ConsoleURL returns the address of the AWS Management Console for a region's
// partition (AWS Regions and Availability Zones; GovCloud and China user guides,
// "Console").
func ConsoleURL(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "https://console.amazonaws.cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "https://console.amazonaws-us-gov.com"
	}
	return "https://console.aws.amazon.com"
}

// MaxRolePolicies is how many characters the policies that a role has of its own may have
// together, without white space (IAM User Guide, "IAM and AWS STS quotas").
const MaxRolePolicies = 10240
