package storage

import (
	"encoding/json"
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/child"
	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/components/internal/output"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":storage:Storage"

// Args configures the buckets and the key. Validate checks it.
type Args struct {
	Region    string           // required, us-east-1; its VPCs may deliver flow logs
	Ephemeral bool             // nothing is protected or retained; buckets are emptied on destroy
	Retention schema.Retention // required
	Athena    bool             // results of queries are kept for some days
}

// Storage is the buckets and the key. The buckets' names resolve once encryption,
// policy and versioning are in force, since they would not apply to an object
// written earlier.
type Storage struct {
	pulumi.ResourceState

	DataBucket    pulumi.StringOutput    `pulumi:"dataBucket"`
	DataBucketARN pulumi.StringOutput    `pulumi:"dataBucketArn"`
	LogBucket     pulumi.StringOutput    `pulumi:"logBucket"`
	LogBucketARN  pulumi.StringOutput    `pulumi:"logBucketArn"`
	KMSKeyARN     pulumi.StringOutput    `pulumi:"kmsKeyArn"`
	S3Paths       pulumi.StringMapOutput `pulumi:"s3Paths"` // keys: JSON names of platform.S3Paths
}

// New builds key and buckets. It registers nothing when args are invalid.
func New(ctx *pulumi.Context, name string, args *Args, opts ...pulumi.ResourceOption) (*Storage, error) {
	if err := args.Validate(); err != nil {
		return nil, err
	}
	s := &Storage{}
	children, err := child.Register(ctx, s, TypeToken, name, pulumi.Map{
		"ephemeral": pulumi.Bool(args.Ephemeral), "tempoRetention": pulumi.String(schema.Days(args.Retention.TempoDays).String()),
		"pyroscopeRetention":    pulumi.String(schema.Days(args.Retention.PyroscopeDays).String()),
		"logRetentionDays":      pulumi.Int(args.Retention.LogDays),
		"artifactRetentionDays": pulumi.Int(args.Retention.ArtifactDays),
	}, opts...)
	if err != nil {
		return nil, err
	}
	b := &builder{Builder: children, args: args}
	key, err := b.createKey()
	if err != nil {
		return nil, err
	}
	data, err := b.createBucket(roleData)
	if err != nil {
		return nil, err
	}
	logs, err := b.createBucket(roleLogs)
	if err != nil {
		return nil, err
	}
	logsReady, err := b.configureLogBucket(logs, data)
	if err != nil {
		return nil, err
	}
	dataReady, err := b.configureDataBucket(data, logs, key)
	if err != nil {
		return nil, err
	}
	s.setOutputs(ctx, data, logs, key, dataReady, logsReady)
	return s, b.RegisterOutputs()
}

// Roles of the children: the last part of their names.
const (
	roleData = "data"
	roleLogs = "logs"
	roleKey  = "key"
)

type builder struct {
	child.Builder
	args *Args
}

// dataOptions returns the options of a resource that holds data: protected, and
// retained when the stack is destroyed, unless the stack is ephemeral.
func (b *builder) dataOptions() []pulumi.ResourceOption {
	return b.settingOptions(pulumi.Protect(!b.args.Ephemeral))
}

// settingOptions are the options of a bucket's setting: retained with its bucket.
// Destroying a setting removes it from the bucket (DeleteBucketPolicy,
// DeletePublicAccessBlock, …), which would leave the data without it.
func (b *builder) settingOptions(extra ...pulumi.ResourceOption) []pulumi.ResourceOption {
	return append(b.Options(extra...), pulumi.RetainOnDelete(!b.args.Ephemeral))
}

// createKey creates the key of the data bucket, the machines' disks and
// parameters. With AWS's default policy the account's IAM policies decide who uses
// it, so that each component grants its roles exactly the use that they need.
func (b *builder) createKey() (*kms.Key, error) {
	window := 30
	if b.args.Ephemeral {
		window = 7 // the shortest that KMS allows
	}
	key, err := kms.NewKey(b.Ctx, b.Name(roleKey), &kms.KeyArgs{
		Description:          pulumi.String("EMR observatory: data bucket, disks and parameters"),
		EnableKeyRotation:    pulumi.Bool(true),
		DeletionWindowInDays: pulumi.Int(window),
		Policy: iampolicy.Render(b.Ctx, b.Parent, func(a iampolicy.Account, _ []string) iampolicy.Document {
			return keyPolicy(a)
		}),
		Tags: b.Tags(roleKey),
	}, b.dataOptions()...)
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	_, err = kms.NewAlias(b.Ctx, b.Name(roleKey), &kms.AliasArgs{TargetKeyId: key.KeyId}, b.Options()...)
	if err != nil {
		return nil, fmt.Errorf("create key alias: %w", err)
	}
	return key, nil
}

func (b *builder) createBucket(role string) (*s3.BucketV2, error) {
	bucket, err := s3.NewBucketV2(b.Ctx, b.Name(role), &s3.BucketV2Args{
		ForceDestroy: pulumi.Bool(b.args.Ephemeral), Tags: b.Tags(role),
	}, b.dataOptions()...)
	if err != nil {
		return nil, fmt.Errorf("create bucket %s: %w", role, err)
	}
	return bucket, nil
}

// setOutputs sets the outputs. Those of a bucket resolve after its settings.
func (s *Storage) setOutputs(ctx *pulumi.Context, data, logs *s3.BucketV2, key *kms.Key, dataReady, logsReady []pulumi.Resource) {
	after := func(o pulumi.StringOutput, ready []pulumi.Resource) pulumi.StringOutput {
		return output.After(ctx.Context(), o, ready...)
	}
	s.DataBucket, s.DataBucketARN = after(data.Bucket, dataReady), after(data.Arn, dataReady)
	s.LogBucket, s.LogBucketARN = after(logs.Bucket, logsReady), after(logs.Arn, logsReady)
	s.KMSKeyARN = key.Arn
	s.S3Paths = s.DataBucket.ApplyT(s3PathsMap).(pulumi.StringMapOutput)
}

// s3PathsMap returns the platform.S3Paths of a bucket as a map by JSON name.
func s3PathsMap(bucket string) (map[string]string, error) {
	b, err := json.Marshal(platform.NewS3Paths(bucket))
	if err != nil {
		return nil, fmt.Errorf("render S3 paths: %w", err)
	}
	var m map[string]string
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("read S3 paths: %w", err)
	}
	return m, nil
}
