package storage

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/platform"
)

// TypeToken is the component's type.
const TypeToken = platform.Name + ":storage:Storage"

// Args says how long what is kept. Validate checks them.
type Args struct {
	Ephemeral bool // nothing is protected or retained; buckets are emptied on destroy

	TempoRetention     time.Duration // required: how long Tempo keeps traces
	PyroscopeRetention time.Duration // required: how long Pyroscope keeps profiles

	LogRetentionDays      int // required: EMR's logs and access logs
	ArtifactRetentionDays int // 0 = for ever; else longer than a cluster lives, whose new nodes still fetch them

	// Expirations are further rules, such as for a job's scratch space under
	// lake/. One that would take blocks from Tempo or Pyroscope before their
	// retention is over is refused.
	Expirations []Expiration

	Tags map[string]string // added to every resource that can carry tags
}

// Expiration deletes objects of the data bucket some days after their
// creation.
type Expiration struct {
	Prefix string // lake/scratch/
	Days   int
}

// Storage is what other components read and write. The buckets' names resolve
// once encryption, policy and versions are in force: an object written sooner
// would miss them.
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
	err := ctx.RegisterComponentResourceV2(TypeToken, name, pulumi.Map{
		"ephemeral": pulumi.Bool(args.Ephemeral), "tempoRetention": pulumi.String(args.TempoRetention.String()),
		"pyroscopeRetention": pulumi.String(args.PyroscopeRetention.String()), "logRetentionDays": pulumi.Int(args.LogRetentionDays),
		"artifactRetentionDays": pulumi.Int(args.ArtifactRetentionDays),
	}, s, opts...)
	if err != nil {
		return nil, fmt.Errorf("register storage %s: %w", name, err)
	}
	b := &builder{ctx: ctx, parent: s, base: name, args: args}
	key, err := b.key()
	if err != nil {
		return nil, err
	}
	data, err := b.bucket(roleData)
	if err != nil {
		return nil, err
	}
	logs, err := b.bucket(roleLogs)
	if err != nil {
		return nil, err
	}
	logsReady, err := b.logSettings(logs, data)
	if err != nil {
		return nil, err
	}
	dataReady, err := b.dataSettings(data, logs, key)
	if err != nil {
		return nil, err
	}
	b.outputs(data, logs, key, dataReady, logsReady)
	return s, ctx.RegisterResourceOutputs(s, pulumi.Map{
		"dataBucket": s.DataBucket, "dataBucketArn": s.DataBucketARN, "logBucket": s.LogBucket, "logBucketArn": s.LogBucketARN,
		"kmsKeyArn": s.KMSKeyARN, "s3Paths": s.S3Paths,
	})
}

// Roles of the children: the last part of their names.
const (
	roleData = "data"
	roleLogs = "logs"
	roleKey  = "key"
)

type builder struct {
	ctx    *pulumi.Context
	parent *Storage
	base   string
	args   *Args
}

func (b *builder) name(role string) string { return b.base + "-" + role }

func (b *builder) child(extra ...pulumi.ResourceOption) []pulumi.ResourceOption {
	return append([]pulumi.ResourceOption{pulumi.Parent(b.parent)}, extra...)
}

// stateful adds what keeps data alive when the stack is taken down.
func (b *builder) stateful() []pulumi.ResourceOption {
	keep := !b.args.Ephemeral
	return b.child(pulumi.Protect(keep), pulumi.RetainOnDelete(keep))
}

func (b *builder) tags(role string) pulumi.StringMap {
	t := map[string]string{}
	maps.Copy(t, b.args.Tags)
	t["Name"] = b.name(role)
	return pulumi.ToStringMap(t)
}

// key encrypts the bucket, the machines' disks and parameters. Its policy is
// AWS's own default: the account's IAM policies decide, so that each component
// grants its roles exactly the use they need.
func (b *builder) key() (*kms.Key, error) {
	window := 30
	if b.args.Ephemeral {
		window = 7 // the shortest that KMS allows
	}
	key, err := kms.NewKey(b.ctx, b.name(roleKey), &kms.KeyArgs{
		Description:          pulumi.String("EMR observatory: data bucket, disks and parameters"),
		EnableKeyRotation:    pulumi.Bool(true),
		DeletionWindowInDays: pulumi.Int(window),
		Policy: iampolicy.Render(b.ctx, b.parent, func(a iampolicy.Account, _ []string) iampolicy.Document {
			return keyPolicy(a)
		}),
		Tags: b.tags(roleKey),
	}, b.stateful()...)
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	_, err = kms.NewAlias(b.ctx, b.name(roleKey), &kms.AliasArgs{TargetKeyId: key.KeyId}, b.child()...)
	if err != nil {
		return nil, fmt.Errorf("create key alias: %w", err)
	}
	return key, nil
}

func (b *builder) bucket(role string) (*s3.BucketV2, error) {
	bucket, err := s3.NewBucketV2(b.ctx, b.name(role), &s3.BucketV2Args{
		ForceDestroy: pulumi.Bool(b.args.Ephemeral), Tags: b.tags(role),
	}, b.stateful()...)
	if err != nil {
		return nil, fmt.Errorf("create bucket %s: %w", role, err)
	}
	return bucket, nil
}

func (b *builder) outputs(data, logs *s3.BucketV2, key *kms.Key, dataReady, logsReady []pulumi.Resource) {
	after := func(o pulumi.StringOutput, ready []pulumi.Resource) pulumi.StringOutput {
		return pulumi.OutputWithDependencies(b.ctx.Context(), o, ready...).(pulumi.StringOutput)
	}
	s := b.parent
	s.DataBucket, s.DataBucketARN = after(data.Bucket, dataReady), after(data.Arn, dataReady)
	s.LogBucket, s.LogBucketARN = after(logs.Bucket, logsReady), after(logs.Arn, logsReady)
	s.KMSKeyARN = key.Arn
	s.S3Paths = s.DataBucket.ApplyT(pathsOf).(pulumi.StringMapOutput)
}

// pathsOf gives platform.S3Paths as a map under its own JSON names.
func pathsOf(bucket string) (map[string]string, error) {
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
