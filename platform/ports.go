package platform

// Port is a TCP port.
type Port int

// NamedPort is a port of the control node that its security group opens.
type NamedPort struct {
	Name string // a part of the rule's name
	Port Port
}

// OperatorPorts are the ports that each network of operators reaches. The tools run with the
// profiler only.
func OperatorPorts(profiler bool) []NamedPort {
	ports := []NamedPort{{"grafana", Grafana}, {"kubernetes", KubernetesAPI}, {"status", Status}}
	if profiler {
		ports = append(ports, NamedPort{"tools", Tools})
	}
	return ports
}

// TelemetryPorts are the ports that the nodes of clusters reach.
func TelemetryPorts() []NamedPort {
	return append(OTLPPorts(), NamedPort{"pyroscope", Pyroscope})
}

// OTLPPorts are the ports of the control node's collector.
func OTLPPorts() []NamedPort { return []NamedPort{{"otlp-grpc", OTLPGRPC}, {"otlp-http", OTLPHTTP}} }

// Telemetry ports. See docs/guides for who may reach which.
const (
	OTLPGRPC             Port = 4317  // collectors; loopback only on EMR nodes
	OTLPHTTP             Port = 4318  // collectors; loopback only on EMR nodes
	CollectorHealth      Port = 13133 // health_check extension; loopback on EMR nodes
	CollectorMetrics     Port = 13134 // collector's own metrics; loopback on EMR nodes, where Hue has 8888, the default
	Pyroscope            Port = 4040
	PyroscopeGRPC        Port = 9095
	VictoriaMetrics      Port = 8428
	VictoriaLogs         Port = 9428
	Tempo                Port = 3200
	TempoGRPC            Port = 9096
	TempoGossip          Port = 7946 // its own rings, loopback
	TempoOTLPHTTP        Port = 4321
	Redelivery           Port = 4319 // between the control node's collector and its stores
	ProfileIntake        Port = 4041 // Pyroscope for the nodes, which reach it on Pyroscope's own port
	Profiler             Port = 4322 // metrics and the last run
	YACE                 Port = 5000
	Grafana              Port = 3000
	KubernetesAPI        Port = 6443
	Status               Port = 8080
	Tools                Port = 8070
	EMRServiceAccess     Port = 9443 // EMR master -> service access group, AWS doc "emr-man-sec-groups"
	HTTPS                Port = 443  // AWS APIs
	InstanceMetadataPort Port = 80   // see InstanceMetadata
	EMRServiceSlave      Port = 8443 // EMR service access group -> master, core and task, same doc
)

// Loopback is this machine's own address: the local end of a tunnel.
const Loopback = "127.0.0.1"

// Ports of Hadoop and Spark daemons as EMR sets them (Management Guide, "View
// web interfaces"; 8041 and 20888 from dumps of real nodes).
const (
	ResourceManagerUI  Port = 8088
	ResourceManagerRPC Port = 8032
	NodeManagerUI      Port = 8042
	NodeManagerRPC     Port = 8041
	NameNodeUI         Port = 9870
	NameNodeRPC        Port = 8020
	DataNodeUI         Port = 9864
	DataNodeTransfer   Port = 9866
	DataNodeIPC        Port = 9867
	SparkHistoryUI     Port = 18080
)
