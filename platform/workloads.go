package platform

// Workload is a Kubernetes workload on the control node: its name is its
// Deployment's or DaemonSet's, its Service's and its container's.
type Workload string

// The workloads.
const (
	WorkloadCollector       Workload = "collector"
	WorkloadVictoriaMetrics Workload = "victoria-metrics"
	WorkloadVictoriaLogs    Workload = "victoria-logs"
	WorkloadTempo           Workload = "tempo"
	WorkloadPyroscope       Workload = "pyroscope"
	WorkloadYACE            Workload = "yace"
	WorkloadGrafana         Workload = "grafana"
	WorkloadStatus          Workload = "status"
	WorkloadRedelivery      Workload = "redelivery"
)

// ClusterConfigMap is the ConfigMap whose keys Config* every workload gets as
// environment, so that Tempo and Pyroscope expand ${S3_BUCKET} and
// ${AWS_REGION} at start.
const ClusterConfigMap = "cluster-config"

// Keys of ClusterConfigMap.
const (
	ConfigBucket      = "S3_BUCKET"
	ConfigRegion      = "AWS_REGION"
	ConfigS3Endpoint  = "S3_ENDPOINT"         // host[:port], no scheme
	ConfigS3Insecure  = "S3_INSECURE"         // "true" only for an http:// endpoint
	ConfigS3PathStyle = "S3_FORCE_PATH_STYLE" // "true" for S3-compatible gateways

	// ConfigS3EndpointURL is the AWS CLI's and SDKs' own variable; it is there
	// only where the endpoint is not AWS's.
	ConfigS3EndpointURL = "AWS_ENDPOINT_URL_S3"
)

// Datasource is the uid of a Grafana datasource; dashboards and links name it.
type Datasource string

// The datasources.
const (
	DatasourceMetrics  Datasource = "victoriametrics"
	DatasourceLogs     Datasource = "victorialogs"
	DatasourceTraces   Datasource = "tempo"
	DatasourceProfiles Datasource = "pyroscope"
)
