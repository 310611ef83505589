package localcloud

import "slices"

// Coverage maps each resource type that the local cloud knows to what of it is only
// recorded, in words; nothing if all of it is real.
func Coverage() map[string][]string {
	out := recordedTypes()
	partly := recordedParts()
	for token := range new(cloud).handlers() {
		out[token] = partly[token]
	}
	return out
}

// RecordedOnly lists, each once, what the local cloud neither runs nor enforces.
func RecordedOnly() []string {
	all := []string{
		"CloudWatch: no service reports metrics to it, so YACE does not run",
		// See yarnSite in package hadoop.
		"YARN: a container that takes more memory than it asked for is not ended",
	}
	for _, parts := range Coverage() {
		all = append(all, parts...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// recordedTypes are the types without a handler.
func recordedTypes() map[string][]string {
	out := map[string][]string{}
	for what, tokens := range map[string][]string{
		"KMS: keys encrypt nothing": {"aws:kms/key:Key", "aws:kms/alias:Alias"},
		groupsInside: {
			"aws:ec2/securityGroup:SecurityGroup", "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
			"aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
		},
		oneNetwork: {
			"aws:ec2/routeTable:RouteTable", "aws:ec2/internetGateway:InternetGateway", "aws:ec2/natGateway:NatGateway",
			"aws:ec2/vpcEndpoint:VpcEndpoint",
		},
		"VPC: no flow log is written":   {"aws:ec2/flowLog:FlowLog"},
		"VPC: tags of existing subnets": {"aws:ec2/tag:Tag"},
		"EMR: security configurations encrypt nothing, ask nobody for a ticket and give steps no role": {
			"aws:emr/securityConfiguration:SecurityConfiguration",
		},
		"EMR: public clusters are not blocked": {
			"aws:emr/blockPublicAccessConfiguration:BlockPublicAccessConfiguration",
		},
		"S3: bucket policies, public access blocks and ownership rules admit everything": {
			"aws:s3/bucketPolicy:BucketPolicy", "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
			"aws:s3/bucketOwnershipControls:BucketOwnershipControls",
		},
		"S3: lifecycle rules expire nothing": {"aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2"},
		"S3: objects have no versions, are not encrypted and are not logged": {
			"aws:s3/bucketVersioningV2:BucketVersioningV2", "aws:s3/bucketLoggingV2:BucketLoggingV2",
			"aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2",
		},
		"Kubernetes: network policies admit everything":       {"kubernetes:networking.k8s.io/v1:NetworkPolicy"},
		"Kubernetes: namespaces enforce no security standard": {"kubernetes:core/v1:Namespace"},
		"Kubernetes: service accounts":                        {"kubernetes:core/v1:ServiceAccount"},
		"EventBridge Scheduler: groups":                       {"aws:scheduler/scheduleGroup:ScheduleGroup"},
		"Glue and Athena: tables are declared, and nothing runs queries": {
			"aws:glue/catalogDatabase:CatalogDatabase", "aws:glue/catalogTable:CatalogTable", "aws:athena/workgroup:Workgroup",
		},
		grafanaServer: {
			"grafana:oss/dashboard:Dashboard", "grafana:oss/dataSource:DataSource", "grafana:oss/folder:Folder",
		},
	} {
		for _, token := range tokens {
			out[token] = append(out[token], what)
		}
	}
	return out
}

// What several types leave out.
const (
	grafanaServer = "Grafana: its server runs only if `grafana` is on PATH; `observatory dashboards check` runs the queries of its dashboards"
	iamOutsideS3  = "IAM: decides in S3 only, and not by AWS's own managed policies"
	groupsInside  = "VPC: security groups decide who reaches an Elastic IP, and nothing else"
	spotMarket    = "EMR: spot instances, which nothing interrupts; a fleet has nodes of its first instance type only"
	oneMachine    = "EMR: instance types, EBS volumes and images of nodes; releases differ in name only"
	onePrimary    = "EMR: several primary nodes"
	sparkUIsOnly  = "EMR: application user interfaces of Tez, of YARN's timeline server and of MapReduce's job history"
	oneNetwork    = "VPC: all machines share one network, without route tables between them, NAT and endpoints"
)

// recordedParts are the parts of types with a handler that the handler leaves out.
func recordedParts() map[string][]string {
	pods := []string{
		"Kubernetes: K3s does not run: its API is a stand-in, and pods are processes of the servers' own builds",
		"Kubernetes: limits of memory and CPU, and of pods' security contexts all but user and group",
		grafanaServer,
	}
	out := map[string][]string{
		"aws:iam/role:Role":                                         {iamOutsideS3},
		"aws:iam/rolePolicy:RolePolicy":                             {iamOutsideS3},
		"aws:iam/instanceProfile:InstanceProfile":                   {iamOutsideS3},
		"aws:iam/policy:Policy":                                     {iamOutsideS3},
		"aws:iam/rolePolicyAttachment:RolePolicyAttachment":         {iamOutsideS3},
		"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": {groupsInside},
		"aws:ec2/vpc:Vpc":                                           {oneNetwork},
		"aws:ec2/subnet:Subnet":                                     {"EC2: zones"},
		"aws:ec2/instance:Instance": {
			"EC2: images, instance types and root volumes; every instance has this machine's processors and memory",
		},
		"aws:ebs/volume:Volume":       {"EBS: sizes, types, throughput, encryption and snapshots of volumes"},
		"aws:ssm/parameter:Parameter": {"Systems Manager: encryption of parameters, which are in memory only"},
		"aws:emr/cluster:Cluster": {
			spotMarket, oneMachine, onePrimary, sparkUIsOnly, "EMR: Kerberos, of which only the realm is kept",
		},
		"aws:emr/instanceGroup:InstanceGroup":      {spotMarket, oneMachine},
		"aws:emr/instanceFleet:InstanceFleet":      {spotMarket, oneMachine},
		"aws:scheduler/schedule:Schedule":          {"EventBridge Scheduler: targets other than EMR's AddJobFlowSteps"},
		"aws:sqs/queue:Queue":                      {"SQS: operations other than those that read a dead-letter queue"},
		"kubernetes:core/v1:PersistentVolumeClaim": {"Kubernetes: sizes of persistent volume claims"},
		"kubernetes:core/v1:Service":               {"Kubernetes: addresses of Services; their names lead to the pod"},
	}
	for _, kind := range []string{"Deployment", "DaemonSet"} {
		out["kubernetes:apps/v1:"+kind] = slices.Clone(pods)
	}
	return out
}
