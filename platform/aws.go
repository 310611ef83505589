package platform

// EMRManagedPolicyTag is the tag, with value "true", that the managed policy
// AmazonEMRServicePolicy_v2 demands on every subnet, security group and
// cluster before it grants anything (EMR Management Guide, "Using the v2
// managed policies").
const EMRManagedPolicyTag = "for-use-with-amazon-emr-managed-policies"

// InstanceMetadata is where an instance asks for its role's credentials (EC2
// User Guide, "Access instance metadata"), over HTTP at InstanceMetadataPort.
const InstanceMetadata = "169.254.169.254"

// Networks inside K3s (its defaults for cluster-cidr and service-cidr). A VPC
// that overlaps them cannot be reached from the control node's pods.
const (
	KubernetesPodCIDR     = "10.42.0.0/16"
	KubernetesServiceCIDR = "10.43.0.0/16"
)
