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

// awsFunctions gives the functions of the AWS package.
func awsFunctions() map[string]Function {
	return map[string]Function{
		"aws:index/getRegion:getRegion":                               function[aws.GetRegionArgs, aws.GetRegionResult](),
		"aws:index/getCallerIdentity:getCallerIdentity":               function[aws.GetCallerIdentityArgs, aws.GetCallerIdentityResult](),
		"aws:index/getAvailabilityZones:getAvailabilityZones":         function[aws.GetAvailabilityZonesArgs, aws.GetAvailabilityZonesResult](),
		"aws:index/getPartition:getPartition":                         function[aws.GetPartitionArgs, aws.GetPartitionResult](),
		"aws:index/getDefaultTags:getDefaultTags":                     function[aws.GetDefaultTagsArgs, aws.GetDefaultTagsResult](),
		"aws:index/getServicePrincipal:getServicePrincipal":           function[aws.GetServicePrincipalArgs, aws.GetServicePrincipalResult](),
		"aws:ec2/getAmi:getAmi":                                       function[ec2.LookupAmiArgs, ec2.LookupAmiResult](),
		"aws:ec2/getInstanceType:getInstanceType":                     function[ec2.GetInstanceTypeArgs, ec2.GetInstanceTypeResult](),
		"aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings":   function[ec2.GetInstanceTypeOfferingsArgs, ec2.GetInstanceTypeOfferingsResult](),
		"aws:ec2/getVpc:getVpc":                                       function[ec2.LookupVpcArgs, ec2.LookupVpcResult](),
		"aws:ec2/getSubnet:getSubnet":                                 function[ec2.LookupSubnetArgs, ec2.LookupSubnetResult](),
		"aws:ec2/getSubnets:getSubnets":                               function[ec2.GetSubnetsArgs, ec2.GetSubnetsResult](),
		"aws:ec2/getSecurityGroup:getSecurityGroup":                   function[ec2.LookupSecurityGroupArgs, ec2.LookupSecurityGroupResult](),
		"aws:ec2/getPrefixList:getPrefixList":                         function[ec2.GetPrefixListArgs, ec2.GetPrefixListResult](),
		"aws:ec2/getManagedPrefixList:getManagedPrefixList":           function[ec2.LookupManagedPrefixListArgs, ec2.LookupManagedPrefixListResult](),
		"aws:emr/getReleaseLabels:getReleaseLabels":                   function[emr.GetReleaseLabelsArgs, emr.GetReleaseLabelsResult](),
		"aws:emr/getSupportedInstanceTypes:getSupportedInstanceTypes": function[emr.GetSupportedInstanceTypesArgs, emr.GetSupportedInstanceTypesResult](),
		"aws:iam/getPolicyDocument:getPolicyDocument":                 function[iam.GetPolicyDocumentArgs, iam.GetPolicyDocumentResult](),
		"aws:iam/getRole:getRole":                                     function[iam.LookupRoleArgs, iam.LookupRoleResult](),
		"aws:iam/getPolicy:getPolicy":                                 function[iam.LookupPolicyArgs, iam.LookupPolicyResult](),
		"aws:iam/getSessionContext:getSessionContext":                 function[iam.GetSessionContextArgs, iam.GetSessionContextResult](),
		"aws:kms/getKey:getKey":                                       function[kms.LookupKeyArgs, kms.LookupKeyResult](),
		"aws:kms/getAlias:getAlias":                                   function[kms.LookupAliasArgs, kms.LookupAliasResult](),
		"aws:s3/getBucket:getBucket":                                  function[s3.LookupBucketArgs, s3.LookupBucketResult](),
		"aws:s3/getCanonicalUserId:getCanonicalUserId":                function[struct{}, s3.GetCanonicalUserIdResult](),
		"aws:ssm/getParameter:getParameter":                           function[ssm.LookupParameterArgs, ssm.LookupParameterResult](),
	}
}
