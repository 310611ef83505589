package catalog

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ebs"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
)

// awsNetwork lists the resource types of VPC, EC2 and EBS.
func awsNetwork() []Type {
	return []Type{
		typ(ec2.VpcArgs{}, ec2.VpcState{}),
		typ(ec2.SubnetArgs{}, ec2.SubnetState{}),
		typ(ec2.RouteTableArgs{}, ec2.RouteTableState{}),
		typ(ec2.RouteArgs{}, ec2.RouteState{}),
		typ(ec2.RouteTableAssociationArgs{}, ec2.RouteTableAssociationState{}),
		typ(ec2.MainRouteTableAssociationArgs{}, ec2.MainRouteTableAssociationState{}),
		typ(ec2.DefaultRouteTableArgs{}, ec2.DefaultRouteTableState{}),
		typ(ec2.InternetGatewayArgs{}, ec2.InternetGatewayState{}),
		typ(ec2.InternetGatewayAttachmentArgs{}, ec2.InternetGatewayAttachmentState{}),
		typ(ec2.NatGatewayArgs{}, ec2.NatGatewayState{}),
		typ(ec2.EipArgs{}, ec2.EipState{}),
		typ(ec2.EipAssociationArgs{}, ec2.EipAssociationState{}),
		typ(ec2.VpcEndpointArgs{}, ec2.VpcEndpointState{}),
		typ(ec2.VpcEndpointRouteTableAssociationArgs{}, ec2.VpcEndpointRouteTableAssociationState{}),
		typ(ec2.VpcEndpointSubnetAssociationArgs{}, ec2.VpcEndpointSubnetAssociationState{}),
		typ(ec2.VpcEndpointPolicyArgs{}, ec2.VpcEndpointPolicyState{}),
		typ(ec2.SecurityGroupArgs{}, ec2.SecurityGroupState{}),
		typ(ec2.SecurityGroupRuleArgs{}, ec2.SecurityGroupRuleState{}),
		typ(ec2.SecurityGroupAssociationArgs{}, ec2.SecurityGroupAssociationState{}),
		typ(ec2.DefaultSecurityGroupArgs{}, ec2.DefaultSecurityGroupState{}),
		typ(ec2.DefaultNetworkAclArgs{}, ec2.DefaultNetworkAclState{}),
		typ(ec2.NetworkAclArgs{}, ec2.NetworkAclState{}),
		typ(ec2.NetworkAclRuleArgs{}, ec2.NetworkAclRuleState{}),
		typ(ec2.VpcDhcpOptionsArgs{}, ec2.VpcDhcpOptionsState{}),
		typ(ec2.VpcDhcpOptionsAssociationArgs{}, ec2.VpcDhcpOptionsAssociationState{}),
		typ(ec2.ManagedPrefixListArgs{}, ec2.ManagedPrefixListState{}),
		typ(ec2.NetworkInterfaceArgs{}, ec2.NetworkInterfaceState{}),
		typ(ec2.NetworkInterfaceAttachmentArgs{}, ec2.NetworkInterfaceAttachmentState{}),
		typ(ec2.InstanceArgs{}, ec2.InstanceState{}),
		typ(ec2.VolumeAttachmentArgs{}, ec2.VolumeAttachmentState{}),
		typ(ec2.KeyPairArgs{}, ec2.KeyPairState{}),
		typ(ec2.LaunchTemplateArgs{}, ec2.LaunchTemplateState{}),
		typ(ec2.PlacementGroupArgs{}, ec2.PlacementGroupState{}),
		typ(ec2.FlowLogArgs{}, ec2.FlowLogState{}),
		typ(ec2.TagArgs{}, ec2.TagState{}),
		typ(vpc.SecurityGroupIngressRuleArgs{}, vpc.SecurityGroupIngressRuleState{}),
		typ(vpc.SecurityGroupEgressRuleArgs{}, vpc.SecurityGroupEgressRuleState{}),
		typ(ebs.VolumeArgs{}, ebs.VolumeState{}),
		typ(ebs.SnapshotArgs{}, ebs.SnapshotState{}),
		typ(ebs.EncryptionByDefaultArgs{}, ebs.EncryptionByDefaultState{}),
		typ(ebs.DefaultKmsKeyArgs{}, ebs.DefaultKmsKeyState{}),
	}
}
