package storage

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
)

// encryption is a bucket's default.
type encryption struct {
	algorithm string
	key       pulumi.StringPtrInput // nil = S3's own
}

// dataSettings gives the data bucket everything but its existence.
func (b *builder) dataSettings(data, logs *s3.BucketV2, key *kms.Key) ([]pulumi.Resource, error) {
	policy := iampolicy.Render(b.ctx, b.parent, func(_ iampolicy.Account, v []string) iampolicy.Document {
		return dataPolicy(v[0], v[1])
	}, data.Arn, key.Arn)
	made, err := b.settings(roleData, data, encryption{"aws:kms", key.Arn}, policy, dataLifecycle(b.args))
	if err != nil {
		return nil, err
	}
	logging, err := s3.NewBucketLoggingV2(b.ctx, b.name(roleData), &s3.BucketLoggingV2Args{
		Bucket: data.Bucket, TargetBucket: logs.Bucket, TargetPrefix: pulumi.String(accessLogPrefix),
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("log access to data bucket: %w", err)
	}
	return append(made, logging), nil
}

// logSettings gives the log bucket everything but its existence. Access to it
// is not logged: the log would grow by logging itself.
func (b *builder) logSettings(logs, data *s3.BucketV2) ([]pulumi.Resource, error) {
	policy := iampolicy.Render(b.ctx, b.parent, func(a iampolicy.Account, v []string) iampolicy.Document {
		return logPolicy(a, v[0], v[1])
	}, logs.Arn, data.Arn)
	return b.settings(roleLogs, logs, encryption{"AES256", nil}, policy, logLifecycle(b.args))
}

// settings are those that both buckets have.
func (b *builder) settings(role string, bucket *s3.BucketV2, e encryption, policy pulumi.StringOutput, rules []lifecycleRule) ([]pulumi.Resource, error) {
	block, err := s3.NewBucketPublicAccessBlock(b.ctx, b.name(role), &s3.BucketPublicAccessBlockArgs{
		Bucket: bucket.Bucket, BlockPublicAcls: pulumi.Bool(true), BlockPublicPolicy: pulumi.Bool(true),
		IgnorePublicAcls: pulumi.Bool(true), RestrictPublicBuckets: pulumi.Bool(true),
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("block public access to bucket %s: %w", role, err)
	}
	owner, err := s3.NewBucketOwnershipControls(b.ctx, b.name(role), &s3.BucketOwnershipControlsArgs{
		Bucket: bucket.Bucket, Rule: s3.BucketOwnershipControlsRuleArgs{ObjectOwnership: pulumi.String("BucketOwnerEnforced")},
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("enforce owner of bucket %s: %w", role, err)
	}
	versions, err := s3.NewBucketVersioningV2(b.ctx, b.name(role), &s3.BucketVersioningV2Args{
		Bucket:                  bucket.Bucket,
		VersioningConfiguration: s3.BucketVersioningV2VersioningConfigurationArgs{Status: pulumi.String("Enabled")},
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("keep versions in bucket %s: %w", role, err)
	}
	encrypted, err := s3.NewBucketServerSideEncryptionConfigurationV2(b.ctx, b.name(role), &s3.BucketServerSideEncryptionConfigurationV2Args{
		Bucket: bucket.Bucket,
		Rules: s3.BucketServerSideEncryptionConfigurationV2RuleArray{s3.BucketServerSideEncryptionConfigurationV2RuleArgs{
			ApplyServerSideEncryptionByDefault: s3.BucketServerSideEncryptionConfigurationV2RuleApplyServerSideEncryptionByDefaultArgs{
				SseAlgorithm: pulumi.String(e.algorithm), KmsMasterKeyId: e.key,
			},
			BucketKeyEnabled: pulumi.Bool(e.key != nil), // one KMS call for many objects
		}},
	}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("encrypt bucket %s: %w", role, err)
	}
	// S3 answers OperationAborted to two changes of a bucket's access at once.
	guarded, err := s3.NewBucketPolicy(b.ctx, b.name(role), &s3.BucketPolicyArgs{Bucket: bucket.Bucket, Policy: policy},
		b.child(pulumi.DependsOn([]pulumi.Resource{block, owner}))...)
	if err != nil {
		return nil, fmt.Errorf("set policy of bucket %s: %w", role, err)
	}
	// Rules on noncurrent versions are refused before versions are kept.
	cycle, err := s3.NewBucketLifecycleConfigurationV2(b.ctx, b.name(role), &s3.BucketLifecycleConfigurationV2Args{
		Bucket: bucket.Bucket, Rules: renderLifecycle(rules),
	}, b.child(pulumi.DependsOn([]pulumi.Resource{versions}))...)
	if err != nil {
		return nil, fmt.Errorf("set lifecycle of bucket %s: %w", role, err)
	}
	return []pulumi.Resource{block, owner, versions, encrypted, guarded, cycle}, nil
}
