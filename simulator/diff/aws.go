package diff

import (
	"maps"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// awsPolicies covers the AWS package: a field with ForceNew in the schemas of
// terraform-provider-aws v5 (the provider behind pulumi-aws v6) replaces the
// resource. A type that is not listed is always updated in place.
func awsPolicies() map[string]policy {
	out := emrPolicies()
	maps.Copy(out, networkPolicies())
	maps.Copy(out, instancePolicies())
	maps.Copy(out, identityPolicies())
	maps.Copy(out, storagePolicies())
	maps.Copy(out, schedulePolicies())
	maps.Copy(out, lakePolicies())
	return out
}

// emrPolicies covers EMR.
func emrPolicies() map[string]policy {
	return map[string]policy{
		// resourceClusterUpdate applies only these. In bootstrapActions, path and
		// name lack ForceNew and Update ignores them; args has ForceNew.
		"aws:emr/cluster:Cluster": {
			inPlace: []string{
				"visibleToAllUsers", "autoTerminationPolicy", "terminationProtection", "unhealthyNodeReplacement",
				"coreInstanceGroup.instanceCount", "coreInstanceGroup.autoscalingPolicy",
				"stepConcurrencyLevel", "listStepsStates", "tags", "tagsAll",
			},
			neverApplied: []string{"bootstrapActions.*.path", "bootstrapActions.*.name"},
			kept: []string{
				"masterInstanceGroup", "coreInstanceGroup", "masterInstanceFleet", "coreInstanceFleet",
				"masterInstanceGroup.ebsConfigs", "coreInstanceGroup.ebsConfigs",
				"masterInstanceFleet.instanceTypeConfigs.*.ebsConfigs", "coreInstanceFleet.instanceTypeConfigs.*.ebsConfigs",
			},
		},
		"aws:emr/instanceGroup:InstanceGroup": {
			inPlace: []string{"instanceCount", "configurationsJson", "autoscalingPolicy"}, kept: []string{"ebsConfigs"},
		},
		"aws:emr/instanceFleet:InstanceFleet": {
			inPlace: []string{"targetOnDemandCapacity", "targetSpotCapacity"}, kept: []string{"instanceTypeConfigs.*.ebsConfigs"},
		},
		"aws:emr/managedScalingPolicy:ManagedScalingPolicy":   immutable(),
		"aws:emr/securityConfiguration:SecurityConfiguration": immutable(),

		"aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration": immutable(),
	}
}

// networkPolicies covers VPC.
func networkPolicies() map[string]policy {
	return map[string]policy{
		"aws:ec2/vpc:Vpc": replaceOn("cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"),
		"aws:ec2/subnet:Subnet": replaceOn(
			"availabilityZone", "availabilityZoneId", "cidrBlock", "vpcId", "ipv6Native", "outpostArn",
		),
		"aws:ec2/routeTable:RouteTable": replaceOn("vpcId"),
		"aws:ec2/route:Route": replaceOn(
			"routeTableId", "destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId",
		),
		"aws:ec2/routeTableAssociation:RouteTableAssociation": replaceOn("subnetId", "gatewayId"),
		"aws:ec2/natGateway:NatGateway":                       replaceOn("allocationId", "connectivityType", "privateIp", "subnetId"),
		"aws:ec2/eip:Eip":                                     replaceOn("domain", "address", "publicIpv4Pool", "networkBorderGroup"),
		"aws:ec2/eipAssociation:EipAssociation":               immutable(),
		"aws:ec2/vpcEndpoint:VpcEndpoint": replaceOn(
			"serviceName", "vpcId", "vpcEndpointType", "autoAccept", "serviceRegion",
		),
		"aws:ec2/securityGroup:SecurityGroup":               replaceOn("description", "name", "namePrefix", "vpcId"),
		"aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": replaceOn("vpcId"),
	}
}

// instancePolicies covers EC2 instances, what is attached to them, and EBS.
func instancePolicies() map[string]policy {
	return map[string]policy{
		"aws:ec2/networkInterface:NetworkInterface": replaceOn("subnetId", "privateIp", "privateIps", "interfaceType", "ipv6Addresses"),
		"aws:ec2/instance:Instance": {
			replace: []string{
				"ami", "availabilityZone", "subnetId", "privateIp", "keyName", "networkInterfaces", "ephemeralBlockDevices",
				"associatePublicIpAddress", "ebsOptimized", "placementGroup", "tenancy", "hibernation", "cpuOptions", "securityGroups",
				"rootBlockDevice.encrypted", "rootBlockDevice.kmsKeyId", "rootBlockDevice.deviceName",
				"ebsBlockDevices", "launchTemplate", "instanceMarketOptions", "hostResourceGroupArn",
				"ipv6AddressCount", "ipv6Addresses",
			},
			replaceIf: map[string]resource.PropertyKey{
				"userData": "userDataReplaceOnChange", "userDataBase64": "userDataReplaceOnChange",
			},
		},
		"aws:ec2/volumeAttachment:VolumeAttachment": {
			replace: []string{"deviceName", "instanceId", "volumeId"}, deleteFirst: true,
		},
		"aws:ec2/flowLog:FlowLog": updateOnly("tags", "tagsAll"),
		"aws:ec2/tag:Tag":         replaceOn("key", "resourceId"),
		"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": replaceOn("securityGroupId"),
		"aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule":   replaceOn("securityGroupId"),
		"aws:ebs/volume:Volume": replaceOn("availabilityZone", "encrypted", "kmsKeyId", "multiAttachEnabled", "outpostArn", "snapshotId"),
	}
}

// identityPolicies covers IAM and KMS.
func identityPolicies() map[string]policy {
	return map[string]policy{
		"aws:iam/role:Role":                                 replaceOn("name", "namePrefix", "path"),
		"aws:iam/rolePolicy:RolePolicy":                     replaceOn("name", "namePrefix", "role"),
		"aws:iam/rolePolicyAttachment:RolePolicyAttachment": immutable(),
		"aws:iam/policy:Policy":                             replaceOn("name", "namePrefix", "path", "description"),
		"aws:iam/instanceProfile:InstanceProfile":           replaceOn("name", "namePrefix", "path"),
		"aws:kms/key:Key": replaceOn(
			"customerMasterKeySpec", "keyUsage", "multiRegion", "customKeyStoreId", "xksKeyId",
		),
		"aws:kms/alias:Alias": replaceOn("name", "namePrefix"),
	}
}

// storagePolicies covers S3 and SSM.
func storagePolicies() map[string]policy {
	return map[string]policy{
		"aws:s3/bucketV2:BucketV2":                               replaceOn("bucket", "bucketPrefix", "objectLockEnabled"),
		"aws:s3/bucketVersioningV2:BucketVersioningV2":           replaceOn("bucket", "expectedBucketOwner"),
		"aws:s3/bucketLoggingV2:BucketLoggingV2":                 replaceOn("bucket", "expectedBucketOwner"),
		"aws:s3/bucketOwnershipControls:BucketOwnershipControls": replaceOn("bucket"),
		"aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": replaceOn("bucket"),
		"aws:s3/bucketPolicy:BucketPolicy":                       replaceOn("bucket"),
		"aws:s3/bucketObjectv2:BucketObjectv2":                   replaceOn("bucket", "key"),
		"aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2": replaceOn(
			"bucket", "expectedBucketOwner",
		),
		"aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2": replaceOn("bucket", "expectedBucketOwner"),
		"aws:ssm/parameter:Parameter":                                          replaceOn("name", "dataType"),
	}
}

// schedulePolicies covers EventBridge Scheduler and SQS.
func schedulePolicies() map[string]policy {
	return map[string]policy{
		"aws:scheduler/schedule:Schedule":           replaceOn("groupName", "name", "namePrefix"),
		"aws:scheduler/scheduleGroup:ScheduleGroup": replaceOn("name", "namePrefix"),
		"aws:sqs/queue:Queue":                       replaceOn("fifoQueue", "name", "namePrefix"),
	}
}

// lakePolicies covers Glue and Athena.
func lakePolicies() map[string]policy {
	return map[string]policy{
		"aws:glue/catalogDatabase:CatalogDatabase": replaceOn("catalogId", "name"),
		"aws:glue/catalogTable:CatalogTable":       replaceOn("catalogId", "databaseName", "name", "openTableFormatInput", "partitionIndices"),
		"aws:athena/workgroup:Workgroup":           replaceOn("name"),
	}
}
