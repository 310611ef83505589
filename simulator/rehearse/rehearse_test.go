package rehearse_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/simulator/rehearse"
)

func pulumiBinary(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("OBSERVATORY_PULUMI"); p != "" {
		return p
	}
	p, err := exec.LookPath("pulumi")
	require.NoError(t, err, "no pulumi binary: run `make tools`, or set OBSERVATORY_PULUMI to one")
	return p
}

const trust = `{"Version":"2012-10-17","Statement":[` +
	`{"Effect":"Allow","Principal":{"Service":"elasticmapreduce.amazonaws.com"},"Action":"sts:AssumeRole"}]}`

// smallStack registers a network, a protected bucket and a cluster.
func smallStack(ctx *pulumi.Context) error {
	p, err := aws.NewProvider(
		ctx, "main",
		&aws.ProviderArgs{
			Region:      pulumi.String("us-east-1"),
			DefaultTags: aws.ProviderDefaultTagsArgs{Tags: pulumi.StringMap{"team": pulumi.String("data")}},
		},
	)
	if err != nil {
		return err
	}
	provider := pulumi.Provider(p)
	zones, err := aws.GetAvailabilityZones(ctx, &aws.GetAvailabilityZonesArgs{}, provider)
	if err != nil {
		return err
	}
	vpc, err := ec2.NewVpc(ctx, "net", &ec2.VpcArgs{CidrBlock: pulumi.String("10.0.0.0/16")}, provider)
	if err != nil {
		return err
	}
	subnet, err := ec2.NewSubnet(
		ctx, "net-a",
		&ec2.SubnetArgs{VpcId: vpc.ID(), CidrBlock: pulumi.String("10.0.0.0/24"), AvailabilityZone: pulumi.String(zones.Names[0])},
		provider,
	)
	if err != nil {
		return err
	}
	bucket, err := s3.NewBucketV2(ctx, "data", nil, provider, pulumi.Protect(true), pulumi.RetainOnDelete(true))
	if err != nil {
		return err
	}
	role, err := iam.NewRole(ctx, "service", &iam.RoleArgs{AssumeRolePolicy: pulumi.String(trust)}, provider)
	if err != nil {
		return err
	}
	count := 2
	protection := config.New(ctx, "").Get("protection") == "true"
	if config.New(ctx, "").Get("bad") == "true" {
		count = 0
	}
	cluster, err := emr.NewCluster(ctx, "spark", &emr.ClusterArgs{
		ReleaseLabel: pulumi.String(releaseLabel(ctx)), ServiceRole: role.Arn, TerminationProtection: pulumi.Bool(protection),
		Ec2Attributes:       emr.ClusterEc2AttributesArgs{SubnetId: subnet.ID(), InstanceProfile: pulumi.String("p")},
		MasterInstanceGroup: emr.ClusterMasterInstanceGroupArgs{InstanceType: pulumi.String("m5.xlarge")},
		CoreInstanceGroup:   emr.ClusterCoreInstanceGroupArgs{InstanceType: pulumi.String("m5.xlarge"), InstanceCount: pulumi.Int(count)},
		LogUri:              pulumi.Sprintf("s3://%s/emr-logs/", bucket.Bucket),
	}, provider)
	if err != nil {
		return err
	}
	ctx.Export("master", cluster.MasterPublicDns)
	return failingCommand(ctx)
}

// failingCommand fails if it is run, which a rehearsal must not do.
func failingCommand(ctx *pulumi.Context) error {
	r, err := random.NewProvider(ctx, "random", nil)
	if err != nil {
		return err
	}
	password, err := random.NewRandomPassword(ctx, "admin", &random.RandomPasswordArgs{Length: pulumi.Int(24)}, pulumi.Provider(r))
	if err != nil {
		return err
	}
	_, err = local.NewCommand(
		ctx, "gate", &local.CommandArgs{Create: pulumi.String("exit 1"), Environment: pulumi.StringMap{"PASSWORD": password.Result}},
	)
	return err
}

func releaseLabel(ctx *pulumi.Context) string {
	if config.New(ctx, "").Get("bad") == "true" {
		return "7.10"
	}
	return "emr-7.10.0"
}

func TestRunGoesThroughAllPhases(t *testing.T) {
	var progress []string
	state := filepath.Join(t.TempDir(), "state.json")
	report, err := rehearse.Run(t.Context(), smallStack, rehearse.Options{
		PulumiCommand: pulumiBinary(t), Export: state,
		Progress: func(phase, message string, _ time.Duration) { progress = append(progress, phase+": "+message) },
	})
	require.NoError(t, err)
	require.Len(t, report.Protected, 1)
	require.Contains(t, report.Protected[0], "BucketV2::data")
	require.Equal(t, report.Protected, report.Kept, "only the bucket is retained")
	requireState(t, state, report.Resources)
	require.GreaterOrEqual(t, report.Checked, 9)
	require.Greater(t, report.Resources, report.Checked-1)
	var names []string
	for _, p := range report.Phases {
		names = append(names, p.Name)
		require.Positive(t, p.Seconds)
	}
	require.Equal(t, []string{"preview", "up", "up again", "destroy, refused", "destroy"}, names)
	require.Len(t, progress, len(names))
	require.Equal(t, map[string]int{"same": report.Resources}, report.Phases[2].Steps)
	require.Equal(t, fmt.Sprintf("up again: same %d", report.Resources), progress[2])
}

// requireState requires a file to hold the state of a stack that is up, without secrets
// in clear.
func requireState(t *testing.T, file string, resources int) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var exported apitype.UntypedDeployment
	require.NoError(t, json.Unmarshal(text, &exported))
	var state apitype.DeploymentV3
	require.NoError(t, json.Unmarshal(exported.Deployment, &state))
	require.Len(t, state.Resources, resources)
	i := slices.IndexFunc(state.Resources, func(r apitype.ResourceV3) bool { return r.URN.Name() == "admin" })
	require.Contains(t, state.Resources[i].Outputs["result"], "ciphertext")
}

// requireNoState requires that the states in a folder have no resource.
func requireNoState(t *testing.T, dir string) {
	t.Helper()
	files := 0
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NotContains(t, string(text), `"urn"`, name)
		return err
	}))
	require.Positive(t, files)
}

func TestPreviewCreatesNothing(t *testing.T) {
	var out bytes.Buffer
	ran := 0
	program := func(ctx *pulumi.Context) error { ran++; return smallStack(ctx) }
	dir := t.TempDir()
	report, err := rehearse.Preview(t.Context(), program, rehearse.Options{PulumiCommand: pulumiBinary(t), Output: &out, WorkDir: dir})
	require.NoError(t, err)
	require.Equal(t, 1, ran)
	requireNoState(t, filepath.Join(dir, "state"))
	require.Len(t, report.Phases, 1)
	require.Equal(t, map[string]int{"create": report.Resources}, report.Phases[0].Steps)
	require.Positive(t, report.Checked)
	require.Greater(t, report.Resources, report.Checked)
	require.Equal(t, []string{}, report.Problems, "JSON has a list")
	require.Contains(t, out.String(), "aws:emr:Cluster")
	require.Contains(t, out.String(), "to create")

	_, err = rehearse.Preview(
		t.Context(), smallStack,
		rehearse.Options{PulumiCommand: pulumiBinary(t), Config: auto.ConfigMap{"emr-observatory:bad": {Value: "true"}}},
	)
	require.ErrorContains(t, err, "coreInstanceGroup.instanceCount: must be at least 1, is 0")
	require.ErrorContains(t, err, `releaseLabel: must be emr-x.y.z, is "7.10"`)
}

func TestRunReportsAllViolationsAtOnce(t *testing.T) {
	report, err := rehearse.Run(
		t.Context(), smallStack,
		rehearse.Options{PulumiCommand: pulumiBinary(t), Config: auto.ConfigMap{"emr-observatory:bad": {Value: "true"}}},
	)
	require.Error(t, err)
	require.Len(t, report.Problems, 2)
	require.Contains(t, report.Problems[0], "coreInstanceGroup.instanceCount: must be at least 1, is 0")
	require.Contains(t, report.Problems[1], `releaseLabel: must be emr-x.y.z, is "7.10"`)
}

func TestTerminationProtectionMustBeRemoved(t *testing.T) {
	on := auto.ConfigMap{"emr-observatory:protection": {Value: "true"}}
	_, err := rehearse.Run(t.Context(), smallStack, rehearse.Options{PulumiCommand: pulumiBinary(t), Config: on})
	require.ErrorContains(t, err, "termination protected")
	_, err = rehearse.Run(
		t.Context(), smallStack,
		rehearse.Options{PulumiCommand: pulumiBinary(t), Config: on, Unprotect: auto.ConfigMap{"emr-observatory:protection": {Value: "false"}}},
	)
	require.NoError(t, err)
}

func TestProgramThatNeverConvergesFails(t *testing.T) {
	runs := 0
	program := func(ctx *pulumi.Context) error {
		runs++
		_, err := s3.NewBucketV2(ctx, "data", &s3.BucketV2Args{Tags: pulumi.StringMap{"run": pulumi.Sprintf("%d", runs)}})
		return err
	}
	_, err := rehearse.Run(
		t.Context(), program, rehearse.Options{PulumiCommand: pulumiBinary(t), Config: auto.ConfigMap{"aws:region": {Value: "us-east-1"}}},
	)
	require.ErrorContains(t, err, "1 changes without an edit")
	require.ErrorContains(t, err, "tags.run")
}
