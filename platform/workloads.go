package platform

import (
	"fmt"
	"strings"
)

// Paths of this project's own servers.
const (
	HealthPath = "/healthz" // ready; asks for no password, which the kubelet's probe has not
	StatusPath = "/status"
	// ToolsPath is where the tools speak the Model Context Protocol.
	ToolsPath = "/mcp"
	// StatusApplicationsPath is below which it has the pages of applications, by their ids.
	StatusApplicationsPath = StatusPath + "/applications"
	// SendersPath is where the relay takes the cluster of each sender's address.
	SendersPath = "/senders"
	// ProfileIngestPath is where Pyroscope takes profiles, and all that nodes reach of it.
	ProfileIngestPath = "/ingest"
)

// Workload is a Kubernetes workload on the control node: its name is its
// Deployment's or DaemonSet's, its Service's and its container's.
type Workload string

// Names of the workloads that other parts refer to; Workloads() has a
// record for each.
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
	WorkloadProfiler        Workload = "profiler"
	WorkloadTools           Workload = "tools"
)

// WorkloadRecord is everything about one workload except its server's
// configuration. Manifests, services, probes, the servers' own limits, the
// status server's configuration and the local cloud's forwarded ports are
// rendered from it.
type WorkloadRecord struct {
	Name   Workload
	Image  Image
	Daemon bool // a DaemonSet: one pod per node
	User   int  // uid and gid, as the image knows them

	// AWSRole grants the pod the instance metadata, and with it the control
	// node's AWS role.
	AWSRole bool

	// OwnBinary makes the container run one of the project's own binaries
	// instead of the image's entrypoint, "" = none. An init container
	// fetches it from the artifacts prefix, which needs AWSRole. The binary is
	// the server itself, or starts Executable.
	OwnBinary Binary

	// Executable is the server's path in its image, for what runs it by path.
	Executable string

	// Ports are the Service's. The first is the one that the liveness probe
	// connects to.
	Ports []WorkloadPort

	// Door serves the port on the control node's address in the workload's place, and decides
	// what reaches the workload. Its zero value is none.
	Door WorkloadDoor

	// Endpoint is where the workload serves; 0 = the first port.
	Endpoint Port
	TLS      bool // Endpoint serves HTTPS
	Ready    Readiness

	// Metrics are the server's own, which VictoriaMetrics scrapes.
	Metrics OwnMetrics

	// Intake is where the store takes a signal from the collector, nil = it
	// takes none.
	Intake *Intake

	// OperatorPort is where operators and their tools reach the workload: the
	// local cloud forwards it to the host. 0 = they do not.
	OperatorPort Port

	// Page is where a person looks at the workload in a browser.
	Page WebPage

	MemoryMiB int // limit; see RequestedMiB
	DiskGiB   int // volume for what outlives the pod; 0 = none
}

// WebPage is a page of a workload.
type WebPage struct {
	Title string
	Path  string // "" = the workload has no page
}

// WorkloadPort is one port of a workload's Service.
type WorkloadPort struct {
	Name   string // at most 15 characters
	Number Port
	Node   bool // open on the control node's own address too
}

// WorkloadDoor is a port of another workload's pods.
type WorkloadDoor struct {
	Workload Workload
	Port     Port
}

// Readiness is where a server reports that it is ready, over HTTP.
type Readiness struct {
	Port Port // 0 = the workload's Endpoint
	Path string
}

// OwnMetrics are a server's own metrics at /metrics.
type OwnMetrics struct {
	Port Port // 0 = they are not scraped
	// Keep are regular expressions for the names that are kept: whether the
	// server accepts, refuses or loses data, and whether its disk and memory
	// suffice. The full lists would be thousands of series (names from each
	// server's source at its pinned version).
	Keep []string
}

// Intake is a store's OTLP endpoint over HTTP, and its share of the control
// node's disk for queues.
type Intake struct {
	Signal string // metrics, logs or traces
	Port   Port
	Path   string
	// QueueGiB bounds the collector's queue for the store. When it is full the
	// collector refuses the nodes, which keep the data on their own disks.
	QueueGiB int
}

// RequestedMiB returns the memory that the scheduler reserves for the workload.
func (r WorkloadRecord) RequestedMiB() int { return r.MemoryMiB / 2 }

// RequestedMemoryMiB returns what the scheduler reserves for all workloads.
func RequestedMemoryMiB() int {
	sum := 0
	for _, r := range Workloads() {
		sum += r.RequestedMiB()
	}
	return sum
}

// EndpointPort returns the port at which the workload serves.
func (r WorkloadRecord) EndpointPort() Port {
	if r.Endpoint != 0 {
		return r.Endpoint
	}
	return r.Ports[0].Number
}

// ReadyPort returns the port at which the workload reports that it is ready.
func (r WorkloadRecord) ReadyPort() Port {
	if r.Ready.Port != 0 {
		return r.Ready.Port
	}
	return r.EndpointPort()
}

// Scheme returns the URL scheme of the workload's Endpoint.
func (r WorkloadRecord) Scheme() string {
	if r.TLS {
		return "https"
	}
	return "http"
}

// Address returns host:port of one of the workload's ports inside the cluster.
func (r WorkloadRecord) Address(p Port) string { return fmt.Sprintf("%s:%d", r.Name, p) }

// URL returns the URL at which the workload serves inside the cluster.
func (r WorkloadRecord) URL() string { return r.Scheme() + "://" + r.Address(r.EndpointPort()) }

// ReadyURL returns the URL at which the workload reports inside the cluster that it is ready.
func (r WorkloadRecord) ReadyURL() string {
	return r.Scheme() + "://" + r.Address(r.ReadyPort()) + r.Ready.Path
}

// URLAt is where a workload whose Endpoint is open on the control node serves
// clients outside the cluster, which reach the node under host.
func (r WorkloadRecord) URLAt(host string) string {
	return fmt.Sprintf("%s://%s:%d", r.Scheme(), host, r.EndpointPort())
}

// WorkloadTable is a list of records with distinct names.
type WorkloadTable []WorkloadRecord

// Get finds a workload's record.
func (t WorkloadTable) Get(name Workload) (WorkloadRecord, error) {
	names := make([]string, len(t))
	for i, r := range t {
		if r.Name == name {
			return r, nil
		}
		names[i] = string(r.Name)
	}
	return WorkloadRecord{}, fmt.Errorf("workload %q: no record; there are %s", name, strings.Join(names, ", "))
}

// Stores returns the workloads that take a signal from the collector.
func (t WorkloadTable) Stores() WorkloadTable {
	var stores WorkloadTable
	for _, r := range t {
		if r.Intake != nil {
			stores = append(stores, r)
		}
	}
	return stores
}

// URLs returns the URLs at which the workloads serve inside the cluster.
func (t WorkloadTable) URLs() map[Workload]string {
	urls := map[Workload]string{}
	for _, r := range t {
		urls[r.Name] = r.URL()
	}
	return urls
}

// OperatorPorts returns the workloads that operators reach, with the port of each.
func (t WorkloadTable) OperatorPorts() map[Workload]Port {
	ports := map[Workload]Port{}
	for _, r := range t {
		if r.OperatorPort != 0 {
			ports[r.Name] = r.OperatorPort
		}
	}
	return ports
}

// MaxProfileMiB is the largest profile that is taken: a busy executor's JFR recording exceeds
// Pyroscope's default of 4 MiB.
const MaxProfileMiB = 32

// ClusterConfigMap is the ConfigMap whose keys Config* every workload gets as
// environment. Tempo and Pyroscope expand ${S3_BUCKET} and ${AWS_REGION} in
// their configuration files at startup.
const ClusterConfigMap = "cluster-config"

// Keys of ClusterConfigMap.
const (
	ConfigBucket      = "S3_BUCKET"
	ConfigRegion      = "AWS_REGION"
	ConfigS3Endpoint  = "S3_ENDPOINT"         // host[:port], no scheme
	ConfigS3Insecure  = "S3_INSECURE"         // "true" only for an http:// endpoint
	ConfigS3PathStyle = "S3_FORCE_PATH_STYLE" // "true" for S3-compatible gateways

	// ConfigS3EndpointURL is the AWS CLI's and SDKs' own variable. It is set
	// only for an endpoint other than AWS's.
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
