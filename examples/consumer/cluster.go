package main

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/emr-observatory/emr-observatory/observe/pulumiemr"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

const ec2Trust = `{"Version":"2012-10-17","Statement":[
	{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"ec2.amazonaws.com"}}]}`

// createCluster creates this team's own cluster, which the platform observes. Its
// nodes have a role of the team. serviceRole is an existing role of EMR.
func createCluster(ctx *pulumi.Context, platform outputs.Outputs, serviceRole string, provider pulumi.ProviderResource) error {
	with := pulumi.Provider(provider)
	role, err := iam.NewRole(ctx, "nightly-nodes", &iam.RoleArgs{AssumeRolePolicy: pulumi.String(ec2Trust)}, with)
	if err != nil {
		return fmt.Errorf("create role of the nodes: %w", err)
	}
	profile, err := iam.NewInstanceProfile(ctx, "nightly-nodes", &iam.InstanceProfileArgs{Role: role.Name}, with)
	if err != nil {
		return fmt.Errorf("create instance profile: %w", err)
	}
	policy, err := iam.NewRolePolicyAttachment(ctx, "nightly-observed", &iam.RolePolicyAttachmentArgs{
		Role: role.Name, PolicyArn: pulumi.String(platform.Observe.NodePolicyARN),
	}, with)
	if err != nil {
		return fmt.Errorf("attach the platform's policy: %w", err)
	}
	args := &emr.ClusterArgs{
		ReleaseLabel: pulumi.String("emr-7.10.0"), Applications: pulumi.ToStringArray([]string{"Hadoop", "Spark"}),
		ServiceRole: pulumi.String(serviceRole),
		Ec2Attributes: emr.ClusterEc2AttributesArgs{
			InstanceProfile: profile.Arn, SubnetId: pulumi.String(platform.Network.SubnetIDs[0]),
		},
		MasterInstanceGroup:         emr.ClusterMasterInstanceGroupArgs{InstanceType: pulumi.String("m6g.xlarge")},
		CoreInstanceGroup:           emr.ClusterCoreInstanceGroupArgs{InstanceType: pulumi.String("m6g.xlarge"), InstanceCount: pulumi.Int(2)},
		KeepJobFlowAliveWhenNoSteps: pulumi.Bool(true),
		ConfigurationsJson: pulumi.String(
			`[{"Classification":"spark-defaults","Properties":{"spark.driver.defaultJavaOptions":"-Xss8m"}}]`),
	}
	if err := pulumiemr.Into(args, platform.Observe); err != nil {
		return err
	}
	// Without the policy no node can fetch its bootstrap action, and the cluster ends.
	_, err = emr.NewCluster(ctx, "nightly", args, with, pulumi.DependsOn([]pulumi.Resource{policy}))
	if err != nil {
		return fmt.Errorf("create cluster: %w", err)
	}
	return nil
}
