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
