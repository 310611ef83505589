package deployer

import (
	"slices"
	"strings"
)

// Row is what one resource type or function of the AWS provider needs.
type Row struct {
	Token  string // as the engine names it
	Source string // file below sourceRoot with the functions that make the calls
	Calls  []string
	Needs  []Need
}

// Need lists actions that AWS asks for besides the call's own.
type Need struct {
	Actions []string
	Source  string // page of AWS's documentation
}

// Actions returns all actions of the row.
func (r Row) Actions() []string {
	all := slices.Clone(r.Calls)
	for _, n := range r.Needs {
		all = append(all, n.Actions...)
	}
	return all
}

// sourceRoot holds the provider's resources; pulumi-aws 6.83 wraps this version.
const sourceRoot = "https://github.com/hashicorp/terraform-provider-aws/tree/v5.100.0/internal/service/"

// authorization is the reference that names a call's dependent actions.
const authorization = "Service Authorization Reference, "

// row lists the actions of a source file's calls, all of one service.
func row(token, source, service, calls string) Row {
	return Row{Token: token, Source: source, Calls: actions(service, calls)}
}

// needs adds what AWS asks for besides the calls.
func (r Row) needs(source, service, names string) Row {
	r.Needs = append(r.Needs, Need{actions(service, names), source})
	return r
}

func actions(service, names string) []string {
	var out []string
	for _, name := range strings.Fields(names) {
		out = append(out, service+":"+name)
	}
	return out
}

// Rows returns all resource types and functions, also those of options that no
// stack here sets, with the calls that creating, reading, updating, tagging and
// deleting them make: those that the provider reaches with the arguments that the
// components set. They were compared with the provider's versions 5.82 and 6.48.
// What only the later one calls came with 6: its changelog names endpoints of
// GuardDuty (#46953) and a bucket's tags through S3 Control (#45251).
//
// An action has the name that IAM gives it, which is not always the call's:
// HeadObject needs s3:GetObject, DeletePublicAccessBlock s3:PutBucketPublicAccessBlock.
func Rows() []Row {
	var rows []Row
	for _, group := range [][]Row{functions(), network(), machines(), cluster(), schedules(), lake(), identity(), encryption(), buckets()} {
		rows = append(rows, group...)
	}
	return rows
}

// functions lists the AWS provider's functions that the program invokes, with the file
// that implements each and the API operation that it calls. All of them only read.
func functions() []Row {
	return []Row{
		row("aws:index/getPartition:getPartition", "meta/partition_data_source.go", "", ""),
		row("aws:index/getCallerIdentity:getCallerIdentity", "sts/caller_identity_data_source.go", "sts", "GetCallerIdentity"),
		row("aws:index/getAvailabilityZones:getAvailabilityZones", "ec2/ec2_availability_zones_data_source.go",
			"ec2", "DescribeAvailabilityZones"),
		row("aws:ec2/getPrefixList:getPrefixList", "ec2/vpc_prefix_list_data_source.go", "ec2", "DescribePrefixLists"),
		row("aws:ec2/getVpc:getVpc", "ec2/vpc_data_source.go", "ec2", "DescribeVpcs DescribeVpcAttribute DescribeRouteTables"),
		row("aws:ec2/getVpcDhcpOptions:getVpcDhcpOptions", "ec2/vpc_dhcp_options_data_source.go", "ec2", "DescribeDhcpOptions"),
		row("aws:ec2/getSubnet:getSubnet", "ec2/vpc_subnet_data_source.go", "ec2", "DescribeSubnets"),
		row("aws:ec2/getRouteTable:getRouteTable", "ec2/vpc_route_table_data_source.go", "ec2", "DescribeRouteTables"),
		row("aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings", "ec2/ec2_instance_type_offerings_data_source.go",
			"ec2", "DescribeInstanceTypeOfferings"),
		row("aws:s3/getObject:getObject", "s3/object_data_source.go", "s3", "GetObject GetObjectVersion GetObjectTagging").
			needs("S3 User Guide, Protecting data with SSE-KMS", "kms", "Decrypt"),
		row("aws:iam/getInstanceProfile:getInstanceProfile", "iam/instance_profile_data_source.go", "iam", "GetInstanceProfile"),
		row("aws:iam/getRoles:getRoles", "iam/roles_data_source.go", "iam", "ListRoles"),
		row("aws:ssm/getParameter:getParameter", "ssm/parameter_data_source.go", "ssm", "GetParameter"),
	}
}

const tagging = " CreateTags DeleteTags"

func network() []Row {
	const rules = "DescribeSecurityGroupRules ModifySecurityGroupRules"
	const delivery = "VPC User Guide, Publish flow logs to Amazon S3"
	return []Row{
		row("aws:ec2/vpc:Vpc", "ec2/vpc_.go", "ec2",
			"CreateVpc DescribeVpcs DescribeVpcAttribute ModifyVpcAttribute DeleteVpc "+
				"DescribeNetworkAcls DescribeRouteTables DescribeSecurityGroups"+tagging),
		row("aws:ec2/subnet:Subnet", "ec2/vpc_subnet.go", "ec2",
			"CreateSubnet DescribeSubnets ModifySubnetAttribute DeleteSubnet DescribeNetworkInterfaces"+tagging),
		row("aws:ec2/tag:Tag", "ec2/tag_gen.go", "ec2", "DescribeTags"+tagging),
		row("aws:ec2/internetGateway:InternetGateway", "ec2/vpc_internet_gateway.go", "ec2",
			"CreateInternetGateway DescribeInternetGateways AttachInternetGateway DetachInternetGateway DeleteInternetGateway"+tagging),
		row("aws:ec2/eip:Eip", "ec2/ec2_eip.go", "ec2",
			"AllocateAddress DescribeAddresses DescribeAddressesAttribute DisassociateAddress ReleaseAddress"+tagging),
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
			"CreateSecurityGroup DescribeSecurityGroups DescribeSecurityGroupRules RevokeSecurityGroupIngress "+
				"RevokeSecurityGroupEgress DeleteSecurityGroup DescribeNetworkInterfaces"+tagging),
		row("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "ec2/vpc_default_security_group.go", "ec2",
			"DescribeSecurityGroups DescribeSecurityGroupRules RevokeSecurityGroupIngress RevokeSecurityGroupEgress"+tagging),
		row("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", "ec2/vpc_security_group_egress_rule.go", "ec2",
			"AuthorizeSecurityGroupEgress RevokeSecurityGroupEgress "+rules+tagging),
		row("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "ec2/vpc_security_group_ingress_rule.go", "ec2",
			"AuthorizeSecurityGroupIngress RevokeSecurityGroupIngress "+rules+tagging),
		row("aws:ec2/vpcEndpoint:VpcEndpoint", "ec2/vpc_endpoint.go", "ec2",
			"CreateVpcEndpoint DescribeVpcEndpoints ModifyVpcEndpoint DeleteVpcEndpoints DescribePrefixLists DescribeNetworkInterfaces"+tagging).
			needs(authorization+"CreateVpcEndpoint", "ec2", "DescribeSecurityGroups DescribeSubnets DescribeVpcs").
			needs(authorization+"CreateVpcEndpoint", "route53", "AssociateVPCWithHostedZone"),
		row("aws:ec2/flowLog:FlowLog", "ec2/vpc_flow_log.go", "ec2", "CreateFlowLogs DescribeFlowLogs DeleteFlowLogs"+tagging).
			needs(delivery, "logs", "CreateLogDelivery DeleteLogDelivery").needs(delivery, "s3", "GetBucketPolicy PutBucketPolicy"),
	}
}

func machines() []Row {
	const volumeKey = "CreateGrant Decrypt DescribeKey GenerateDataKeyWithoutPlaintext ReEncryptFrom ReEncryptTo"
	const ebs = "EBS User Guide, Requirements for Amazon EBS encryption"
	return []Row{
		row("aws:ec2/networkInterface:NetworkInterface", "ec2/vpc_network_interface.go", "ec2",
			"CreateNetworkInterface DescribeNetworkInterfaces ModifyNetworkInterfaceAttribute DetachNetworkInterface "+
				"DeleteNetworkInterface"+tagging),
		row("aws:ec2/instance:Instance", "ec2/ec2_instance.go", "ec2",
			"RunInstances DescribeInstances DescribeInstanceAttribute DescribeInstanceTypes DescribeInstanceCreditSpecifications "+
				"DescribeImages DescribeTags DescribeVolumes DescribeVolumesModifications DescribeVpcs ModifyVolume ModifyInstanceAttribute "+
				"ModifyInstanceMetadataOptions MonitorInstances StartInstances StopInstances TerminateInstances "+
				"DescribeIamInstanceProfileAssociations AssociateIamInstanceProfile DisassociateIamInstanceProfile "+
				"ReplaceIamInstanceProfileAssociation"+tagging).
			needs(authorization+"RunInstances", "iam", "PassRole").needs(ebs, "kms", volumeKey),
		row("aws:ebs/volume:Volume", "ec2/ebs_volume.go", "ec2",
			"CreateVolume DescribeVolumes ModifyVolume DeleteVolume"+tagging).needs(ebs, "kms", volumeKey),
		row("aws:ec2/volumeAttachment:VolumeAttachment", "ec2/ebs_volume_attachment.go", "ec2",
			"AttachVolume DescribeVolumes DescribeInstances StopInstances DetachVolume").needs(ebs, "kms", volumeKey),
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
			"RunJobFlow DescribeCluster ListBootstrapActions ListInstanceFleets ListInstanceGroups ListSteps ModifyCluster "+
				"ModifyInstanceGroups PutAutoScalingPolicy RemoveAutoScalingPolicy "+
				"GetAutoTerminationPolicy PutAutoTerminationPolicy RemoveAutoTerminationPolicy SetTerminationProtection "+
				"SetUnhealthyNodeReplacement SetVisibleToAllUsers AddTags RemoveTags TerminateJobFlows").
			needs(authorization+"RunJobFlow", "iam", "PassRole").
			needs("EMR Management Guide, Using service-linked roles for Amazon EMR for cleanup", "iam", "CreateServiceLinkedRole"),
		row("aws:emr/instanceGroup:InstanceGroup", "emr/instance_group.go", emr,
			"AddInstanceGroups ListInstanceGroups ModifyInstanceGroups PutAutoScalingPolicy"),
		row("aws:emr/instanceFleet:InstanceFleet", "emr/instance_fleet.go", emr,
			"AddInstanceFleet ListInstanceFleets ModifyInstanceFleet"),
		row("aws:emr/managedScalingPolicy:ManagedScalingPolicy", "emr/managed_scaling_policy.go", emr,
			"PutManagedScalingPolicy GetManagedScalingPolicy RemoveManagedScalingPolicy"),
	}
}

func schedules() []Row {
	return []Row{
		row("aws:scheduler/schedule:Schedule", "scheduler/schedule.go", "scheduler", "CreateSchedule GetSchedule UpdateSchedule DeleteSchedule").
			needs(authorization+"CreateSchedule", "iam", "PassRole"),
		row("aws:scheduler/scheduleGroup:ScheduleGroup", "scheduler/schedule_group.go", "scheduler",
			"CreateScheduleGroup GetScheduleGroup DeleteScheduleGroup ListTagsForResource TagResource UntagResource"),
		row("aws:sqs/queue:Queue", "sqs/queue.go", "sqs",
			"CreateQueue GetQueueAttributes SetQueueAttributes DeleteQueue ListQueueTags TagQueue UntagQueue"),
	}
}

func lake() []Row {
	return []Row{
		row("aws:glue/catalogDatabase:CatalogDatabase", "glue/catalog_database.go", "glue",
			"CreateDatabase GetDatabase UpdateDatabase DeleteDatabase GetTags TagResource UntagResource"),
		row("aws:glue/catalogTable:CatalogTable", "glue/catalog_table.go", "glue",
			"CreateTable GetTable UpdateTable DeleteTable GetPartitionIndexes"),
		row("aws:athena/workgroup:Workgroup", "athena/workgroup.go", "athena",
			"CreateWorkGroup GetWorkGroup UpdateWorkGroup DeleteWorkGroup ListTagsForResource TagResource UntagResource"),
	}
}

func identity() []Row {
	return []Row{
		row("aws:iam/role:Role", "iam/role.go", "iam",
			"CreateRole GetRole UpdateRole UpdateRoleDescription UpdateAssumeRolePolicy PutRolePermissionsBoundary "+
				"DeleteRolePermissionsBoundary ListRolePolicies GetRolePolicy ListAttachedRolePolicies "+
				"ListInstanceProfilesForRole RemoveRoleFromInstanceProfile DetachRolePolicy DeleteRolePolicy DeleteRole TagRole UntagRole"),
		row("aws:iam/rolePolicy:RolePolicy", "iam/role_policy.go", "iam", "PutRolePolicy GetRolePolicy DeleteRolePolicy"),
		row("aws:iam/policy:Policy", "iam/policy.go", "iam",
			"CreatePolicy GetPolicy GetPolicyVersion ListPolicyVersions CreatePolicyVersion DeletePolicyVersion DeletePolicy TagPolicy UntagPolicy"),
		row("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "iam/role_policy_attachment.go", "iam",
			"AttachRolePolicy ListAttachedRolePolicies DetachRolePolicy"),
		row("aws:iam/instanceProfile:InstanceProfile", "iam/instance_profile.go", "iam",
			"CreateInstanceProfile GetInstanceProfile AddRoleToInstanceProfile RemoveRoleFromInstanceProfile DeleteInstanceProfile "+
				"TagInstanceProfile UntagInstanceProfile GetRole").
			needs(authorization+"AddRoleToInstanceProfile", "iam", "PassRole"),
	}
}

func encryption() []Row {
	return []Row{
		row("aws:kms/key:Key", "kms/key.go", "kms",
			"CreateKey DescribeKey GetKeyPolicy PutKeyPolicy GetKeyRotationStatus EnableKeyRotation EnableKey "+
				"UpdateKeyDescription ListResourceTags TagResource UntagResource ScheduleKeyDeletion"),
		row("aws:kms/alias:Alias", "kms/alias.go", "kms", "CreateAlias ListAliases UpdateAlias DeleteAlias"),
		row("aws:ssm/parameter:Parameter", "ssm/parameter.go", "ssm",
			"PutParameter GetParameter DescribeParameters DeleteParameter AddTagsToResource RemoveTagsFromResource ListTagsForResource").
			needs("Systems Manager User Guide, AWS KMS encryption for Parameter Store SecureString parameters", "kms", "Encrypt Decrypt"),
	}
}

func buckets() []Row {
	part := func(token, source, actions string) Row { return row("aws:s3/"+token, "s3/"+source, "s3", actions) }
	return []Row{
		part("bucketV2:BucketV2", "bucket.go",
			"CreateBucket ListBucket GetAccelerateConfiguration GetBucketAcl GetBucketCORS GetBucketLogging "+
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
			"PutObject AbortMultipartUpload GetObject GetObjectTagging PutObjectTagging").
			needs("S3 API Reference, HeadObject: 404 for a lost object", "s3", "ListBucket").
			needs("S3 User Guide, Using server-side encryption with AWS KMS keys", "kms", "Decrypt GenerateDataKey"),
	}
}
