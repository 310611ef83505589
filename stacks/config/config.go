package config

import "github.com/emr-observatory/emr-observatory/platform"

// Config is the whole configuration. The tags are the contract: `json` is the
// key, `help` its description, `rule` what Validate demands of it.
type Config struct {
	Region        string            `json:"region" help:"AWS region of the whole stack." rule:"must be an AWS region name such as us-east-1"`
	Ephemeral     bool              `json:"ephemeral" help:"True for a stack that may vanish with its data: nothing is protected or retained, buckets are emptied on destroy."`
	Tags          map[string]string `json:"tags" help:"Tags of every AWS resource, beside the project's own." rule:"must be at most 8 tags (an S3 object carries 10, two are the platform's), keys of 1 to 128 and values of at most 256 letters, digits, spaces or _.:/=+-@, without the prefix aws:"`
	OperatorCIDRs []string          `json:"operatorCidrs" help:"Networks from which people reach Grafana, the Kubernetes API and /status. Empty: only from inside the VPC's own groups." rule:"must be a network address in CIDR form, at least /8 (IPv4) or /32 (IPv6) long, each only once"`
	Network       Network           `json:"network" help:"The VPC: made by the stack, or an existing one."`
	ControlNode   ControlNode       `json:"controlNode" help:"The EC2 instance that holds the telemetry servers."`
	EMR           EMR               `json:"emr" help:"The EMR cluster."`
	Retention     Retention         `json:"retention" help:"How long data is kept, in days."`
	AWSEndpoints  AWSEndpoints      `json:"awsEndpoints" help:"Endpoints that replace AWS's own, for S3-compatible stores and for the local cloud."`
	Grafana       Grafana           `json:"grafana" help:"How the program reaches Grafana."`
}

// Network describes the VPC.
type Network struct {
	CIDR               string   `json:"cidr" help:"Address range of the VPC that the stack makes; not used with vpcId." rule:"must be a private IPv4 network (RFC 1918) in CIDR form, /16 to /24"`
	AvailabilityZones  []string `json:"availabilityZones" help:"Two zones of the region. Empty: the region's first two." rule:"must be two different zones of the region, or none"`
	VPCID              string   `json:"vpcId" help:"Existing VPC; needs subnetIds." rule:"must be a VPC id (vpc- and 8 or 17 hexadecimal digits)"`
	SubnetIDs          []string `json:"subnetIds" help:"Existing private subnets of vpcId; cluster and control node live in the first." rule:"must be subnet ids (subnet- and 8 or 17 hexadecimal digits), each only once"`
	NAT                bool     `json:"nat" help:"NAT gateway for the private subnets: container images and plugins come through it. Not used with vpcId."`
	InterfaceEndpoints []string `json:"interfaceEndpoints" help:"AWS services reached through interface endpoints, in short form: ssm, kms, elasticmapreduce. S3 always has a gateway endpoint." rule:"must be an AWS service in short form (not s3, not com.amazonaws…), each only once"`
}

// ControlNode describes the EC2 instance of the telemetry servers.
type ControlNode struct {
	InstanceType  string `json:"instanceType" help:"EC2 instance type." rule:"must be an EC2 instance type such as m5.xlarge"`
	Arch          string `json:"arch" help:"Processor architecture of instanceType: amd64 or arm64." rule:"must be amd64 or arm64, as the instance type has it"`
	PrivateIP     string `json:"privateIp" help:"Fixed private address. Empty: the subnet allots one, which then stays." rule:"must be an IPv4 address inside network.cidr"`
	DataVolumeGiB int    `json:"dataVolumeGiB" help:"Size of the data volume (metrics, logs, write-ahead logs), in GiB. The stores leave 6 of it free. After it grew, the file system grows when the control node boots next." rule:"must be 20 to 16384"`
}

// EMR describes the cluster.
type EMR struct {
	ReleaseLabel          string            `json:"releaseLabel" help:"EMR release." rule:"must be emr-X.Y.Z, 6.15.0 or later"`
	Applications          []string          `json:"applications" help:"EMR applications to install." rule:"must name EMR applications, Spark among them, each only once"`
	Architectures         []string          `json:"architectures" help:"Processor architectures whose nodes find their artifacts in the data bucket: of this cluster, and of others that use the stack's bootstrap action." rule:"must be amd64 or arm64, each only once, that of each group's instance type among them"`
	Master                InstanceGroup     `json:"master" help:"Primary node or nodes."`
	Core                  InstanceGroup     `json:"core" help:"Core nodes: YARN and HDFS."`
	Task                  *InstanceGroup    `json:"task" help:"Task nodes: YARN only. Left out: none."`
	IdleTimeoutMinutes    int               `json:"idleTimeoutMinutes" help:"Minutes of idleness after which EMR ends the cluster; 0 for never." rule:"must be 0 or 1 to 10080 (EMR AutoTerminationPolicy: 60 to 604800 s)"`
	TerminationProtection bool              `json:"terminationProtection" help:"Refuse to end the cluster, by API or by destroy."`
	SparkDefaults         map[string]string `json:"sparkDefaults" help:"Entries of spark-defaults, merged key by key over the platform's." rule:"must be spark.* properties without secrets and without the defaultJavaOptions that carry the observatory's agent"`
}

// InstanceGroup describes the machines of one role.
type InstanceGroup struct {
	InstanceType string   `json:"instanceType" help:"EC2 instance type." rule:"must be an EC2 instance type such as m5.xlarge"`
	Count        int      `json:"count" help:"Number of instances." rule:"must be 1 or 3 for master, at least 1 for core and task"`
	EBS          []Volume `json:"ebs" help:"Volumes of each instance. Empty: EMR's own choice for the type."`
	BidPrice     string   `json:"bidPrice" help:"Highest spot price in USD per hour. Empty: on demand." rule:"must be a price in USD such as 0.12"`
}

// Volume describes the EBS volumes of one kind on each instance of a group.
type Volume struct {
	Type        string `json:"type" help:"EBS volume type." rule:"must be gp3, gp2, io1, st1, sc1 or standard (EMR VolumeSpecification)"`
	SizeGiB     int    `json:"sizeGiB" help:"Size in GiB." rule:"must be 10 to 16384, for st1 and sc1 at least 125"`
	IOPS        int    `json:"iops" help:"IOPS, for gp3 and io1 only; 0 for the type's own." rule:"must be 3000 to 16000 for gp3, 100 to 64000 for io1, else 0"`
	Throughput  int    `json:"throughput" help:"MiB/s, for gp3 only; 0 for the type's own." rule:"must be 125 to 1000 for gp3, else 0"`
	PerInstance int    `json:"perInstance" help:"Volumes of this kind on each instance." rule:"must be 1 to 24"`
}

// Retention holds how long data is kept.
type Retention struct {
	TempoDays           int `json:"tempoDays" help:"Days that Tempo keeps traces." rule:"must be 1 to 3650"`
	PyroscopeDays       int `json:"pyroscopeDays" help:"Days that Pyroscope keeps profiles." rule:"must be 1 to 3650"`
	VictoriaMetricsDays int `json:"victoriaMetricsDays" help:"Days that VictoriaMetrics keeps metrics, on the data volume." rule:"must be 1 to 3650"`
	VictoriaLogsDays    int `json:"victoriaLogsDays" help:"Days that VictoriaLogs keeps logs, on the data volume." rule:"must be 1 to 3650"`
	LogDays             int `json:"logDays" help:"Days that S3 keeps EMR's logs and the bucket's access logs." rule:"must be 1 to 3650"`
	ArtifactDays        int `json:"artifactDays" help:"Days that S3 keeps artifacts; 0 for ever. Longer than a cluster lives: a node added late still fetches them." rule:"must be 0 (for ever) to 3650"`
}

// AWSEndpoints replaces AWS's own endpoints. Each is empty on AWS.
type AWSEndpoints struct {
	EC2 string `json:"ec2" help:"Endpoint of EC2." rule:"must be http(s)://host[:port]"`
	EMR string `json:"emr" help:"Endpoint of EMR." rule:"must be http(s)://host[:port]"`
	IAM string `json:"iam" help:"Endpoint of IAM." rule:"must be http(s)://host[:port]"`
	KMS string `json:"kms" help:"Endpoint of KMS." rule:"must be http(s)://host[:port]"`
	S3  string `json:"s3" help:"Endpoint of an S3-compatible store: of the provider, Tempo and Pyroscope. Implies path-style addresses." rule:"must be http(s)://host[:port]"`
	SSM string `json:"ssm" help:"Endpoint of Systems Manager." rule:"must be http(s)://host[:port]"`
	STS string `json:"sts" help:"Endpoint of STS." rule:"must be http(s)://host[:port]"`
}

// Grafana says how the program reaches Grafana's API.
type Grafana struct {
	URL string `json:"url" help:"Address of Grafana as the machine that runs the program sees it, e.g. a tunnel's. Empty: the control node's own." rule:"must be http(s)://host[:port]"`
}

// Defaults is the configuration of a stack that names only its region.
func Defaults() Config {
	return Config{
		Tags:          map[string]string{},
		OperatorCIDRs: []string{},
		Network: Network{
			CIDR:               "10.0.0.0/16",
			AvailabilityZones:  []string{},
			SubnetIDs:          []string{},
			NAT:                true,
			InterfaceEndpoints: []string{},
		},
		ControlNode: ControlNode{InstanceType: "m5.xlarge", Arch: platform.ArchAMD64, DataVolumeGiB: 100},
		EMR: EMR{
			ReleaseLabel:       "emr-7.10.0",
			Applications:       []string{"Hadoop", "Spark"},
			Architectures:      platform.Architectures(),
			Master:             InstanceGroup{InstanceType: "m5.xlarge", Count: 1, EBS: []Volume{}},
			Core:               InstanceGroup{InstanceType: "m5.xlarge", Count: 2, EBS: []Volume{}},
			IdleTimeoutMinutes: 60,
			SparkDefaults:      map[string]string{},
		},
		Retention: Retention{TempoDays: 14, PyroscopeDays: 14, VictoriaMetricsDays: 30, VictoriaLogsDays: 14, LogDays: 30},
	}
}

// defaultTask and defaultVolume are what an entry starts from when it is
// given at all.
func defaultTask() InstanceGroup {
	return InstanceGroup{InstanceType: "m5.xlarge", Count: 1, EBS: []Volume{}}
}
func defaultVolume() Volume { return Volume{Type: "gp3", PerInstance: 1} }
