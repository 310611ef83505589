package emr_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

const (
	clusterType = "aws:emr/cluster:Cluster"
	groupType   = "aws:emr/instanceGroup:InstanceGroup"
	roleType    = "aws:iam/role:Role"
	policyType  = "aws:iam/rolePolicy:RolePolicy"

	bucketARN = "arn:aws:s3:::data-bucket"
	keyARN    = "arn:aws:kms:us-east-1:123456789012:key/k"
)

func validArgs() *emr.Args {
	return &emr.Args{
		Region: "us-east-1",
		Key:    "main", Name: "emr-observatory-dev-main",
		Cluster: schema.Cluster{
			ReleaseLabel: "emr-7.10.0", Applications: []string{"Hadoop", "Spark"}, Observe: schema.ObserveFull,
			StartedBy: schema.StartedByUpdate, KeepAlive: true, UnhealthyNodeReplacement: true,
			ScaleDownBehavior: "TERMINATE_AT_TASK_COMPLETION", StepConcurrency: 1,
			Master: schema.InstanceGroup{InstanceType: "m5.xlarge", Count: 1},
			Core: schema.InstanceGroup{InstanceType: "r7g.2xlarge", Count: 2, EBS: []schema.Volume{
				{Type: "gp3", SizeGiB: 128, IOPS: 4000, Throughput: 250, PerInstance: 2},
			}},
		},
		VPCID: pulumi.String("vpc-1"), SubnetIDs: pulumi.ToStringArray([]string{"subnet-1"}), S3PrefixListID: pulumi.String("pl-1"),
		ObservedSecurityGroupID: pulumi.String("sg-observed"), Bucket: pulumi.String("data-bucket"), BucketARN: pulumi.String(bucketARN),
		KMSKeyARN: pulumi.String(keyARN), BootstrapPath: pulumi.String("s3://data-bucket/artifacts/abc/bootstrap.sh"),
		BootstrapArgs: pulumi.ToStringArray([]string{"10.0.0.10", "s3://data-bucket/artifacts/", "abc"}),
	}
}

func program(args *emr.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		p, err := aws.NewProvider(ctx, "main", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		c, err := emr.New(ctx, "emr", args, pulumi.Provider(p))
		if err != nil {
			return err
		}
		ctx.Export("clusterId", c.ClusterID)
		w := &witness{}
		return ctx.RegisterResource("aws:test/witness:Witness", "witness", pulumi.Map{
			"clusterId": c.ClusterID, "masterDns": c.MasterDNS, "serviceRoleArn": c.ServiceRoleARN, "nodeRoleName": c.NodeRoleName,
			"nodeRoleArn": c.NodeRoleARN, "instanceProfileArn": c.InstanceProfileARN,
		}, w, pulumi.Provider(p))
	}
}

// witness is a resource whose inputs are the component's outputs, so that the
// recorder sees their values.
type witness struct{ pulumi.CustomResourceState }

func recorderOptions(partition, suffix string) []recorder.Option {
	return []recorder.Option{
		recorder.WithInvoke("aws:index/getCallerIdentity:getCallerIdentity", map[string]any{"accountId": "123456789012"}),
		recorder.WithInvoke("aws:index/getPartition:getPartition", map[string]any{"partition": partition, "dnsSuffix": suffix}),
		withRoles(platform.SpotRole),
		recorder.WithComputed(func(r recorder.Resource) resource.PropertyMap {
			switch r.Type {
			case roleType:
				return resource.PropertyMap{
					"name": resource.NewStringProperty(r.Name + "-1a2b3c4"),
					"arn":  resource.NewStringProperty("arn:aws:iam::123456789012:role/" + r.Name + "-1a2b3c4"),
				}
			case "aws:emr/securityConfiguration:SecurityConfiguration":
				return resource.PropertyMap{"name": resource.NewStringProperty("security-1a2b3c4")}
			case clusterType:
				return resource.PropertyMap{"id": resource.NewStringProperty("j-TEST"),
					"masterPublicDns": resource.NewStringProperty("ip-10-0-0-5.ec2.internal")}
			}
			return nil
		}),
	}
}

// run records what the program registers.
func run(t *testing.T, args *emr.Args) *recorder.Recording {
	t.Helper()
	rec, err := recorder.Run(program(args), recorderOptions("aws", "amazonaws.com")...)
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

// componentResources lists the recorded resources without provider and witness.
func componentResources(rec *recorder.Recording) []string {
	return slices.DeleteFunc(rec.List(), func(s string) bool {
		return strings.HasPrefix(s, "pulumi:providers:") || strings.HasPrefix(s, "aws:test/")
	})
}

func TestRegistersExactlyTheseResources(t *testing.T) {
	rec := run(t, validArgs())
	require.Equal(t, []string{
		groupsType + " emr-core",
		groupsType + " emr-master",
		groupsType + " emr-service-access",
		clusterType + " emr-cluster",
		"aws:emr/securityConfiguration:SecurityConfiguration emr-security",
		"aws:iam/instanceProfile:InstanceProfile emr-node",
		roleType + " emr-node",
		roleType + " emr-service",
		policyType + " emr-node",
		policyType + " emr-service",
		"aws:iam/rolePolicyAttachment:RolePolicyAttachment emr-service",
		"observatory:emr:Cluster emr",
	}, slices.DeleteFunc(componentResources(rec), isRule))
	require.Empty(t, rec.Defaults)
	require.Empty(t, rec.Protected())
	for _, r := range rec.Resources {
		if strings.HasPrefix(r.Type, "aws:") && r.Name != "witness" {
			require.Equal(t, "emr", r.Parent, r.Name)
			require.Equal(t, "aws::main", r.Provider, r.Name)
		}
	}
	// With a role that lacks its policies, the cluster fails only after minutes.
	for _, d := range []string{"emr-node", "emr-service", "emr-security"} {
		require.Contains(t, one(t, rec, clusterType, "emr-cluster").Dependencies, d)
	}
}

// The setting belongs to the account: a stack makes it only if asked to, as strict
// as it can be, and leaves it there.
func TestBlocksPublicAccessOnlyIfAskedAndNeverLoosensIt(t *testing.T) {
	rec, err := recorder.Run(func(ctx *pulumi.Context) error {
		p, err := aws.NewProvider(ctx, "main", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		_, err = emr.BlockPublicAccess(ctx, "emr", pulumi.Provider(p))
		return err
	})
	require.NoError(t, err)
	block := one(t, rec, "aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration", "emr-block-public-access")
	require.Equal(t, map[string]any{"blockPublicSecurityGroupRules": true}, block.Inputs.Mappable(), "no port is permitted")
	require.True(t, block.Retain, "deleting it would restore AWS's default, which permits port 22")
	require.Equal(t, []string{"permittedPublicSecurityGroupRuleRanges"}, block.Ignored, "replacing it would delete the old one last")
}

func TestClusterInputs(t *testing.T) {
	in := one(t, run(t, validArgs()), clusterType, "emr-cluster").Inputs.Mappable()
	require.NotContains(t, in, "autoTerminationPolicy")
	require.NotContains(t, in, "steps", "steps in the program would make every submitted one a replacement")
	require.NotContains(t, in, "placementGroupConfigs")
	configurations, ok := in["configurationsJson"].(string)
	require.True(t, ok)
	require.True(t, json.Valid([]byte(configurations)))
	delete(in, "configurationsJson")
	require.Equal(t, map[string]any{
		"name": "emr-observatory-dev-main", "releaseLabel": "emr-7.10.0", "applications": []any{"Hadoop", "Spark"},
		"serviceRole": "arn:aws:iam::123456789012:role/emr-service-1a2b3c4",
		"ec2Attributes": map[string]any{
			"instanceProfile": "arn:aws:mock:us-east-1:123456789012:emr-node", "subnetId": "subnet-1",
			"emrManagedMasterSecurityGroup": "emr-master-id", "emrManagedSlaveSecurityGroup": "emr-core-id",
			"serviceAccessSecurityGroup": "emr-service-access-id", "additionalMasterSecurityGroups": "sg-observed",
			"additionalSlaveSecurityGroups": "sg-observed",
		},
		"masterInstanceGroup": map[string]any{"name": "master", "instanceType": "m5.xlarge", "instanceCount": 1.0},
		"coreInstanceGroup": map[string]any{"name": "core", "instanceType": "r7g.2xlarge", "instanceCount": 2.0, "ebsConfigs": []any{
			map[string]any{"type": "gp3", "size": 128.0, "iops": 4000.0, "throughput": 250.0, "volumesPerInstance": 2.0},
		}},
		"bootstrapActions": []any{map[string]any{
			"name": "observatory", "path": "s3://data-bucket/artifacts/abc/bootstrap.sh",
			"args": []any{"10.0.0.10", "s3://data-bucket/artifacts/", "abc"},
		}},
		"securityConfiguration": "security-1a2b3c4",
		"logUri":                "s3://data-bucket/emr-logs/main/", "logEncryptionKmsKeyId": keyARN,
		"keepJobFlowAliveWhenNoSteps": true, "unhealthyNodeReplacement": true, "terminationProtection": false,
		"scaleDownBehavior": "TERMINATE_AT_TASK_COMPLETION", "stepConcurrencyLevel": 1.0,
		"tags": map[string]any{platform.EMRManagedPolicyTag: "true", "observatory:cluster": "main"},
	}, in)
}

func TestSecurityConfiguration(t *testing.T) {
	s := one(t, run(t, validArgs()), "aws:emr/securityConfiguration:SecurityConfiguration", "emr-security")
	require.JSONEq(t, `{
		"EncryptionConfiguration": {
			"EnableAtRestEncryption": true, "EnableInTransitEncryption": false,
			"AtRestEncryptionConfiguration": {
				"LocalDiskEncryptionConfiguration": {"EncryptionKeyProviderType": "AwsKms", "AwsKmsKey": "`+keyARN+`", "EnableEbsEncryption": true}
			}
		},
		"InstanceMetadataServiceConfiguration": {"MinimumInstanceMetadataServiceVersion": 2, "HttpPutResponseHopLimit": 1}
	}`, s.Inputs["configuration"].StringValue())
}

// Nodes read exactly the certificates that EMR's configuration names.
func TestEncryptionInTransit(t *testing.T) {
	a := validArgs()
	a.Encryption.Certificates = "s3://keys/tls/main.zip"
	rec := run(t, a)
	document := one(t, rec, "aws:emr/securityConfiguration:SecurityConfiguration", "emr-security").Inputs["configuration"].StringValue()
	require.Contains(t, document, `"EnableInTransitEncryption":true`)
	require.Contains(t, document, `"InTransitEncryptionConfiguration":{"TLSCertificateConfiguration":`+
		`{"CertificateProviderType":"PEM","S3Object":"s3://keys/tls/main.zip"}}`)
	const statement = `{"Sid":"ReadCertificates","Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::keys/tls/main.zip"]}`
	require.Contains(t, one(t, rec, policyType, "emr-node").Inputs["policy"].StringValue(), statement)
	require.NotContains(t, one(t, run(t, validArgs()), policyType, "emr-node").Inputs["policy"].StringValue(), "ReadCertificates")
}

// The cluster waits, and with it its task group; roles and policies do not.
func TestOnlyTheClusterWaits(t *testing.T) {
	rec, err := recorder.Run(func(ctx *pulumi.Context) error {
		gate := &witness{}
		p, err := aws.NewProvider(ctx, "main", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		if err := ctx.RegisterResource("aws:test/witness:Witness", "gate", pulumi.Map{}, gate, pulumi.Provider(p)); err != nil {
			return err
		}
		args := validArgs()
		args.After = []pulumi.Resource{gate}
		args.Tasks = map[string]schema.InstanceGroup{"spot": {InstanceType: "m5.xlarge", Count: 1}}
		_, err = emr.New(ctx, "emr", args, pulumi.Provider(p))
		return err
	}, recorderOptions("aws", "amazonaws.com")...)
	require.NoError(t, err)
	var waiting []string
	for _, r := range rec.Resources {
		if slices.Contains(r.Dependencies, "gate") {
			waiting = append(waiting, r.Name)
		}
	}
	require.Equal(t, []string{"emr-cluster"}, waiting)
	require.Contains(t, one(t, rec, groupType, "emr-task-spot").Dependencies, "emr-cluster")
}

func TestOptionalClusterSettings(t *testing.T) {
	a := validArgs()
	a.IdleTimeoutMinutes, a.TerminationProtection = 90, true
	a.Core.BidPrice = "0.12"
	in := one(t, run(t, a), clusterType, "emr-cluster").Inputs
	require.InDelta(t, 5400, in["autoTerminationPolicy"].ObjectValue()["idleTimeout"].NumberValue(), 0)
	require.True(t, in["terminationProtection"].BoolValue())
	require.Equal(t, "0.12", in["coreInstanceGroup"].ObjectValue()["bidPrice"].StringValue())
	require.NotContains(t, in["masterInstanceGroup"].ObjectValue(), resource.PropertyKey("bidPrice"))
}

func TestTaskGroupIsDeletedWithTheCluster(t *testing.T) {
	require.Empty(t, run(t, validArgs()).OfType(groupType))
	a := validArgs()
	a.Tasks = map[string]schema.InstanceGroup{"spot": {InstanceType: "m5.2xlarge", Count: 3, BidPrice: "0.2", EBS: []schema.Volume{
		{Type: "gp3", SizeGiB: 64, PerInstance: 1},
	}}}
	g := one(t, run(t, a), groupType, "emr-task-spot")
	require.Equal(t, "emr-cluster", g.DeletedWith)
	require.Equal(t, map[string]any{
		"clusterId": "j-TEST", "name": "task-spot", "instanceType": "m5.2xlarge", "instanceCount": 3.0, "bidPrice": "0.2",
		"ebsConfigs": []any{map[string]any{"type": "gp3", "size": 64.0, "volumesPerInstance": 1.0}},
	}, g.Inputs.Mappable())
}

// IAM deletes no role that still has policies, and other stacks attach some.
func TestNodeRoleIsDeletedWithPoliciesOfOtherStacks(t *testing.T) {
	require.Equal(t, true, one(t, run(t, validArgs()), roleType, "emr-node").Inputs.Mappable()["forceDetachPolicies"])
}

func TestOutputs(t *testing.T) {
	w := one(t, run(t, validArgs()), "aws:test/witness:Witness", "witness").Inputs.Mappable()
	require.Equal(t, map[string]any{
		"clusterId": "j-TEST", "masterDns": "ip-10-0-0-5.ec2.internal", "serviceRoleArn": "arn:aws:iam::123456789012:role/emr-service-1a2b3c4",
		"nodeRoleArn": "arn:aws:iam::123456789012:role/emr-node-1a2b3c4", "nodeRoleName": "emr-node-1a2b3c4",
		"instanceProfileArn": "arn:aws:mock:us-east-1:123456789012:emr-node",
	}, w)
}
