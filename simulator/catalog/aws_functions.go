package catalog

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
)

// awsFunctions lists the functions of the aws package.
func awsFunctions() []Function {
	return []Function{
		function[aws.GetCallerIdentityArgs, aws.GetCallerIdentityResult](),
		function[aws.GetAvailabilityZonesArgs, aws.GetAvailabilityZonesResult](),
		function[aws.GetPartitionArgs, aws.GetPartitionResult](),
		function[ec2.GetInstanceTypeOfferingsArgs, ec2.GetInstanceTypeOfferingsResult](),
		function[ec2.LookupVpcArgs, ec2.LookupVpcResult](),
		function[ec2.LookupVpcDhcpOptionsArgs, ec2.LookupVpcDhcpOptionsResult](),
		function[ec2.LookupSubnetArgs, ec2.LookupSubnetResult](),
		function[ec2.LookupRouteTableArgs, ec2.LookupRouteTableResult](),
		function[ec2.GetPrefixListArgs, ec2.GetPrefixListResult](),
		function[iam.GetRolesArgs, iam.GetRolesResult](),
		function[iam.LookupInstanceProfileArgs, iam.LookupInstanceProfileResult](),
		function[ssm.LookupParameterArgs, ssm.LookupParameterResult](),
	}
}
