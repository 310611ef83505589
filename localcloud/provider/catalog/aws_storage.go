package catalog

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
)

// awsStorage gives the resource types of storage, parameters and the lake.
func awsStorage() map[string]Type {
	return map[string]Type{
		"aws:s3/bucketV2:BucketV2":                     typ(s3.BucketV2Args{}, s3.BucketV2State{}),
		"aws:s3/bucketVersioningV2:BucketVersioningV2": typ(s3.BucketVersioningV2Args{}, s3.BucketVersioningV2State{}),
		"aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2": typ(s3.BucketServerSideEncryptionConfigurationV2Args{}, s3.BucketServerSideEncryptionConfigurationV2State{}, "rules"),
		"aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2":                       typ(s3.BucketLifecycleConfigurationV2Args{}, s3.BucketLifecycleConfigurationV2State{}),
		"aws:s3/bucketLoggingV2:BucketLoggingV2":                                                     typ(s3.BucketLoggingV2Args{}, s3.BucketLoggingV2State{}),
		"aws:s3/bucketOwnershipControls:BucketOwnershipControls":                                     typ(s3.BucketOwnershipControlsArgs{}, s3.BucketOwnershipControlsState{}),
		"aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock":                                     typ(s3.BucketPublicAccessBlockArgs{}, s3.BucketPublicAccessBlockState{}),
		"aws:s3/bucketPolicy:BucketPolicy":                                                           typ(s3.BucketPolicyArgs{}, s3.BucketPolicyState{}, "policy"),
		"aws:s3/bucketNotification:BucketNotification":                                               typ(s3.BucketNotificationArgs{}, s3.BucketNotificationState{}),
		"aws:s3/bucketObjectv2:BucketObjectv2":                                                       typ(s3.BucketObjectv2Args{}, s3.BucketObjectv2State{}, "bucket"),
		"aws:s3/bucketMetric:BucketMetric":                                                           typ(s3.BucketMetricArgs{}, s3.BucketMetricState{}),
		"aws:s3/bucketIntelligentTieringConfiguration:BucketIntelligentTieringConfiguration":         typ(s3.BucketIntelligentTieringConfigurationArgs{}, s3.BucketIntelligentTieringConfigurationState{}, "tierings"),
		"aws:s3/bucketCorsConfigurationV2:BucketCorsConfigurationV2":                                 typ(s3.BucketCorsConfigurationV2Args{}, s3.BucketCorsConfigurationV2State{}, "corsRules"),
		"aws:s3/bucketAclV2:BucketAclV2":                                                             typ(s3.BucketAclV2Args{}, s3.BucketAclV2State{}),
		"aws:s3/bucketRequestPaymentConfigurationV2:BucketRequestPaymentConfigurationV2":             typ(s3.BucketRequestPaymentConfigurationV2Args{}, s3.BucketRequestPaymentConfigurationV2State{}),
		"aws:s3/bucketObjectLockConfigurationV2:BucketObjectLockConfigurationV2":                     typ(s3.BucketObjectLockConfigurationV2Args{}, s3.BucketObjectLockConfigurationV2State{}),
		"aws:s3/inventory:Inventory":                                                                 typ(s3.InventoryArgs{}, s3.InventoryState{}),
		"aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock":                                   typ(s3.AccountPublicAccessBlockArgs{}, s3.AccountPublicAccessBlockState{}),
		"aws:ssm/parameter:Parameter":                                                                typ(ssm.ParameterArgs{}, ssm.ParameterState{}),
	}
}
