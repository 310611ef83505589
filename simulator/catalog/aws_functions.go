package catalog

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
)

// awsFunctions lists the functions of the aws package.
func awsFunctions() []Function {
	return []Function{
		function[aws.GetRegionArgs, aws.GetRegionResult](),
		function[aws.GetCallerIdentityArgs, aws.GetCallerIdentityResult](),
		function[aws.GetAvailabilityZonesArgs, aws.GetAvailabilityZonesResult](),
		function[aws.GetPartitionArgs, aws.GetPartitionResult](),
		function[aws.GetDefaultTagsArgs, aws.GetDefaultTagsResult](),
		function[aws.GetServicePrincipalArgs, aws.GetServicePrincipalResult](),
		function[ec2.LookupAmiArgs, ec2.LookupAmiResult](),
		function[ec2.GetInstanceTypeArgs, ec2.GetInstanceTypeResult](),
		function[ec2.GetInstanceTypeOfferingsArgs, ec2.GetInstanceTypeOfferingsResult](),
		function[ec2.LookupVpcArgs, ec2.LookupVpcResult](),
		function[ec2.LookupSubnetArgs, ec2.LookupSubnetResult](),
		function[ec2.GetSubnetsArgs, ec2.GetSubnetsResult](),
		function[ec2.LookupRouteTableArgs, ec2.LookupRouteTableResult](),
		function[ec2.LookupSecurityGroupArgs, ec2.LookupSecurityGroupResult](),
		function[ec2.GetPrefixListArgs, ec2.GetPrefixListResult](),
		function[ec2.LookupManagedPrefixListArgs, ec2.LookupManagedPrefixListResult](),
		function[emr.GetReleaseLabelsArgs, emr.GetReleaseLabelsResult](),
		function[emr.GetSupportedInstanceTypesArgs, emr.GetSupportedInstanceTypesResult](),
		function[iam.GetPolicyDocumentArgs, iam.GetPolicyDocumentResult](),
		function[iam.GetRolesArgs, iam.GetRolesResult](),
		function[iam.LookupRoleArgs, iam.LookupRoleResult](),
		function[iam.LookupInstanceProfileArgs, iam.LookupInstanceProfileResult](),
		function[iam.LookupPolicyArgs, iam.LookupPolicyResult](),
		function[iam.GetSessionContextArgs, iam.GetSessionContextResult](),
		function[kms.LookupKeyArgs, kms.LookupKeyResult](),
		function[kms.LookupAliasArgs, kms.LookupAliasResult](),
		function[s3.LookupBucketArgs, s3.LookupBucketResult](),
		function[struct{}, s3.GetCanonicalUserIdResult](),
		function[ssm.LookupParameterArgs, ssm.LookupParameterResult](),
	}
}
