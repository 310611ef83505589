package catalog

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
)

// awsEMR gives the resource types of EMR and the identities and keys it runs with.
func awsEMR() map[string]Type {
	return map[string]Type{
		"aws:emr/cluster:Cluster":                                               typ(emr.ClusterArgs{}, emr.ClusterState{}),
		"aws:emr/instanceGroup:InstanceGroup":                                   typ(emr.InstanceGroupArgs{}, emr.InstanceGroupState{}),
		"aws:emr/instanceFleet:InstanceFleet":                                   typ(emr.InstanceFleetArgs{}, emr.InstanceFleetState{}),
		"aws:emr/managedScalingPolicy:ManagedScalingPolicy":                     typ(emr.ManagedScalingPolicyArgs{}, emr.ManagedScalingPolicyState{}, "computeLimits"),
		"aws:emr/securityConfiguration:SecurityConfiguration":                   typ(emr.SecurityConfigurationArgs{}, emr.SecurityConfigurationState{}),
		"aws:emr/studio:Studio":                                                 typ(emr.StudioArgs{}, emr.StudioState{}, "subnetIds"),
		"aws:emr/studioSessionMapping:StudioSessionMapping":                     typ(emr.StudioSessionMappingArgs{}, emr.StudioSessionMappingState{}),
		"aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration": typ(emr.BlockPublicAccessConfigurationArgs{}, emr.BlockPublicAccessConfigurationState{}),
		"aws:iam/role:Role":                                                     typ(iam.RoleArgs{}, iam.RoleState{}, "assumeRolePolicy"),
		"aws:iam/rolePolicy:RolePolicy":                                         typ(iam.RolePolicyArgs{}, iam.RolePolicyState{}, "policy", "role"),
		"aws:iam/rolePolicyAttachment:RolePolicyAttachment":                     typ(iam.RolePolicyAttachmentArgs{}, iam.RolePolicyAttachmentState{}, "role"),
		"aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive": typ(iam.RolePolicyAttachmentsExclusiveArgs{}, iam.RolePolicyAttachmentsExclusiveState{}, "policyArns"),
		"aws:iam/rolePoliciesExclusive:RolePoliciesExclusive":                   typ(iam.RolePoliciesExclusiveArgs{}, iam.RolePoliciesExclusiveState{}, "policyNames"),
		"aws:iam/policy:Policy":                                                 typ(iam.PolicyArgs{}, iam.PolicyState{}, "policy"),
		"aws:iam/policyAttachment:PolicyAttachment":                             typ(iam.PolicyAttachmentArgs{}, iam.PolicyAttachmentState{}),
		"aws:iam/instanceProfile:InstanceProfile":                               typ(iam.InstanceProfileArgs{}, iam.InstanceProfileState{}),
		"aws:iam/serviceLinkedRole:ServiceLinkedRole":                           typ(iam.ServiceLinkedRoleArgs{}, iam.ServiceLinkedRoleState{}),
		"aws:iam/user:User":                                                     typ(iam.UserArgs{}, iam.UserState{}),
		"aws:iam/userPolicy:UserPolicy":                                         typ(iam.UserPolicyArgs{}, iam.UserPolicyState{}, "policy"),
		"aws:iam/userPolicyAttachment:UserPolicyAttachment":                     typ(iam.UserPolicyAttachmentArgs{}, iam.UserPolicyAttachmentState{}, "user"),
		"aws:iam/accessKey:AccessKey":                                           typ(iam.AccessKeyArgs{}, iam.AccessKeyState{}),
		"aws:iam/openIdConnectProvider:OpenIdConnectProvider":                   typ(iam.OpenIdConnectProviderArgs{}, iam.OpenIdConnectProviderState{}, "clientIdLists"),
		"aws:kms/key:Key":                                                       typ(kms.KeyArgs{}, kms.KeyState{}),
		"aws:kms/alias:Alias":                                                   typ(kms.AliasArgs{}, kms.AliasState{}),
		"aws:kms/keyPolicy:KeyPolicy":                                           typ(kms.KeyPolicyArgs{}, kms.KeyPolicyState{}),
		"aws:kms/grant:Grant":                                                   typ(kms.GrantArgs{}, kms.GrantState{}, "operations"),
	}
}
