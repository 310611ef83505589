package deployer

import "strings"

// Row is what one resource type or function of the AWS provider needs.
type Row struct {
	Token   string // as the engine names it
	Source  string // file below sourceRoot that makes the calls, to compare the actions with
	Actions []string
}

// sourceRoot holds the provider's resources; pulumi-aws 6.83 wraps this version.
const sourceRoot = "https://github.com/hashicorp/terraform-provider-aws/tree/v5.100.0/internal/service/"

// row lists actions of one service.
func row(token, source, service, actions string) Row {
	r := Row{Token: token, Source: source}
	return r.and(service, actions)
}

// and adds actions of another service.
func (r Row) and(service, actions string) Row {
	for _, a := range strings.Fields(actions) {
		r.Actions = append(r.Actions, service+":"+a)
	}
	return r
}

// Rows returns all resource types and functions, also those of options that no
// stack here sets, with the calls that creating, reading, updating, tagging and
// deleting them make.
func Rows() []Row {
	var rows []Row
	for _, group := range [][]Row{functions(), network(), machines(), cluster(), identity(), encryption(), buckets()} {
		rows = append(rows, group...)
	}
	return rows
}

// functions only read.
func functions() []Row {
	return []Row{
		row("aws:index/getPartition:getPartition", "meta/partition_data_source.go", "", ""),
		row("aws:index/getCallerIdentity:getCallerIdentity", "sts/caller_identity_data_source.go", "sts", "GetCallerIdentity"),
		row("aws:index/getAvailabilityZones:getAvailabilityZones", "ec2/ec2_availability_zones_data_source.go",
			"ec2", "DescribeAvailabilityZones"),
		row("aws:ec2/getPrefixList:getPrefixList", "ec2/vpc_prefix_list_data_source.go", "ec2", "DescribePrefixLists"),
		row("aws:ec2/getSubnet:getSubnet", "ec2/vpc_subnet_data_source.go", "ec2", "DescribeSubnets"),
		row("aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings", "ec2/ec2_instance_type_offerings_data_source.go",
			"ec2", "DescribeInstanceTypeOfferings"),
		row("aws:iam/getRoles:getRoles", "iam/roles_data_source.go", "iam", "ListRoles"),
		row("aws:ssm/getParameter:getParameter", "ssm/parameter_data_source.go", "ssm", "GetParameter"),
	}
}

const tagging = " CreateTags DeleteTags"

func network() []Row {
	const rules = "DescribeSecurityGroupRules ModifySecurityGroupRules"
	return []Row{
		row("aws:ec2/vpc:Vpc", "ec2/vpc_.go", "ec2",
			"CreateVpc DescribeVpcs DescribeVpcAttribute ModifyVpcAttribute DeleteVpc "+
				"DescribeNetworkAcls DescribeRouteTables DescribeSecurityGroups"+tagging),
		row("aws:ec2/subnet:Subnet", "ec2/vpc_subnet.go", "ec2",
			"CreateSubnet DescribeSubnets ModifySubnetAttribute DeleteSubnet DescribeNetworkInterfaces"+tagging),
		row("aws:ec2/tag:Tag", "ec2/ec2_tag.go", "ec2", "DescribeTags"+tagging),
		row("aws:ec2/internetGateway:InternetGateway", "ec2/vpc_internet_gateway.go", "ec2",
			"CreateInternetGateway DescribeInternetGateways AttachInternetGateway DetachInternetGateway DeleteInternetGateway"+tagging),
		row("aws:ec2/eip:Eip", "ec2/ec2_eip.go", "ec2",
			"AllocateAddress DescribeAddresses DescribeAddressesAttribute AssociateAddress DisassociateAddress ReleaseAddress"+tagging),
		row("aws:ec2/eipAssociation:EipAssociation", "ec2/ec2_eip_association.go", "ec2",
			"AssociateAddress DescribeAddresses DisassociateAddress"),
		row("aws:ec2/natGateway:NatGateway", "ec2/vpc_nat_gateway.go", "ec2",
			"CreateNatGateway DescribeNatGateways DeleteNatGateway"+tagging),
		row("aws:ec2/routeTable:RouteTable", "ec2/vpc_route_table.go", "ec2",
			"CreateRouteTable DescribeRouteTables DisassociateRouteTable DeleteRouteTable"+tagging),
		row("aws:ec2/route:Route", "ec2/vpc_route.go", "ec2", "CreateRoute DescribeRouteTables ReplaceRoute DeleteRoute"),
		row("aws:ec2/routeTableAssociation:RouteTableAssociation", "ec2/vpc_route_table_association.go", "ec2",
			"AssociateRouteTable DescribeRouteTables ReplaceRouteTableAssociation DisassociateRouteTable"),
		row("aws:ec2/securityGroup:SecurityGroup", "ec2/vpc_security_group.go", "ec2",
			"CreateSecurityGroup DescribeSecurityGroups AuthorizeSecurityGroupEgress RevokeSecurityGroupIngress "+
				"RevokeSecurityGroupEgress DeleteSecurityGroup DescribeNetworkInterfaces"+tagging),
		row("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "ec2/vpc_default_security_group.go", "ec2",
			"DescribeSecurityGroups RevokeSecurityGroupIngress RevokeSecurityGroupEgress"+tagging),
		row("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", "ec2/vpc_security_group_egress_rule.go", "ec2",
			"AuthorizeSecurityGroupEgress RevokeSecurityGroupEgress "+rules+tagging),
		row("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "ec2/vpc_security_group_ingress_rule.go", "ec2",
			"AuthorizeSecurityGroupIngress RevokeSecurityGroupIngress "+rules+tagging),
		// Interface endpoints associate their private hosted zone.
		row("aws:ec2/vpcEndpoint:VpcEndpoint", "ec2/vpc_endpoint.go", "ec2",
			"CreateVpcEndpoint DescribeVpcEndpoints ModifyVpcEndpoint DeleteVpcEndpoints DescribePrefixLists"+tagging).
			and("route53", "AssociateVPCWithHostedZone"),
		// Delivery to a bucket is registered with CloudWatch Logs (VPC guide, "Publish flow logs to Amazon S3").
		row("aws:ec2/flowLog:FlowLog", "ec2/vpc_flow_log.go", "ec2", "CreateFlowLogs DescribeFlowLogs DeleteFlowLogs"+tagging).
			and("logs", "CreateLogDelivery DeleteLogDelivery").and("s3", "GetBucketPolicy PutBucketPolicy"),
	}
}

func machines() []Row {
	// What EC2 does with the key on the caller's behalf (EBS guide, "Amazon EBS encryption").
	const volumeKey = "CreateGrant Decrypt DescribeKey GenerateDataKeyWithoutPlaintext ReEncryptFrom ReEncryptTo"
	return []Row{
		row("aws:ec2/networkInterface:NetworkInterface", "ec2/vpc_network_interface.go", "ec2",
			"CreateNetworkInterface DescribeNetworkInterfaces ModifyNetworkInterfaceAttribute AttachNetworkInterface "+
				"DetachNetworkInterface DeleteNetworkInterface"+tagging),
		row("aws:ec2/instance:Instance", "ec2/ec2_instance.go", "ec2",
			"RunInstances DescribeInstances DescribeInstanceAttribute DescribeInstanceTypes DescribeInstanceCreditSpecifications "+
				"DescribeImages DescribeTags DescribeVolumes DescribeVpcs ModifyInstanceAttribute ModifyInstanceMetadataOptions "+
				"ModifyInstanceCreditSpecification MonitorInstances UnmonitorInstances StartInstances StopInstances TerminateInstances "+
				"DescribeIamInstanceProfileAssociations AssociateIamInstanceProfile DisassociateIamInstanceProfile "+
				"ReplaceIamInstanceProfileAssociation"+tagging).
			and("iam", "PassRole GetInstanceProfile").and("kms", volumeKey),
		row("aws:ebs/volume:Volume", "ec2/ebs_volume.go", "ec2",
			"CreateVolume DescribeVolumes ModifyVolume DescribeVolumesModifications DeleteVolume"+tagging).and("kms", volumeKey),
		row("aws:ec2/volumeAttachment:VolumeAttachment", "ec2/ebs_volume_attachment.go", "ec2",
			"AttachVolume DescribeVolumes DescribeInstances DetachVolume"),
	}
}

func cluster() []Row {
	const emr = "elasticmapreduce"
	return []Row{
		row("aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration", "emr/block_public_access_configuration.go", emr,
			"GetBlockPublicAccessConfiguration PutBlockPublicAccessConfiguration"),
		row("aws:emr/securityConfiguration:SecurityConfiguration", "emr/security_configuration.go", emr,
			"CreateSecurityConfiguration DescribeSecurityConfiguration DeleteSecurityConfiguration"),
		row("aws:emr/cluster:Cluster", "emr/cluster.go", emr,
			"RunJobFlow DescribeCluster ListBootstrapActions ListInstanceFleets ListInstanceGroups ListInstances ListSteps ModifyCluster "+
				"ModifyInstanceGroups GetAutoTerminationPolicy PutAutoTerminationPolicy RemoveAutoTerminationPolicy SetTerminationProtection "+
				"SetUnhealthyNodeReplacement SetVisibleToAllUsers AddTags RemoveTags TerminateJobFlows").
			and("iam", "PassRole CreateServiceLinkedRole"),
		row("aws:emr/instanceGroup:InstanceGroup", "emr/instance_group.go", emr,
			"AddInstanceGroups DescribeCluster ListInstanceGroups ModifyInstanceGroups"),
	}
}

func identity() []Row {
	return []Row{
		row("aws:iam/role:Role", "iam/role.go", "iam",
			"CreateRole GetRole UpdateRole UpdateRoleDescription UpdateAssumeRolePolicy ListRolePolicies GetRolePolicy ListAttachedRolePolicies "+
				"ListInstanceProfilesForRole RemoveRoleFromInstanceProfile DetachRolePolicy DeleteRolePolicy DeleteRole TagRole UntagRole"),
		row("aws:iam/rolePolicy:RolePolicy", "iam/role_policy.go", "iam", "PutRolePolicy GetRolePolicy DeleteRolePolicy"),
		row("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "iam/role_policy_attachment.go", "iam",
			"AttachRolePolicy ListAttachedRolePolicies DetachRolePolicy"),
		row("aws:iam/instanceProfile:InstanceProfile", "iam/instance_profile.go", "iam",
			"CreateInstanceProfile GetInstanceProfile AddRoleToInstanceProfile RemoveRoleFromInstanceProfile DeleteInstanceProfile "+
				"TagInstanceProfile UntagInstanceProfile GetRole PassRole"),
	}
}

func encryption() []Row {
	return []Row{
		row("aws:kms/key:Key", "kms/key.go", "kms",
			"CreateKey DescribeKey GetKeyPolicy PutKeyPolicy GetKeyRotationStatus EnableKeyRotation DisableKeyRotation EnableKey "+
				"UpdateKeyDescription ListResourceTags TagResource UntagResource ScheduleKeyDeletion"),
		row("aws:kms/alias:Alias", "kms/alias.go", "kms", "CreateAlias ListAliases UpdateAlias DeleteAlias"),
		row("aws:ssm/parameter:Parameter", "ssm/parameter.go", "ssm",
			"PutParameter GetParameter GetParameters DescribeParameters DeleteParameter AddTagsToResource RemoveTagsFromResource "+
				"ListTagsForResource").and("kms", "Encrypt Decrypt"),
	}
}

func buckets() []Row {
	part := func(token, source, actions string) Row { return row("aws:s3/"+token, "s3/"+source, "s3", actions) }
	return []Row{
		part("bucketV2:BucketV2", "bucket.go",
			"CreateBucket ListBucket GetBucketLocation GetAccelerateConfiguration GetBucketAcl GetBucketCORS GetBucketLogging "+
				"GetBucketObjectLockConfiguration GetBucketPolicy GetBucketRequestPayment GetBucketTagging PutBucketTagging GetBucketVersioning "+
				"GetBucketWebsite GetEncryptionConfiguration GetLifecycleConfiguration GetReplicationConfiguration ListBucketVersions "+
				"DeleteObject DeleteObjectVersion DeleteBucket"),
		part("bucketVersioningV2:BucketVersioningV2", "bucket_versioning.go", "GetBucketVersioning PutBucketVersioning"),
		part("bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2",
			"bucket_server_side_encryption_configuration.go", "GetEncryptionConfiguration PutEncryptionConfiguration"),
		part("bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2", "bucket_lifecycle_configuration.go",
			"GetLifecycleConfiguration PutLifecycleConfiguration"),
		part("bucketLoggingV2:BucketLoggingV2", "bucket_logging.go", "GetBucketLogging PutBucketLogging"),
		part("bucketOwnershipControls:BucketOwnershipControls", "bucket_ownership_controls.go",
			"GetBucketOwnershipControls PutBucketOwnershipControls"),
		part("bucketPolicy:BucketPolicy", "bucket_policy.go", "GetBucketPolicy PutBucketPolicy DeleteBucketPolicy"),
		part("bucketPublicAccessBlock:BucketPublicAccessBlock", "bucket_public_access_block.go",
			"GetBucketPublicAccessBlock PutBucketPublicAccessBlock"),
		part("bucketObjectv2:BucketObjectv2", "object.go",
			"PutObject AbortMultipartUpload GetObject GetObjectTagging PutObjectTagging DeleteObject DeleteObjectVersion ListBucketVersions").
			and("kms", "Decrypt GenerateDataKey"),
	}
}
