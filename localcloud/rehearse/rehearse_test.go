package rehearse_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/rehearse"
)

func binary(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("OBSERVATORY_PULUMI"); p != "" {
		return p
	}
	p, err := exec.LookPath("pulumi")
	require.NoError(t, err, "no pulumi binary: run `make tools`, or set OBSERVATORY_PULUMI to one")
	return p
}

const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"elasticmapreduce.amazonaws.com"},"Action":"sts:AssumeRole"}]}`

// stack is a small platform: a network, a bucket that is protected, a cluster.
func stack(ctx *pulumi.Context) error {
	p, err := aws.NewProvider(ctx, "main", &aws.ProviderArgs{Region: pulumi.String("us-east-1"), DefaultTags: aws.ProviderDefaultTagsArgs{Tags: pulumi.StringMap{"team": pulumi.String("data")}}})
	if err != nil {
		return err
	}
	with := pulumi.Provider(p)
	zones, err := aws.GetAvailabilityZones(ctx, &aws.GetAvailabilityZonesArgs{}, with)
	if err != nil {
		return err
	}
	vpc, err := ec2.NewVpc(ctx, "net", &ec2.VpcArgs{CidrBlock: pulumi.String("10.0.0.0/16")}, with)
	if err != nil {
		return err
	}
	subnet, err := ec2.NewSubnet(ctx, "net-a", &ec2.SubnetArgs{VpcId: vpc.ID(), CidrBlock: pulumi.String("10.0.0.0/24"), AvailabilityZone: pulumi.String(zones.Names[0])}, with)
	if err != nil {
		return err
	}
	bucket, err := s3.NewBucketV2(ctx, "data", nil, with, pulumi.Protect(true))
	if err != nil {
		return err
	}
	role, err := iam.NewRole(ctx, "service", &iam.RoleArgs{AssumeRolePolicy: pulumi.String(trust)}, with)
	if err != nil {
		return err
	}
	count := 2
	protection := config.New(ctx, "").Get("protection") == "true"
	if config.New(ctx, "").Get("bad") == "true" {
		count = 0
	}
	cluster, err := emr.NewCluster(ctx, "spark", &emr.ClusterArgs{
		ReleaseLabel: pulumi.String(release(ctx)), ServiceRole: role.Arn, TerminationProtection: pulumi.Bool(protection),
		Ec2Attributes:       emr.ClusterEc2AttributesArgs{SubnetId: subnet.ID(), InstanceProfile: pulumi.String("p")},
		MasterInstanceGroup: emr.ClusterMasterInstanceGroupArgs{InstanceType: pulumi.String("m5.xlarge")},
		CoreInstanceGroup:   emr.ClusterCoreInstanceGroupArgs{InstanceType: pulumi.String("m5.xlarge"), InstanceCount: pulumi.Int(count)},
		LogUri:              pulumi.Sprintf("s3://%s/emr-logs/", bucket.Bucket),
	}, with)
	if err != nil {
		return err
	}
	r, err := random.NewProvider(ctx, "random", nil)
	if err != nil {
		return err
	}
	password, err := random.NewRandomPassword(ctx, "admin", &random.RandomPasswordArgs{Length: pulumi.Int(24)}, pulumi.Provider(r))
	if err != nil {
		return err
	}
	_, err = local.NewCommand(ctx, "gate", &local.CommandArgs{Create: pulumi.String("exit 1"), Environment: pulumi.StringMap{"PASSWORD": password.Result}})
	ctx.Export("master", cluster.MasterPublicDns)
	return err
}

func release(ctx *pulumi.Context) string {
	if config.New(ctx, "").Get("bad") == "true" {
		return "7.10"
	}
	return "emr-7.10.0"
}

func TestAWholeLife(t *testing.T) {
	var told []string
	report, err := rehearse.Run(t.Context(), stack, rehearse.Options{
		PulumiCommand: binary(t),
		Progress:      func(phase, message string, _ time.Duration) { told = append(told, phase+": "+message) },
	})
	require.NoError(t, err)
	require.Len(t, report.Protected, 1)
	require.Contains(t, report.Protected[0], "BucketV2::data")
	require.GreaterOrEqual(t, report.Checked, 9)
	require.Greater(t, report.Resources, report.Checked-1)
	var names []string
	for _, p := range report.Phases {
		names = append(names, p.Name)
		require.Positive(t, p.Seconds)
	}
	require.Equal(t, []string{"preview", "up", "up again", "destroy, refused", "destroy"}, names)
	require.Len(t, told, len(names))
	require.Equal(t, map[string]int{"same": report.Resources}, report.Phases[2].Steps)
	require.Equal(t, fmt.Sprintf("up again: same %d", report.Resources), told[2])
}

// A preview shows and checks what there will be, and makes nothing.
func TestAPreviewMakesNothing(t *testing.T) {
	var out bytes.Buffer
	ran := 0
	program := func(ctx *pulumi.Context) error { ran++; return stack(ctx) }
	report, err := rehearse.Preview(t.Context(), program, rehearse.Options{PulumiCommand: binary(t), Output: &out})
	require.NoError(t, err)
	require.Equal(t, 1, ran)
	require.Zero(t, report.Resources)
	require.Len(t, report.Phases, 1)
	require.Equal(t, []string{"create"}, slices.Collect(maps.Keys(report.Phases[0].Steps)))
	require.Contains(t, out.String(), "aws:emr:Cluster")
	require.Contains(t, out.String(), "to create")

	_, err = rehearse.Preview(t.Context(), stack, rehearse.Options{PulumiCommand: binary(t), Config: auto.ConfigMap{"emr-observatory:bad": {Value: "true"}}})
	require.ErrorContains(t, err, "coreInstanceGroup.instanceCount: must be at least 1, is 0")
	require.ErrorContains(t, err, `releaseLabel: must be emr-x.y.z, is "7.10"`)
}

func TestAllFaultsAreReportedAtOnce(t *testing.T) {
	report, err := rehearse.Run(t.Context(), stack, rehearse.Options{PulumiCommand: binary(t), Config: auto.ConfigMap{"emr-observatory:bad": {Value: "true"}}})
	require.Error(t, err)
	require.Len(t, report.Faults, 2)
	require.Contains(t, report.Faults[0], "coreInstanceGroup.instanceCount: must be at least 1, is 0")
	require.Contains(t, report.Faults[1], `releaseLabel: must be emr-x.y.z, is "7.10"`)
}

func TestTerminationProtectionMustBeReleased(t *testing.T) {
	on := auto.ConfigMap{"emr-observatory:protection": {Value: "true"}}
	_, err := rehearse.Run(t.Context(), stack, rehearse.Options{PulumiCommand: binary(t), Config: on})
	require.ErrorContains(t, err, "termination protected")
	_, err = rehearse.Run(t.Context(), stack, rehearse.Options{PulumiCommand: binary(t), Config: on, Release: auto.ConfigMap{"emr-observatory:protection": {Value: "false"}}})
	require.NoError(t, err)
}

func TestAProgramThatNeverSettlesIsRefused(t *testing.T) {
	runs := 0
	program := func(ctx *pulumi.Context) error {
		runs++
		_, err := s3.NewBucketV2(ctx, "data", &s3.BucketV2Args{Tags: pulumi.StringMap{"run": pulumi.Sprintf("%d", runs)}})
		return err
	}
	_, err := rehearse.Run(t.Context(), program, rehearse.Options{PulumiCommand: binary(t), Config: auto.ConfigMap{"aws:region": {Value: "us-east-1"}}})
	require.ErrorContains(t, err, "1 changes without an edit")
	require.ErrorContains(t, err, "tags.run")
}
