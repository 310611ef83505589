// Package localcloud is the local cloud: Pulumi providers over real local
// parts, in one private region of namespaces. Serve is the region's process;
// Start, Stop and Find are for the programs outside that use it.
//
// It sees only what the engine sends to the providers and what clients ask of
// S3's and EMR's APIs, as AWS would: it imports no component of the platform.
//
// What is real: S3 (VersityGW), EMR (the bootstrap actions, HDFS, YARN, Spark,
// steps), Kubernetes workloads (processes), certificates, passwords. What is
// recorded only: IAM, KMS, security groups, EC2 beyond addresses
// and machines, the Grafana server.
package localcloud

// Ports are the services of the local cloud by name, with the port that each
// would like on the host's 127.0.0.1; a taken one is replaced by a free one.
//
//nolint:gochecknoglobals // one table
var ports = map[string]int{
	portS3: 7070, portEMR: 7071, portControl: 7072,
	"collector": 4317, "victoria-metrics": 8428, "victoria-logs": 9428, "tempo": 3200, "pyroscope": 4040,
	"grafana": 3000, "status": 8080, "resourcemanager": 8088, "history": 18080,
}

// Names of the services that the local cloud itself answers.
const (
	portS3      = "s3"
	portEMR     = "emr"
	portControl = "control"
)

// providerPort is the name of the listener of a Pulumi package's provider.
func providerPort(pkg string) string { return "provider:" + pkg }

// Packages are the Pulumi packages that the local cloud provides.
func Packages() []string {
	return []string{"aws", "kubernetes", "grafana", "tls", "random", "command"}
}

// The region's network. A stack on the local cloud has this VPC.
const (
	network        = "10.0.0.0/16"
	networkGateway = "10.0.0.1"
	servicesHost   = "10.0.0.2" // S3's and EMR's endpoints inside the region
	podsPrefix     = "10.42.0"  // K3s' default pod network
	podsGateway    = "10.42.0.1"
)

// Region and AccountID are what the local AWS says it is.
const (
	AWSRegion = "us-east-1"
	AccountID = "123456789012"
)
