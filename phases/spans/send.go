package spans

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// An upload stays below the 4 MiB that collectors accept by default.
const uploadLimit = 1 << 20

// A collector that does not answer must not hold the import for long.
const (
	uploadTimeout = 10 * time.Second // of one upload, with its retries
	retryPause    = 500 * time.Millisecond
)

// Send uploads the spans to a collector at host:port, by OTLP over gRPC.
func (t Trace) Send(ctx context.Context, endpoint string) error {
	client := otlptracegrpc.NewClient(otlptracegrpc.WithEndpoint(endpoint), otlptracegrpc.WithInsecure(),
		otlptracegrpc.WithTimeout(uploadTimeout), otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{
			Enabled: true, InitialInterval: retryPause, MaxInterval: retryPause, MaxElapsedTime: uploadTimeout,
		}))
	if err := client.Start(ctx); err != nil {
		return fmt.Errorf("send spans to %s: %w", endpoint, err)
	}
	defer func() { _ = client.Stop(ctx) }() // every upload is answered by then
	for _, upload := range t.uploads() {
		if err := client.UploadTraces(ctx, upload); err != nil {
			return fmt.Errorf("send spans to %s: %w", endpoint, err)
		}
	}
	return nil
}

// uploads divides the spans into uploads.
func (t Trace) uploads() (all [][]*tracepb.ResourceSpans) {
	var current []*tracepb.ResourceSpans
	size := 0
	for _, resource := range t.Spans {
		for _, scope := range resource.ScopeSpans {
			var group *tracepb.ScopeSpans // of the current upload
			for _, span := range scope.Spans {
				bytes := proto.Size(span)
				if size > 0 && size+bytes > uploadLimit {
					all, current, size, group = append(all, current), nil, 0, nil
				}
				if group == nil {
					group = &tracepb.ScopeSpans{Scope: scope.Scope}
					current = append(current, &tracepb.ResourceSpans{Resource: resource.Resource, ScopeSpans: []*tracepb.ScopeSpans{group}})
				}
				group.Spans = append(group.Spans, span)
				size += bytes
			}
		}
	}
	if len(current) > 0 {
		all = append(all, current)
	}
	return all
}
