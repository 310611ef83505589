package catalog

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
)

// awsStorage lists the resource types of S3 and SSM.
func awsStorage() []Type {
	return []Type{
		typ(s3.BucketV2Args{}, s3.BucketV2State{}),
		typ(s3.BucketVersioningV2Args{}, s3.BucketVersioningV2State{}),
		typ(s3.BucketServerSideEncryptionConfigurationV2Args{}, s3.BucketServerSideEncryptionConfigurationV2State{}, "rules"),
		typ(s3.BucketLifecycleConfigurationV2Args{}, s3.BucketLifecycleConfigurationV2State{}),
		typ(s3.BucketLoggingV2Args{}, s3.BucketLoggingV2State{}),
		typ(s3.BucketOwnershipControlsArgs{}, s3.BucketOwnershipControlsState{}),
		typ(s3.BucketPublicAccessBlockArgs{}, s3.BucketPublicAccessBlockState{}),
		typ(s3.BucketPolicyArgs{}, s3.BucketPolicyState{}, "policy"),
		typ(s3.BucketObjectv2Args{}, s3.BucketObjectv2State{}, "bucket"),
		typ(ssm.ParameterArgs{}, ssm.ParameterState{}),
	}
}
