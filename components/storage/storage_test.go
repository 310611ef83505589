package storage_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/internal/iampolicy"
	"github.com/emr-observatory/emr-observatory/components/storage"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

const (
	bucketType    = "aws:s3/bucketV2:BucketV2"
	policyType    = "aws:s3/bucketPolicy:BucketPolicy"
	keyType       = "aws:kms/key:Key"
	lifecycleType = "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2"
	witnessType   = "aws:test/witness:Witness" // of package aws, so that the explicit provider serves it

	dataARN = "arn:aws:s3:::data-bucket"
	logsARN = "arn:aws:s3:::log-bucket"
	keyARN  = "arn:aws:kms:us-east-1:123456789012:key/k"
)

func validArgs() *storage.Args {
	return &storage.Args{
		Region: "eu-west-1",
		Retention: schema.Retention{
			TempoDays: 14, PyroscopeDays: 7, VictoriaMetricsDays: 30, VictoriaLogsDays: 14, LogDays: 30, ArtifactDays: 365,
		},
	}
}

func program(args *storage.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		p, err := aws.NewProvider(ctx, "main", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		s, err := storage.New(ctx, "storage", args, pulumi.Provider(p))
		if err != nil {
			return err
		}
		w := &witness{}
		return ctx.RegisterResource(witnessType, "witness", pulumi.Map{
			"dataBucket": s.DataBucket, "dataBucketArn": s.DataBucketARN, "logBucket": s.LogBucket, "logBucketArn": s.LogBucketARN,
			"kmsKeyArn": s.KMSKeyARN, "s3Paths": s.S3Paths,
		}, w, pulumi.Provider(p))
	}
}

// witness is a resource whose inputs are the component's outputs, so that the
// recorder sees their values and dependencies.
type witness struct{ pulumi.CustomResourceState }

func recorderOptions() []recorder.Option {
	return []recorder.Option{
		recorder.WithInvoke("aws:index/getCallerIdentity:getCallerIdentity", map[string]any{"accountId": "123456789012"}),
		recorder.WithInvoke("aws:index/getPartition:getPartition", map[string]any{"partition": "aws", "dnsSuffix": "amazonaws.com"}),
		recorder.WithComputed(func(r recorder.Resource) resource.PropertyMap {
			computed := map[string]map[string]string{
				"storage-data": {"arn": dataARN, "bucket": "data-bucket"}, "storage-logs": {"arn": logsARN, "bucket": "log-bucket"},
				"storage-key": {"arn": keyARN, "keyId": "k"},
			}
			out := resource.PropertyMap{}
			if r.Type != bucketType && r.Type != keyType {
				return out
			}
			for k, v := range computed[r.Name] {
				out[resource.PropertyKey(k)] = resource.NewStringProperty(v)
			}
			return out
		}),
	}
}

// run records what the program registers.
func run(t *testing.T, args *storage.Args) *recorder.Recording {
	t.Helper()
	rec, err := recorder.Run(program(args), recorderOptions()...)
	require.NoError(t, err)
	return rec
}

// one returns the only recorded resource of a type and name.
func one(t *testing.T, rec *recorder.Recording, token, name string) recorder.Resource {
	t.Helper()
	r, err := rec.One(token, name)
	require.NoError(t, err)
	return r
}

// statements returns a policy's statements by Sid.
func statements(t *testing.T, v resource.PropertyValue) map[string]iampolicy.Statement {
	t.Helper()
	var d iampolicy.Document
	require.NoError(t, json.Unmarshal([]byte(v.StringValue()), &d))
	require.Equal(t, "2012-10-17", d.Version)
	bySid := map[string]iampolicy.Statement{}
	for _, s := range d.Statement {
		require.NotContains(t, bySid, s.Sid)
		bySid[s.Sid] = s
	}
	return bySid
}

func TestRegistersExactlyTheseResources(t *testing.T) {
	rec := run(t, validArgs())
	require.Equal(t, []string{
		"aws:kms/alias:Alias storage-key",
		keyType + " storage-key",
		lifecycleType + " storage-data",
		lifecycleType + " storage-logs",
		"aws:s3/bucketLoggingV2:BucketLoggingV2 storage-data",
		"aws:s3/bucketOwnershipControls:BucketOwnershipControls storage-data",
		"aws:s3/bucketOwnershipControls:BucketOwnershipControls storage-logs",
		policyType + " storage-data",
		policyType + " storage-logs",
		"aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock storage-data",
		"aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock storage-logs",
		"aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2 storage-data",
		"aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2 storage-logs",
		bucketType + " storage-data",
		bucketType + " storage-logs",
		"aws:s3/bucketVersioningV2:BucketVersioningV2 storage-data",
		"aws:s3/bucketVersioningV2:BucketVersioningV2 storage-logs",
		"observatory:storage:Storage storage",
	}, slices.DeleteFunc(rec.List(), func(s string) bool {
		return strings.HasPrefix(s, "pulumi:providers:") || strings.HasPrefix(s, witnessType)
	}))
	require.Empty(t, rec.Defaults)
	for _, r := range rec.Resources {
		if strings.HasPrefix(r.Type, "aws:") && r.Type != witnessType {
			require.Equal(t, "storage", r.Parent, r.Name)
			require.Equal(t, "aws::main", r.Provider, r.Name)
		}
	}
}

func TestDataAndItsSettingsAreKeptUnlessEphemeral(t *testing.T) {
	rec := run(t, validArgs())
	require.Equal(t, []string{"storage-data", "storage-key", "storage-logs"}, rec.Protected())
	for _, r := range rec.Resources {
		ofAWS := strings.HasPrefix(r.Type, "aws:") && r.Type != witnessType
		// An alias is only a name: the key remains without it.
		require.Equal(t, ofAWS && r.Type != "aws:kms/alias:Alias", r.Retain, "%s %s", r.Type, r.Name)
	}
	for _, b := range rec.OfType(bucketType) {
		require.False(t, b.Inputs["forceDestroy"].BoolValue(), b.Name)
	}
	require.InDelta(t, 30, one(t, rec, keyType, "storage-key").Inputs["deletionWindowInDays"].NumberValue(), 0)

	a := validArgs()
	a.Ephemeral = true
	rec = run(t, a)
	require.Empty(t, rec.Protected())
	for _, r := range rec.Resources {
		require.False(t, r.Retain, r.Name)
	}
	require.Len(t, rec.OfType(bucketType), 2)
	for _, b := range rec.OfType(bucketType) {
		require.True(t, b.Inputs["forceDestroy"].BoolValue(), b.Name)
	}
	require.InDelta(t, 7, one(t, rec, keyType, "storage-key").Inputs["deletionWindowInDays"].NumberValue(), 0)
}

func TestBothBucketsArePrivateVersionedAndEncrypted(t *testing.T) {
	rec := run(t, validArgs())
	for _, role := range []string{"storage-data", "storage-logs"} {
		block := one(t, rec, "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", role).Inputs
		for _, k := range []resource.PropertyKey{"blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"} {
			require.True(t, block[k].BoolValue(), k)
		}
		require.Equal(t, "Enabled", one(t, rec, "aws:s3/bucketVersioningV2:BucketVersioningV2",
			role).Inputs["versioningConfiguration"].ObjectValue()["status"].StringValue())
		require.Equal(t, "BucketOwnerEnforced", one(t, rec, "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
			role).Inputs["rule"].ObjectValue()["objectOwnership"].StringValue())
	}
	encryption := func(role string) (resource.PropertyMap, bool) {
		rule := one(t, rec, "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2",
			role).Inputs["rules"].ArrayValue()[0].ObjectValue()
		return rule["applyServerSideEncryptionByDefault"].ObjectValue(), rule["bucketKeyEnabled"].BoolValue()
	}
	data, bucketKey := encryption("storage-data")
	require.Equal(t, "aws:kms", data["sseAlgorithm"].StringValue())
	require.Equal(t, keyARN, data["kmsMasterKeyId"].StringValue())
	require.True(t, bucketKey)
	logs, _ := encryption("storage-logs")
	require.Equal(t, "AES256", logs["sseAlgorithm"].StringValue())
	require.NotContains(t, logs, resource.PropertyKey("kmsMasterKeyId"))

	logging := one(t, rec, "aws:s3/bucketLoggingV2:BucketLoggingV2", "storage-data").Inputs
	require.Equal(t, "log-bucket", logging["targetBucket"].StringValue())
	require.Equal(t, "s3-access/", logging["targetPrefix"].StringValue())

	key := one(t, rec, keyType, "storage-key").Inputs
	require.True(t, key["enableKeyRotation"].BoolValue())
	require.Equal(t, []string{"arn:aws:iam::123456789012:root"}, statements(t, key["policy"])["AccountDecides"].Principal.AWS)
}

func TestDataPolicy(t *testing.T) {
	s := statements(t, one(t, run(t, validArgs()), policyType, "storage-data").Inputs["policy"])
	require.Len(t, s, 4)
	for _, st := range s {
		require.Equal(t, iampolicy.Deny, st.Effect, "the bucket policy grants no access: %s", st.Sid)
	}
	require.Equal(t, iampolicy.Condition{"Bool": {"aws:SecureTransport": {"false"}}}, s["TLSOnly"].Condition)
	require.Equal(t, []string{dataARN, dataARN + "/*"}, s["TLSOnly"].Resource)
	// Without Null a request that names no encryption would be refused too.
	const algorithm, header = "s3:x-amz-server-side-encryption", "s3:x-amz-server-side-encryption-aws-kms-key-id"
	require.Equal(t, iampolicy.Condition{"Null": {header: {"false"}}, "StringNotEquals": {header: {keyARN}}}, s["NoOtherKey"].Condition)
	require.Equal(t, iampolicy.Condition{"Null": {algorithm: {"false"}}, "StringNotEquals": {algorithm: {"aws:kms"}}},
		s["NoOtherEncryption"].Condition)
	require.Equal(t, iampolicy.Condition{"Null": {algorithm: {"false"}, header: {"true"}}}, s["NoUnnamedKey"].Condition,
		"a request for KMS without a key would get AWS's own")
}

func TestLogPolicyAllowsOnlyDeliveryForThisAccount(t *testing.T) {
	s := statements(t, one(t, run(t, validArgs()), policyType, "storage-logs").Inputs["policy"])
	require.Len(t, s, 4)
	require.Equal(t, iampolicy.Deny, s["TLSOnly"].Effect)
	require.Equal(t, []string{"logging.s3.amazonaws.com"}, s["AccessLogs"].Principal.Service)
	require.Equal(t, []string{logsARN + "/s3-access/*"}, s["AccessLogs"].Resource)
	require.Equal(t, []string{dataARN}, s["AccessLogs"].Condition["ArnLike"]["aws:SourceArn"])
	for _, sid := range []string{"AccessLogs", "AWSLogDeliveryWrite", "AWSLogDeliveryAclCheck"} {
		require.Equal(t, []string{"123456789012"}, s[sid].Condition["StringEquals"]["aws:SourceAccount"], sid)
		require.Empty(t, s[sid].Principal.AWS)
	}
}

// CreateFlowLogs may replace a policy that lacks these statements. They are copied
// from the VPC User Guide, "Amazon S3 bucket permissions for flow logs", with
// s3:ListBucket of the CloudWatch Logs User Guide, "Logs sent to Amazon S3".
func TestFlowLogStatementsAreAWSsOwn(t *testing.T) {
	const documented = `[{
		"Sid": "AWSLogDeliveryWrite", "Effect": "Allow", "Principal": {"Service": ["delivery.logs.amazonaws.com"]},
		"Action": ["s3:PutObject"], "Resource": ["arn:aws:s3:::log-bucket/AWSLogs/123456789012/*"],
		"Condition": {
			"StringEquals": {"aws:SourceAccount": ["123456789012"], "s3:x-amz-acl": ["bucket-owner-full-control"]},
			"ArnLike": {"aws:SourceArn": ["arn:aws:logs:eu-west-1:123456789012:*"]}
		}
	}, {
		"Sid": "AWSLogDeliveryAclCheck", "Effect": "Allow", "Principal": {"Service": ["delivery.logs.amazonaws.com"]},
		"Action": ["s3:GetBucketAcl", "s3:ListBucket"], "Resource": ["arn:aws:s3:::log-bucket"],
		"Condition": {
			"StringEquals": {"aws:SourceAccount": ["123456789012"]},
			"ArnLike": {"aws:SourceArn": ["arn:aws:logs:eu-west-1:123456789012:*"]}
		}
	}]`
	s := statements(t, one(t, run(t, validArgs()), policyType, "storage-logs").Inputs["policy"])
	got, err := json.Marshal([]iampolicy.Statement{s["AWSLogDeliveryWrite"], s["AWSLogDeliveryAclCheck"]})
	require.NoError(t, err)
	require.JSONEq(t, documented, string(got))
}

func TestOutputsWaitForBucketSettings(t *testing.T) {
	w := one(t, run(t, validArgs()), witnessType, "witness")
	b, err := json.Marshal(platform.NewS3Paths("data-bucket"))
	require.NoError(t, err)
	var want map[string]any
	require.NoError(t, json.Unmarshal(b, &want))
	require.Len(t, want, 6)
	require.Equal(t, want, w.Inputs["s3Paths"].Mappable())
	require.Equal(t, "data-bucket", w.Inputs["dataBucket"].StringValue())
	require.Equal(t, logsARN, w.Inputs["logBucketArn"].StringValue())
	require.Equal(t, keyARN, w.Inputs["kmsKeyArn"].StringValue())
	// Six settings and the bucket itself share the name storage-data.
	n := 0
	for _, d := range w.Dependencies {
		if d == "storage-data" {
			n++
		}
	}
	require.GreaterOrEqual(t, n, 7, w.Dependencies)
}

func TestConflictingSettingsWaitForEachOther(t *testing.T) {
	rec := run(t, validArgs())
	require.GreaterOrEqual(t, len(one(t, rec, policyType, "storage-data").Dependencies), 4, "bucket, key, public access block and ownership")
	require.GreaterOrEqual(t, len(one(t, rec, lifecycleType, "storage-data").Dependencies), 2, "bucket and versioning")
}
