package catalog

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
)

// awsEMR lists the resource types of EMR and of the identities and keys it needs.
func awsEMR() []Type {
	return []Type{
		typ(emr.ClusterArgs{}, emr.ClusterState{}),
		typ(emr.InstanceGroupArgs{}, emr.InstanceGroupState{}),
		typ(emr.InstanceFleetArgs{}, emr.InstanceFleetState{}),
		typ(emr.ManagedScalingPolicyArgs{}, emr.ManagedScalingPolicyState{}, "computeLimits"),
		typ(emr.SecurityConfigurationArgs{}, emr.SecurityConfigurationState{}),
		typ(emr.BlockPublicAccessConfigurationArgs{}, emr.BlockPublicAccessConfigurationState{}),
		typ(iam.RoleArgs{}, iam.RoleState{}, "assumeRolePolicy"),
		typ(iam.RolePolicyArgs{}, iam.RolePolicyState{}, "policy", "role"),
		typ(iam.RolePolicyAttachmentArgs{}, iam.RolePolicyAttachmentState{}, "role"),
		typ(iam.PolicyArgs{}, iam.PolicyState{}, "policy"),
		typ(iam.InstanceProfileArgs{}, iam.InstanceProfileState{}),
		typ(kms.KeyArgs{}, kms.KeyState{}),
		typ(kms.AliasArgs{}, kms.AliasState{}),
	}
}
