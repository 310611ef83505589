package collector

import (
	"context"
	"net"
	"strings"
	"sync/atomic"

	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // what collectors send

	"github.com/emr-observatory/emr-observatory/platform"
)

// maxMessage is above the exporter's largest batch.
const maxMessage = 64 << 20

// sink accepts logs and metrics over OTLP, and counts the lines of containers' logs.
type sink struct {
	logs.UnimplementedLogsServiceServer
	server *grpc.Server
	lines  atomic.Int64
}

type metricsSink struct {
	collectormetrics.UnimplementedMetricsServiceServer
}

// serveSink accepts connections at address.
func serveSink(address string) (*sink, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &sink{server: grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage))}
	logs.RegisterLogsServiceServer(s.server, s)
	collectormetrics.RegisterMetricsServiceServer(s.server, metricsSink{})
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

func (s *sink) stop() { s.server.Stop() }

// Export implements the OTLP logs service. A record with a stack trace has several
// lines.
func (s *sink) Export(_ context.Context, r *logs.ExportLogsServiceRequest) (*logs.ExportLogsServiceResponse, error) {
	for _, resource := range r.GetResourceLogs() {
		container := false
		for _, a := range resource.GetResource().GetAttributes() {
			container = container || a.GetKey() == string(platform.ServiceName) && a.GetValue().GetStringValue() == platform.ServiceContainer
		}
		if !container {
			continue
		}
		for _, scope := range resource.GetScopeLogs() {
			for _, record := range scope.GetLogRecords() {
				s.lines.Add(int64(strings.Count(record.GetBody().GetStringValue(), "\n") + 1))
			}
		}
	}
	return &logs.ExportLogsServiceResponse{}, nil
}

// Export implements the OTLP metrics service.
func (metricsSink) Export(
	context.Context, *collectormetrics.ExportMetricsServiceRequest,
) (*collectormetrics.ExportMetricsServiceResponse, error) {
	return &collectormetrics.ExportMetricsServiceResponse{}, nil
}
