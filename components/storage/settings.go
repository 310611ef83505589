package storage

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
)

// encryption is a bucket's default encryption.
type encryption struct {
	algorithm string
	key       pulumi.StringPtrInput // nil = S3's own
}

// configureDataBucket creates the data bucket's settings.
func (b *builder) configureDataBucket(data, logs *s3.BucketV2, key *kms.Key) ([]pulumi.Resource, error) {
	policy := iampolicy.Render(b.Ctx, b.Parent, func(_ iampolicy.Account, v []string) iampolicy.Document {
		return dataPolicy(v[0], v[1])
	}, data.Arn, key.Arn)
	settings, err := b.configureBucket(roleData, data, encryption{"aws:kms", key.Arn}, policy, dataLifecycle(b.args))
	if err != nil {
		return nil, err
	}
	logging, err := s3.NewBucketLoggingV2(b.Ctx, b.Name(roleData), &s3.BucketLoggingV2Args{
		Bucket: data.Bucket, TargetBucket: logs.Bucket, TargetPrefix: pulumi.String(accessLogPrefix),
	}, b.settingOptions()...)
	if err != nil {
		return nil, fmt.Errorf("log access to data bucket: %w", err)
	}
	return append(settings, logging), nil
}

// configureLogBucket creates the log bucket's settings. Access to it is not
// logged: each delivery would be logged in turn.
func (b *builder) configureLogBucket(logs, data *s3.BucketV2) ([]pulumi.Resource, error) {
	policy := iampolicy.Render(b.Ctx, b.Parent, func(a iampolicy.Account, v []string) iampolicy.Document {
		return logPolicy(a, b.args.Region, v[0], v[1])
	}, logs.Arn, data.Arn)
	return b.configureBucket(roleLogs, logs, encryption{"AES256", nil}, policy, logLifecycle(b.args))
}

// configureBucket creates the settings that both buckets have.
func (b *builder) configureBucket(role string, bucket *s3.BucketV2, e encryption, policy pulumi.StringOutput,
	rules []lifecycleRule) ([]pulumi.Resource, error) {
	block, err := s3.NewBucketPublicAccessBlock(b.Ctx, b.Name(role), &s3.BucketPublicAccessBlockArgs{
		Bucket: bucket.Bucket, BlockPublicAcls: pulumi.Bool(true), BlockPublicPolicy: pulumi.Bool(true),
		IgnorePublicAcls: pulumi.Bool(true), RestrictPublicBuckets: pulumi.Bool(true),
	}, b.settingOptions()...)
	if err != nil {
		return nil, fmt.Errorf("block public access to bucket %s: %w", role, err)
	}
	ownership, err := s3.NewBucketOwnershipControls(b.Ctx, b.Name(role), &s3.BucketOwnershipControlsArgs{
		Bucket: bucket.Bucket, Rule: s3.BucketOwnershipControlsRuleArgs{ObjectOwnership: pulumi.String("BucketOwnerEnforced")},
	}, b.settingOptions()...)
	if err != nil {
		return nil, fmt.Errorf("enforce ownership of bucket %s: %w", role, err)
	}
	versioning, err := s3.NewBucketVersioningV2(b.Ctx, b.Name(role), &s3.BucketVersioningV2Args{
		Bucket:                  bucket.Bucket,
		VersioningConfiguration: s3.BucketVersioningV2VersioningConfigurationArgs{Status: pulumi.String("Enabled")},
	}, b.settingOptions()...)
	if err != nil {
		return nil, fmt.Errorf("enable versioning of bucket %s: %w", role, err)
	}
	sse, err := s3.NewBucketServerSideEncryptionConfigurationV2(b.Ctx, b.Name(role), &s3.BucketServerSideEncryptionConfigurationV2Args{
		Bucket: bucket.Bucket,
		Rules: s3.BucketServerSideEncryptionConfigurationV2RuleArray{s3.BucketServerSideEncryptionConfigurationV2RuleArgs{
			ApplyServerSideEncryptionByDefault: s3.BucketServerSideEncryptionConfigurationV2RuleApplyServerSideEncryptionByDefaultArgs{
				SseAlgorithm: pulumi.String(e.algorithm), KmsMasterKeyId: e.key,
			},
			BucketKeyEnabled: pulumi.Bool(e.key != nil), // one KMS call for many objects
		}},
	}, b.settingOptions()...)
	if err != nil {
		return nil, fmt.Errorf("encrypt bucket %s: %w", role, err)
	}
	// S3 answers OperationAborted to two changes of a bucket's access at once.
	bucketPolicy, err := s3.NewBucketPolicy(b.Ctx, b.Name(role), &s3.BucketPolicyArgs{Bucket: bucket.Bucket, Policy: policy},
		b.settingOptions(pulumi.DependsOn([]pulumi.Resource{block, ownership}))...)
	if err != nil {
		return nil, fmt.Errorf("set policy of bucket %s: %w", role, err)
	}
	// S3 refuses rules on noncurrent versions until versioning is enabled.
	lifecycle, err := s3.NewBucketLifecycleConfigurationV2(b.Ctx, b.Name(role), &s3.BucketLifecycleConfigurationV2Args{
		Bucket: bucket.Bucket, Rules: renderLifecycle(rules),
	}, b.settingOptions(pulumi.DependsOn([]pulumi.Resource{versioning}))...)
	if err != nil {
		return nil, fmt.Errorf("set lifecycle of bucket %s: %w", role, err)
	}
	return []pulumi.Resource{block, ownership, versioning, sse, bucketPolicy, lifecycle}, nil
}
