package catalog

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/athena"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ebs"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/emr"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/glue"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/scheduler"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/sqs"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ssm"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi-tls/sdk/v5/go/tls"
	"github.com/pulumiverse/pulumi-grafana/sdk/v2/go/grafana/oss"
)

// awsNetwork lists the resource types of VPC, EC2 and EBS.
func awsNetwork() []Type {
	return []Type{
		typ(ec2.VpcArgs{}, ec2.VpcState{}),
		typ(ec2.SubnetArgs{}, ec2.SubnetState{}),
		typ(ec2.RouteTableArgs{}, ec2.RouteTableState{}),
		typ(ec2.RouteArgs{}, ec2.RouteState{}),
		typ(ec2.RouteTableAssociationArgs{}, ec2.RouteTableAssociationState{}),
		typ(ec2.InternetGatewayArgs{}, ec2.InternetGatewayState{}),
		typ(ec2.NatGatewayArgs{}, ec2.NatGatewayState{}),
		typ(ec2.EipArgs{}, ec2.EipState{}),
		typ(ec2.EipAssociationArgs{}, ec2.EipAssociationState{}),
		typ(ec2.VpcEndpointArgs{}, ec2.VpcEndpointState{}),
		typ(ec2.SecurityGroupArgs{}, ec2.SecurityGroupState{}),
		typ(ec2.DefaultSecurityGroupArgs{}, ec2.DefaultSecurityGroupState{}),
		typ(ec2.NetworkInterfaceArgs{}, ec2.NetworkInterfaceState{}),
		typ(ec2.InstanceArgs{}, ec2.InstanceState{}),
		typ(ec2.VolumeAttachmentArgs{}, ec2.VolumeAttachmentState{}),
		typ(ec2.FlowLogArgs{}, ec2.FlowLogState{}),
		typ(ec2.TagArgs{}, ec2.TagState{}),
		typ(vpc.SecurityGroupIngressRuleArgs{}, vpc.SecurityGroupIngressRuleState{}),
		typ(vpc.SecurityGroupEgressRuleArgs{}, vpc.SecurityGroupEgressRuleState{}),
		typ(ebs.VolumeArgs{}, ebs.VolumeState{}),
	}
}

// awsEMR lists the resource types of EMR and of the identities and keys it needs.
func awsEMR() []Type {
	return []Type{
		typ(emr.ClusterArgs{}, emr.ClusterState{}),
		typ(emr.InstanceGroupArgs{}, emr.InstanceGroupState{}),
		typ(emr.InstanceFleetArgs{}, emr.InstanceFleetState{}),
		typ(emr.ManagedScalingPolicyArgs{}, emr.ManagedScalingPolicyState{}, "computeLimits"),
		typ(emr.SecurityConfigurationArgs{}, emr.SecurityConfigurationState{}),
		typ(emr.BlockPublicAccessConfigurationArgs{}, emr.BlockPublicAccessConfigurationState{}),
		typ(iam.RoleArgs{}, iam.RoleState{}, "assumeRolePolicy"),
		typ(iam.RolePolicyArgs{}, iam.RolePolicyState{}, "policy", "role"),
		typ(iam.RolePolicyAttachmentArgs{}, iam.RolePolicyAttachmentState{}, "role"),
		typ(iam.PolicyArgs{}, iam.PolicyState{}, "policy"),
		typ(iam.InstanceProfileArgs{}, iam.InstanceProfileState{}),
		typ(kms.KeyArgs{}, kms.KeyState{}),
		typ(kms.AliasArgs{}, kms.AliasState{}),
	}
}

// awsStorage lists the resource types of S3 and SSM.
func awsStorage() []Type {
	return []Type{
		typ(s3.BucketV2Args{}, s3.BucketV2State{}),
		typ(s3.BucketVersioningV2Args{}, s3.BucketVersioningV2State{}),
		typ(s3.BucketServerSideEncryptionConfigurationV2Args{}, s3.BucketServerSideEncryptionConfigurationV2State{}, "rules"),
		typ(s3.BucketLifecycleConfigurationV2Args{}, s3.BucketLifecycleConfigurationV2State{}),
		typ(s3.BucketLoggingV2Args{}, s3.BucketLoggingV2State{}),
		typ(s3.BucketOwnershipControlsArgs{}, s3.BucketOwnershipControlsState{}),
		typ(s3.BucketPublicAccessBlockArgs{}, s3.BucketPublicAccessBlockState{}),
		typ(s3.BucketPolicyArgs{}, s3.BucketPolicyState{}, "policy"),
		typ(s3.BucketObjectv2Args{}, s3.BucketObjectv2State{}, "bucket"),
		typ(ssm.ParameterArgs{}, ssm.ParameterState{}),
	}
}

// awsSchedules lists the resource types of EventBridge Scheduler and SQS.
func awsSchedules() []Type {
	return []Type{
		typ(scheduler.ScheduleArgs{}, scheduler.ScheduleState{}),
		typ(scheduler.ScheduleGroupArgs{}, scheduler.ScheduleGroupState{}),
		typ(sqs.QueueArgs{}, sqs.QueueState{}),
	}
}

// awsLake lists the resource types of Glue and Athena.
func awsLake() []Type {
	return []Type{
		typ(glue.CatalogDatabaseArgs{}, glue.CatalogDatabaseState{}),
		typ(glue.CatalogTableArgs{}, glue.CatalogTableState{}),
		typ(athena.WorkgroupArgs{}, athena.WorkgroupState{}),
	}
}

// awsFunctions lists the functions of the aws package.
func awsFunctions() []Function {
	return []Function{
		function[aws.GetCallerIdentityArgs, aws.GetCallerIdentityResult](),
		function[aws.GetAvailabilityZonesArgs, aws.GetAvailabilityZonesResult](),
		function[aws.GetPartitionArgs, aws.GetPartitionResult](),
		function[ec2.GetInstanceTypeOfferingsArgs, ec2.GetInstanceTypeOfferingsResult](),
		function[ec2.LookupVpcArgs, ec2.LookupVpcResult](),
		function[ec2.LookupVpcDhcpOptionsArgs, ec2.LookupVpcDhcpOptionsResult](),
		function[ec2.LookupSubnetArgs, ec2.LookupSubnetResult](),
		function[ec2.LookupRouteTableArgs, ec2.LookupRouteTableResult](),
		function[ec2.GetPrefixListArgs, ec2.GetPrefixListResult](),
		function[s3.GetObjectArgs, s3.GetObjectResult](),
		function[iam.GetRolesArgs, iam.GetRolesResult](),
		function[iam.LookupInstanceProfileArgs, iam.LookupInstanceProfileResult](),
		function[ssm.LookupParameterArgs, ssm.LookupParameterResult](),
	}
}

// kubernetesKinds lists the kinds of Kubernetes objects by token.
func kubernetesKinds() map[string]Type {
	return map[string]Type{
		"kubernetes:core/v1:Namespace":                  typ(corev1.NamespaceArgs{}, nil),
		"kubernetes:core/v1:ConfigMap":                  typ(corev1.ConfigMapArgs{}, nil),
		"kubernetes:core/v1:Secret":                     typ(corev1.SecretArgs{}, nil),
		"kubernetes:core/v1:Service":                    typ(corev1.ServiceArgs{}, nil),
		"kubernetes:core/v1:ServiceAccount":             typ(corev1.ServiceAccountArgs{}, nil),
		"kubernetes:core/v1:PersistentVolumeClaim":      typ(corev1.PersistentVolumeClaimArgs{}, nil),
		"kubernetes:apps/v1:Deployment":                 typ(appsv1.DeploymentArgs{}, nil),
		"kubernetes:apps/v1:DaemonSet":                  typ(appsv1.DaemonSetArgs{}, nil),
		"kubernetes:networking.k8s.io/v1:NetworkPolicy": typ(networkingv1.NetworkPolicyArgs{}, nil),
	}
}

// otherTypes lists the resource types of the other packages, by package. Grafana's are
// those of the open-source server.
func otherTypes() map[string]map[string]Type {
	return map[string]map[string]Type{
		"grafana": byToken("grafana", []Type{
			typ(oss.DashboardArgs{}, oss.DashboardState{}),
			typ(oss.DataSourceArgs{}, oss.DataSourceState{}),
			typ(oss.FolderArgs{}, oss.FolderState{}),
		}),
		"tls": byToken("tls", []Type{
			typ(tls.PrivateKeyArgs{}, tls.PrivateKeyState{}),
			typ(tls.SelfSignedCertArgs{}, tls.SelfSignedCertState{}, "allowedUses"),
			typ(tls.CertRequestArgs{}, tls.CertRequestState{}),
			typ(tls.LocallySignedCertArgs{}, tls.LocallySignedCertState{}, "allowedUses"),
		}),
		"random": byToken("random", []Type{
			typ(random.RandomPasswordArgs{}, random.RandomPasswordState{}),
			typ(random.RandomIdArgs{}, random.RandomIdState{}),
		}),
		"command": {"command:local:Command": typ(local.CommandArgs{}, nil)},
	}
}
