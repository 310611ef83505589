package clustertelemetry

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// exportTimeout is for one export with its repetitions.
const exportTimeout = 10 * time.Second

// sender sends to the collector by OTLP over HTTP.
type sender struct {
	collector string // URL
	metrics   *otlpmetrichttp.Exporter
}

func newSender(ctx context.Context, collector string) (*sender, error) {
	at := strings.TrimSuffix(collector, "/") + "/v1/metrics"
	metrics, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(at), otlpmetrichttp.WithTimeout(exportTimeout))
	if err != nil {
		return nil, fmt.Errorf("configure the exporter of metrics to %s: %w", collector, err)
	}
	return &sender{collector, metrics}, nil
}

// send sends the metric of a cluster. It has no host: all nodes are the cluster's.
func (s *sender) send(ctx context.Context, c status.EMRCluster, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	labels := attribute.NewSet(
		attribute.String(platform.LabelClusterName, c.Name), attribute.String(platform.LabelClusterRelease, c.Release),
		attribute.String(platform.LabelClusterState, string(c.State)))
	err := s.metrics.Export(ctx, &metricdata.ResourceMetrics{
		Resource: resource.NewSchemaless(
			attribute.String(string(platform.ServiceName), platform.ServiceCluster), attribute.String(string(platform.Cluster), c.ID)),
		ScopeMetrics: []metricdata.ScopeMetrics{{
			Scope: instrumentation.Scope{Name: platform.Project},
			Metrics: []metricdata.Metrics{{Name: platform.EmittedClusterInfo, Data: metricdata.Gauge[int64]{
				DataPoints: []metricdata.DataPoint[int64]{{Attributes: labels, Time: now, Value: 1}},
			}}},
		}},
	})
	if err != nil {
		return fmt.Errorf("send what EMR says of cluster %s to %s: %w", c.ID, s.collector, err)
	}
	return nil
}
