package platform

import "slices"

// Users that the images define.
const (
	userServer  = 10001 // Tempo's, Pyroscope's and the collector's image; the others need none of their own
	userGrafana = 472   // Grafana's image
)

// s3StoreDiskGiB holds a store's write-ahead log and its blocks on their way to
// S3.
const s3StoreDiskGiB = 10

// imageOwn returns the image that the project's own binary runs in. The binary
// itself is in no image.
func imageOwn() Image {
	return Image{Repository: "public.ecr.aws/amazonlinux/amazonlinux", Tag: "2023.9.20251027.0-minimal"}
}

// ImageAWSCLI returns the image of the init container that fetches the project's
// own binary from the artifacts prefix.
func ImageAWSCLI() Image {
	return Image{Repository: "public.ecr.aws/aws-cli/aws-cli", Tag: "2.31.0"}
}

// Workloads returns the control node's workloads, in the order of their creation.
// The local cloud runs the images' versions, built from their Go modules; a test
// compares the two. To add a workload, add its record here and its configuration
// function to package assets/workloads.
//
// Their memory leaves room for K3s, and for servers to come, on a control node of 8 GiB. Peaks of
// the local cloud's tests, with outages and floods, were 120 MiB of Pyroscope and 110 MiB of
// VictoriaMetrics; a busy account has some times as many series. The node's provisioner does
// not enforce DiskGiB; the servers' own limits and retentions do.
func Workloads() WorkloadTable {
	return slices.Concat(WorkloadTable{collector()}, stores(), others())
}

func collector() WorkloadRecord {
	return WorkloadRecord{
		Name: WorkloadCollector, Daemon: true, User: userServer, MemoryMiB: 768, DiskGiB: 10,
		Image:      Image{Repository: "docker.io/otel/opentelemetry-collector-contrib", Tag: "0.149.0"},
		Executable: "/otelcol-contrib",
		Ports: []WorkloadPort{
			{"otlp-grpc", OTLPGRPC, true}, {"otlp-http", OTLPHTTP, true},
			{"metrics", CollectorMetrics, false}, {"health", CollectorHealth, false},
		},
		Endpoint: OTLPHTTP, Ready: Readiness{CollectorHealth, "/"}, OperatorPort: OTLPGRPC,
		Metrics: OwnMetrics{CollectorMetrics, []string{
			"otelcol_exporter_(queue_size|queue_capacity|(sent|send_failed|enqueue_failed)_.*)",
			"otelcol_receiver_(accepted|refused)_.*", "otelcol_process_(memory_rss|uptime|cpu_seconds).*",
		}},
	}
}

// stores keep telemetry.
func stores() WorkloadTable {
	return WorkloadTable{
		{
			Name: WorkloadVictoriaMetrics, User: userServer, MemoryMiB: 1280, DiskGiB: 50,
			Image:      Image{Repository: "docker.io/victoriametrics/victoria-metrics", Tag: "v1.150.0"},
			Executable: "/victoria-metrics-prod",
			Ports:      []WorkloadPort{{"http", VictoriaMetrics, false}},
			Ready:      Readiness{Path: "/health"}, OperatorPort: VictoriaMetrics, Page: WebPage{"metrics (VictoriaMetrics)", "/vmui"},
			Metrics: OwnMetrics{VictoriaMetrics, []string{
				"vm_rows_inserted_total", "vm_rows_ignored_total", "vm_free_disk_space_bytes",
				"vm_new_timeseries_created_total", "vm_data_size_bytes", "vm_(hourly|daily)_series_limit_rows_dropped_total",
			}},
			Intake: &Intake{Signal: SignalMetrics, Port: VictoriaMetrics, Path: "/opentelemetry/v1/metrics", QueueGiB: 1},
		},
		{
			Name: WorkloadVictoriaLogs, User: userServer, MemoryMiB: 1024, DiskGiB: 50,
			Image:      Image{Repository: "docker.io/victoriametrics/victoria-logs", Tag: "v1.43.1"},
			Executable: "/victoria-logs-prod",
			Ports:      []WorkloadPort{{"http", VictoriaLogs, false}},
			Ready:      Readiness{Path: "/health"}, OperatorPort: VictoriaLogs, Page: WebPage{"logs (VictoriaLogs)", "/select/vmui"},
			Metrics: OwnMetrics{VictoriaLogs, []string{
				"vl_rows_ingested_total", "vl_rows_dropped_total", "vl_free_disk_space_bytes", "vl_data_size_bytes",
			}},
			Intake: &Intake{Signal: SignalLogs, Port: VictoriaLogs, Path: "/insert/opentelemetry/v1/logs", QueueGiB: 1},
		},
		{
			Name: WorkloadTempo, AWSRole: true, OwnBinary: BinaryControl, User: userServer, MemoryMiB: 1024, DiskGiB: s3StoreDiskGiB,
			Image:      Image{Repository: "docker.io/grafana/tempo", Tag: "2.9.0"},
			Executable: "/tempo",
			Ports:      []WorkloadPort{{"http", Tempo, false}, {"otlp-http", TempoOTLPHTTP, false}},
			Ready:      Readiness{Path: "/ready"}, OperatorPort: Tempo, Page: WebPage{"traces (Tempo API)", "/api/search"},
			Metrics: OwnMetrics{Tempo, []string{
				"tempo_distributor_spans_received_total", "tempo_discarded_spans_total",
				"tempo_ingester_failed_flushes_total", "tempodb_blocklist_(length|poll_errors_total)",
			}},
			Intake: &Intake{Signal: SignalTraces, Port: TempoOTLPHTTP, Path: "/v1/traces", QueueGiB: 1},
		},
		{
			Name: WorkloadPyroscope, AWSRole: true, User: userServer, MemoryMiB: 1280, DiskGiB: s3StoreDiskGiB,
			Image:      Image{Repository: "docker.io/grafana/pyroscope", Tag: "1.21.1"},
			Executable: "/usr/bin/pyroscope",
			Ports:      []WorkloadPort{{"http", Pyroscope, true}},
			Door:       WorkloadDoor{WorkloadRedelivery, ProfileIntake},
			Ready:      Readiness{Path: "/ready"}, OperatorPort: Pyroscope, Page: WebPage{"profiles (Pyroscope)", "/"},
			Metrics: OwnMetrics{Pyroscope, []string{
				"pyroscope_distributor_received_(compressed_bytes|samples).*",
				"pyroscope_discarded_(samples|bytes)_total", "pyroscope_ingester_flush_.*",
			}},
		},
	}
}

// others returns the servers that store no telemetry.
func others() WorkloadTable {
	return WorkloadTable{
		{
			Name: WorkloadYACE, AWSRole: true, User: userServer, MemoryMiB: 128,
			Image: Image{Repository: "quay.io/prometheuscommunity/yet-another-cloudwatch-exporter", Tag: "v0.67.0"},
			Ports: []WorkloadPort{{"http", YACE, false}},
			Ready: Readiness{Path: "/healthz"},
		},
		{
			Name: WorkloadGrafana, User: userGrafana, MemoryMiB: 512, DiskGiB: 2,
			Image: Image{Repository: "docker.io/grafana/grafana", Tag: "12.2.0"},
			Ports: []WorkloadPort{{"https", Grafana, true}}, TLS: true,
			Ready: Readiness{Path: "/api/health"}, OperatorPort: Grafana, Page: WebPage{"dashboards (Grafana)", "/"},
		},
		{
			Name: WorkloadStatus, AWSRole: true, OwnBinary: BinaryControl, User: userServer, MemoryMiB: 128, DiskGiB: 1, Image: imageOwn(),
			Ports: []WorkloadPort{{"https", Status, true}}, TLS: true,
			Ready: Readiness{Path: HealthPath}, OperatorPort: Status, Page: WebPage{"status", StatusPath},
		},
		{
			Name: WorkloadRedelivery, AWSRole: true, OwnBinary: BinaryControl, User: userServer, MemoryMiB: 256, Image: imageOwn(),
			Ports:   []WorkloadPort{{"http", Redelivery, false}, {"profiles", ProfileIntake, false}},
			Ready:   Readiness{Path: HealthPath},
			Metrics: OwnMetrics{Redelivery, []string{"observatory_redelivery_.*"}},
		},
		{
			Name: WorkloadProfiler, AWSRole: true, OwnBinary: BinaryProfiler, User: userServer, MemoryMiB: 256, Image: imageOwn(),
			Ports:   []WorkloadPort{{"http", Profiler, false}},
			Ready:   Readiness{Path: HealthPath},
			Metrics: OwnMetrics{Profiler, []string{"observatory_profiler_.*"}},
		},
		{
			Name: WorkloadTools, AWSRole: true, OwnBinary: BinaryProfiler, User: userServer, MemoryMiB: 256, Image: imageOwn(),
			Ports: []WorkloadPort{{"https", Tools, true}}, TLS: true,
			Ready: Readiness{Path: HealthPath}, OperatorPort: Tools,
		},
	}
}
