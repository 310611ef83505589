package recording

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// ExportTimeout is for one export with its repetitions. What was not sent is sent in a
// later round.
const ExportTimeout = 10 * time.Second

// Sender sends metrics to the collector by OTLP over HTTP.
type Sender struct {
	Collector string // URL
	metrics   *otlpmetrichttp.Exporter
}

// NewSender returns a sender to the collector of a configuration. The subject is that of its
// telemetry: "clusters".
func NewSender(ctx context.Context, config status.Config, subject string) (Sender, error) {
	collector, found := config.Endpoints[platform.WorkloadCollector]
	if !found {
		return Sender{}, fmt.Errorf("endpoints.%s: missing: telemetry of %s is sent to it; add its URL", platform.WorkloadCollector, subject)
	}
	at := strings.TrimSuffix(collector.URL, "/") + "/v1/metrics"
	metrics, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(at), otlpmetrichttp.WithTimeout(ExportTimeout))
	if err != nil {
		return Sender{}, fmt.Errorf("configure the exporter of metrics to %s: %w", collector.URL, err)
	}
	return Sender{collector.URL, metrics}, nil
}

// Send sends metrics of what the resource identifies. An error names them as what.
func (s Sender) Send(ctx context.Context, what string, of *resource.Resource, metrics ...metricdata.Metrics) error {
	ctx, cancel := context.WithTimeout(ctx, ExportTimeout)
	defer cancel()
	err := s.metrics.Export(ctx, &metricdata.ResourceMetrics{Resource: of, ScopeMetrics: []metricdata.ScopeMetrics{
		{Scope: instrumentation.Scope{Name: platform.Project}, Metrics: metrics},
	}})
	if err != nil {
		return fmt.Errorf("send %s to %s: %w", what, s.Collector, err)
	}
	return nil
}
