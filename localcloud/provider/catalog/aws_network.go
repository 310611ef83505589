package catalog

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ebs"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
)

// awsNetwork gives the resource types of the network and compute.
func awsNetwork() map[string]Type {
	return map[string]Type{
		"aws:ec2/vpc:Vpc":                                                           typ(ec2.VpcArgs{}, ec2.VpcState{}),
		"aws:ec2/subnet:Subnet":                                                     typ(ec2.SubnetArgs{}, ec2.SubnetState{}),
		"aws:ec2/routeTable:RouteTable":                                             typ(ec2.RouteTableArgs{}, ec2.RouteTableState{}),
		"aws:ec2/route:Route":                                                       typ(ec2.RouteArgs{}, ec2.RouteState{}),
		"aws:ec2/routeTableAssociation:RouteTableAssociation":                       typ(ec2.RouteTableAssociationArgs{}, ec2.RouteTableAssociationState{}),
		"aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation":               typ(ec2.MainRouteTableAssociationArgs{}, ec2.MainRouteTableAssociationState{}),
		"aws:ec2/defaultRouteTable:DefaultRouteTable":                               typ(ec2.DefaultRouteTableArgs{}, ec2.DefaultRouteTableState{}),
		"aws:ec2/internetGateway:InternetGateway":                                   typ(ec2.InternetGatewayArgs{}, ec2.InternetGatewayState{}),
		"aws:ec2/internetGatewayAttachment:InternetGatewayAttachment":               typ(ec2.InternetGatewayAttachmentArgs{}, ec2.InternetGatewayAttachmentState{}),
		"aws:ec2/natGateway:NatGateway":                                             typ(ec2.NatGatewayArgs{}, ec2.NatGatewayState{}),
		"aws:ec2/eip:Eip":                                                           typ(ec2.EipArgs{}, ec2.EipState{}),
		"aws:ec2/eipAssociation:EipAssociation":                                     typ(ec2.EipAssociationArgs{}, ec2.EipAssociationState{}),
		"aws:ec2/vpcEndpoint:VpcEndpoint":                                           typ(ec2.VpcEndpointArgs{}, ec2.VpcEndpointState{}),
		"aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation": typ(ec2.VpcEndpointRouteTableAssociationArgs{}, ec2.VpcEndpointRouteTableAssociationState{}),
		"aws:ec2/vpcEndpointSubnetAssociation:VpcEndpointSubnetAssociation":         typ(ec2.VpcEndpointSubnetAssociationArgs{}, ec2.VpcEndpointSubnetAssociationState{}),
		"aws:ec2/vpcEndpointPolicy:VpcEndpointPolicy":                               typ(ec2.VpcEndpointPolicyArgs{}, ec2.VpcEndpointPolicyState{}),
		"aws:ec2/securityGroup:SecurityGroup":                                       typ(ec2.SecurityGroupArgs{}, ec2.SecurityGroupState{}),
		"aws:ec2/securityGroupRule:SecurityGroupRule":                               typ(ec2.SecurityGroupRuleArgs{}, ec2.SecurityGroupRuleState{}),
		"aws:ec2/securityGroupAssociation:SecurityGroupAssociation":                 typ(ec2.SecurityGroupAssociationArgs{}, ec2.SecurityGroupAssociationState{}),
		"aws:ec2/defaultSecurityGroup:DefaultSecurityGroup":                         typ(ec2.DefaultSecurityGroupArgs{}, ec2.DefaultSecurityGroupState{}),
		"aws:ec2/defaultNetworkAcl:DefaultNetworkAcl":                               typ(ec2.DefaultNetworkAclArgs{}, ec2.DefaultNetworkAclState{}),
		"aws:ec2/networkAcl:NetworkAcl":                                             typ(ec2.NetworkAclArgs{}, ec2.NetworkAclState{}),
		"aws:ec2/networkAclRule:NetworkAclRule":                                     typ(ec2.NetworkAclRuleArgs{}, ec2.NetworkAclRuleState{}),
		"aws:ec2/vpcDhcpOptions:VpcDhcpOptions":                                     typ(ec2.VpcDhcpOptionsArgs{}, ec2.VpcDhcpOptionsState{}),
		"aws:ec2/vpcDhcpOptionsAssociation:VpcDhcpOptionsAssociation":               typ(ec2.VpcDhcpOptionsAssociationArgs{}, ec2.VpcDhcpOptionsAssociationState{}),
		"aws:ec2/managedPrefixList:ManagedPrefixList":                               typ(ec2.ManagedPrefixListArgs{}, ec2.ManagedPrefixListState{}),
		"aws:ec2/networkInterface:NetworkInterface":                                 typ(ec2.NetworkInterfaceArgs{}, ec2.NetworkInterfaceState{}),
		"aws:ec2/networkInterfaceAttachment:NetworkInterfaceAttachment":             typ(ec2.NetworkInterfaceAttachmentArgs{}, ec2.NetworkInterfaceAttachmentState{}),
		"aws:ec2/instance:Instance":                                                 typ(ec2.InstanceArgs{}, ec2.InstanceState{}),
		"aws:ec2/volumeAttachment:VolumeAttachment":                                 typ(ec2.VolumeAttachmentArgs{}, ec2.VolumeAttachmentState{}),
		"aws:ec2/keyPair:KeyPair":                                                   typ(ec2.KeyPairArgs{}, ec2.KeyPairState{}),
		"aws:ec2/launchTemplate:LaunchTemplate":                                     typ(ec2.LaunchTemplateArgs{}, ec2.LaunchTemplateState{}),
		"aws:ec2/placementGroup:PlacementGroup":                                     typ(ec2.PlacementGroupArgs{}, ec2.PlacementGroupState{}),
		"aws:ec2/flowLog:FlowLog":                                                   typ(ec2.FlowLogArgs{}, ec2.FlowLogState{}),
		"aws:ec2/tag:Tag":                                                           typ(ec2.TagArgs{}, ec2.TagState{}),
		"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule":                 typ(vpc.SecurityGroupIngressRuleArgs{}, vpc.SecurityGroupIngressRuleState{}),
		"aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule":                   typ(vpc.SecurityGroupEgressRuleArgs{}, vpc.SecurityGroupEgressRuleState{}),
		"aws:ebs/volume:Volume":                                                     typ(ebs.VolumeArgs{}, ebs.VolumeState{}),
		"aws:ebs/snapshot:Snapshot":                                                 typ(ebs.SnapshotArgs{}, ebs.SnapshotState{}),
		"aws:ebs/encryptionByDefault:EncryptionByDefault":                           typ(ebs.EncryptionByDefaultArgs{}, ebs.EncryptionByDefaultState{}),
		"aws:ebs/defaultKmsKey:DefaultKmsKey":                                       typ(ebs.DefaultKmsKeyArgs{}, ebs.DefaultKmsKeyState{}),
	}
}
