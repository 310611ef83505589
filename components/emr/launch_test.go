package emr_test

import (
	"encoding/json"
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/components/emr"
	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// ofSchedules are the arguments of a cluster that schedules start.
func ofSchedules(steps ...schema.Step) *emr.Args {
	args := validArgs()
	args.StartedBy, args.KeepAlive, args.IdleTimeoutMinutes = schema.StartedBySchedules, false, 0
	args.Scheduled = map[string]schema.Schedule{"nightly": {Steps: steps}}
	args.StackTags = map[string]string{platform.TagStack: "dev", "team": "stack"}
	args.Tags = map[string]string{"team": "own"}
	args.SparkDefaults = map[string]string{"spark.yarn.dist.files": ""}
	return args
}

func step(arguments ...string) schema.Step {
	var s schema.Step
	s.SetDefaults()
	s.Name, s.Args = "load", arguments
	return s
}

// What a cluster refers to is created, the cluster is not, and the call names what was created.
func TestSchedulesStartTheCluster(t *testing.T) {
	args := ofSchedules(step("spark-submit", "s3://bucket/load.py"))
	rec, err := recorder.Run(func(ctx *pulumi.Context) error {
		p, err := aws.NewProvider(ctx, "main", &aws.ProviderArgs{Region: pulumi.String("us-east-1")})
		if err != nil {
			return err
		}
		c, err := emr.New(ctx, "emr", args, pulumi.Provider(p))
		if err != nil {
			return err
		}
		return ctx.RegisterResource("aws:test/witness:Witness", "witness", pulumi.Map{
			"input": c.Launch.Input("nightly", args.Scheduled["nightly"].Steps), "id": c.ClusterID,
			"scaling": pulumi.Bool(c.Launch.ScalingRoleARN != nil),
		}, &witness{}, pulumi.Provider(p))
	}, recorderOptions("aws", "amazonaws.com")...)
	require.NoError(t, err)
	for _, r := range rec.Resources {
		require.NotContains(t, []string{clusterType, groupType}, r.Type)
	}
	inputs := one(t, rec, "aws:test/witness:Witness", "witness").Inputs
	require.Equal(t, resource.NewStringProperty(""), inputs["id"])
	require.Equal(t, resource.NewBoolProperty(false), inputs["scaling"])
	var call struct {
		Name, ServiceRole, JobFlowRole, SecurityConfiguration, LogURI, LogEncryptionKmsKeyID string
		Tags                                                                                 []struct{ Key, Value string }
		Steps                                                                                []struct{ Name string }
		BootstrapActions                                                                     []struct {
			ScriptBootstrapAction struct {
				Path string
				Args []string
			}
		}
		Instances struct {
			Ec2SubnetID                                    string
			KeepJobFlowAliveWhenNoSteps                    bool
			EmrManagedMasterSecurityGroup                  string
			EmrManagedSlaveSecurityGroup                   string
			ServiceAccessSecurityGroup                     string
			AdditionalMasterSecurityGroups, InstanceGroups []any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(inputs["input"].StringValue()), &call))
	testenv.RequireInputs(t, "emr", "RunJobFlow", inputs["input"].StringValue())
	require.Equal(t, args.Name, call.Name)
	require.Equal(t, one(t, rec, roleType, "emr-service").Outputs["arn"].StringValue(), call.ServiceRole)
	require.Equal(t, one(t, rec, "aws:iam/instanceProfile:InstanceProfile", "emr-node").Outputs["arn"].StringValue(), call.JobFlowRole)
	require.Equal(t, "security-1a2b3c4", call.SecurityConfiguration)
	require.Equal(t, platform.ClusterLogs("main").URI("data-bucket"), call.LogURI)
	require.Equal(t, keyARN, call.LogEncryptionKmsKeyID)
	tags := map[string]string{}
	for _, tag := range call.Tags {
		tags[tag.Key] = tag.Value
	}
	require.Equal(t, map[string]string{
		platform.TagStack: "dev", "team": "own", platform.TagCluster: "main", platform.EMRManagedPolicyTag: "true",
	}, tags)
	require.Equal(t, "load (nightly <aws.scheduler.scheduled-time>)", call.Steps[0].Name)
	require.Equal(t, "s3://data-bucket/artifacts/abc/bootstrap.sh", call.BootstrapActions[0].ScriptBootstrapAction.Path)
	require.Contains(t, call.BootstrapActions[0].ScriptBootstrapAction.Args, "10.0.0.10")
	require.Equal(t, "subnet-1", call.Instances.Ec2SubnetID)
	require.False(t, call.Instances.KeepJobFlowAliveWhenNoSteps)
	groups := []string{
		call.Instances.EmrManagedMasterSecurityGroup, call.Instances.EmrManagedSlaveSecurityGroup, call.Instances.ServiceAccessSecurityGroup,
	}
	for i, name := range []string{"emr-master", "emr-core", "emr-service-access"} {
		require.Equal(t, one(t, rec, "aws:ec2/securityGroup:SecurityGroup", name).ID, groups[i], name)
	}
	require.Equal(t, []any{"sg-observed"}, call.Instances.AdditionalMasterSecurityGroups)
	require.Len(t, call.Instances.InstanceGroups, 2)
	require.Contains(t, inputs["input"].StringValue(), `"spark.yarn.dist.files":""`, "an empty value is a value")
}

// EventBridge keeps at most 256 KiB of a call.
func TestACallOfAClusterIsNotTooLong(t *testing.T) {
	require.NoError(t, ofSchedules(step("true")).Validate())
	long := make([]schema.Step, 0, 30)
	for range cap(long) {
		argument := make([]byte, platform.MaxStepArguments-1)
		for i := range argument {
			argument[i] = 'x'
		}
		long = append(long, step("x", string(argument)))
	}
	require.ErrorContains(t, ofSchedules(long...).Validate(), "schedules.nightly.steps: 3")
}
