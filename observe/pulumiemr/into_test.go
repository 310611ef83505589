package pulumiemr_test

import (
	"testing"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/recorder"
	"github.com/emr-observatory/emr-observatory/observe"
	"github.com/emr-observatory/emr-observatory/observe/pulumiemr"
)

func settings() observe.Settings {
	return observe.Settings{
		SecurityGroupID: "sg-observed", NodePolicyARN: "arn:aws:iam::123456789012:policy/observed",
		Bootstrap: observe.Bootstrap{
			Path: "s3://bucket/artifacts/ab/bootstrap.sh", Args: []string{"10.0.0.5", "s3://bucket/artifacts/", "ab"}, Hash: "ab",
		},
		Configurations: observe.Configurations("1", nil), Tags: map[string]string{"observatory:stack": "dev", "team": "platform"},
	}
}

// declare registers a cluster after Into, with arguments that may depend on a
// resource's output, and returns its inputs as the provider gets them.
func declare(t *testing.T, times int, arguments func(output pulumi.StringOutput) *emr.ClusterArgs) resource.PropertyMap {
	t.Helper()
	rec, err := recorder.Run(func(ctx *pulumi.Context) error {
		role, err := iam.NewRole(ctx, "role", &iam.RoleArgs{AssumeRolePolicy: pulumi.String("{}"), Name: pulumi.String("team")})
		if err != nil {
			return err
		}
		args := arguments(role.Name)
		args.ReleaseLabel, args.ServiceRole = pulumi.String("emr-7.10.0"), pulumi.String("EMR")
		for range times {
			if err := pulumiemr.Into(args, settings()); err != nil {
				return err
			}
		}
		_, err = emr.NewCluster(ctx, "etl", args)
		return err
	})
	require.NoError(t, err)
	cluster, err := rec.One("aws:emr/cluster:Cluster", "etl")
	require.NoError(t, err)
	return cluster.Inputs
}

func TestIntoKeepsWhatTheTeamWrote(t *testing.T) {
	const spark = `[{"Classification":"spark-defaults","Properties":{"spark.driver.defaultJavaOptions":"-Xss8m"}}]`
	constant := func(pulumi.StringOutput) *emr.ClusterArgs {
		return &emr.ClusterArgs{
			ConfigurationsJson: pulumi.String(spark),
			Ec2Attributes: emr.ClusterEc2AttributesArgs{
				InstanceProfile: pulumi.String("team"), SubnetId: pulumi.String("subnet-1"),
				AdditionalMasterSecurityGroups: pulumi.String("sg-1, sg-2"),
			},
			BootstrapActions: emr.ClusterBootstrapActionArray{
				emr.ClusterBootstrapActionArgs{Name: pulumi.String("team"), Path: pulumi.String("s3://team/setup.sh")},
			},
			Tags: pulumi.StringMap{"team": pulumi.String("sales")},
		}
	}
	outputs := func(name pulumi.StringOutput) *emr.ClusterArgs {
		of := func(value string) pulumi.StringPtrOutput {
			return name.ApplyT(func(string) *string { return &value }).(pulumi.StringPtrOutput)
		}
		return &emr.ClusterArgs{
			ConfigurationsJson: of(spark),
			Ec2Attributes: emr.ClusterEc2AttributesArgs{
				InstanceProfile: name, SubnetId: pulumi.String("subnet-1"), AdditionalMasterSecurityGroups: of("sg-1,sg-2"),
			}.ToClusterEc2AttributesPtrOutput(),
			BootstrapActions: emr.ClusterBootstrapActionArray{
				emr.ClusterBootstrapActionArgs{Name: name, Path: pulumi.String("s3://team/setup.sh")},
			}.ToClusterBootstrapActionArrayOutput(),
			Tags: pulumi.StringMap{"team": name.ApplyT(func(string) string { return "sales" }).(pulumi.StringOutput)}.ToStringMapOutput(),
		}
	}
	pointer := func(name pulumi.StringOutput) *emr.ClusterArgs {
		args := outputs(name)
		args.Ec2Attributes = emr.ClusterEc2AttributesPtr(&emr.ClusterEc2AttributesArgs{
			InstanceProfile: name, SubnetId: pulumi.String("subnet-1"), AdditionalMasterSecurityGroups: pulumi.String("sg-1,sg-2"),
		})
		return args
	}
	for name, arguments := range map[string]func(pulumi.StringOutput) *emr.ClusterArgs{
		"constants": constant, "outputs": outputs, "pointer": pointer,
	} {
		t.Run(name, func(t *testing.T) {
			inputs := declare(t, 1, arguments)
			require.Equal(t, map[string]any{"observatory:stack": "dev", "team": "sales"}, inputs["tags"].Mappable())
			attributes := inputs["ec2Attributes"].ObjectValue()
			require.Equal(t, "sg-1,sg-2,sg-observed", attributes["additionalMasterSecurityGroups"].StringValue())
			require.Equal(t, "sg-observed", attributes["additionalSlaveSecurityGroups"].StringValue())
			require.Equal(t, "team", attributes["instanceProfile"].StringValue())
			require.Equal(t, "subnet-1", attributes["subnetId"].StringValue())
			actions := inputs["bootstrapActions"].ArrayValue()
			require.Len(t, actions, 2)
			require.Equal(t, settings().Bootstrap.Path, actions[0].ObjectValue()["path"].StringValue())
			require.Equal(t, "ab", actions[0].ObjectValue()["args"].ArrayValue()[2].StringValue())
			require.Equal(t, "s3://team/setup.sh", actions[1].ObjectValue()["path"].StringValue())
			list, err := observe.Parse(inputs["configurationsJson"].StringValue())
			require.NoError(t, err)
			require.Equal(t, "-Xss8m "+observe.AgentFlag, list[0].Properties["spark.driver.defaultJavaOptions"])
			require.Len(t, list, 4)
			require.Equal(t, inputs, declare(t, 2, arguments), "a second call changes nothing")
		})
	}
}

func TestIntoFillsWhatIsEmpty(t *testing.T) {
	inputs := declare(t, 1, func(pulumi.StringOutput) *emr.ClusterArgs {
		return &emr.ClusterArgs{Ec2Attributes: emr.ClusterEc2AttributesArgs{InstanceProfile: pulumi.String("team")}}
	})
	list, err := observe.Parse(inputs["configurationsJson"].StringValue())
	require.NoError(t, err)
	require.Equal(t, settings().Configurations, list)
	require.Len(t, inputs["bootstrapActions"].ArrayValue(), 1)
	require.Equal(t, map[string]any{"observatory:stack": "dev", "team": "platform"}, inputs["tags"].Mappable())
}

func TestIntoReportsEverythingAtOnce(t *testing.T) {
	args := &emr.ClusterArgs{Configurations: pulumi.String("s3://team/c.json"), ConfigurationsJson: pulumi.String(`{"a": 1}`)}
	err := pulumiemr.Into(args, settings())
	for _, says := range []string{"args.Configurations: set", "args.Ec2Attributes: missing", "args.ConfigurationsJson: configurations:"} {
		require.ErrorContains(t, err, says)
	}
	require.Nil(t, args.BootstrapActions, "unchanged")
	require.Equal(t, pulumi.String(`{"a": 1}`), args.ConfigurationsJson)
}
