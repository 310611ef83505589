package workloadconfig_test

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // what the collector sends
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/schema"
)

// receiver takes traces by OTLP over TLS, as a server outside the platform does.
type receiver struct {
	collectortrace.UnimplementedTraceServiceServer

	kill func() // ends it at once

	mu      sync.Mutex
	arrived map[string]arrival // by trace id
}

// arrival is how a trace arrived.
type arrival struct {
	service, host string
	headers       func(string) string
}

func startReceiver(t *testing.T, protocol string, own issuer.Certificate) *receiver {
	t.Helper()
	r := &receiver{arrived: map[string]arrival{}}
	pair, err := tls.X509KeyPair([]byte(own.Server), []byte(own.Key))
	require.NoError(t, err)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	l, err := net.Listen("tcp", "127.0.0.1:"+copyPort)
	require.NoError(t, err)
	if protocol == schema.ProtocolGRPC {
		server := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)))
		collectortrace.RegisterTraceServiceServer(server, r)
		go func() { _ = server.Serve(l) }()
		r.kill = server.Stop
	} else {
		server := &http.Server{Handler: r, TLSConfig: config, ReadHeaderTimeout: time.Second}
		go func() { _ = server.ServeTLS(l, "", "") }()
		r.kill = func() { _ = server.Close() }
	}
	t.Cleanup(r.kill)
	return r
}

// Export serves gRPC.
func (r *receiver) Export(
	ctx context.Context, in *collectortrace.ExportTraceServiceRequest,
) (*collectortrace.ExportTraceServiceResponse, error) {
	given, _ := metadata.FromIncomingContext(ctx)
	r.take(in, func(name string) string { return strings.Join(given.Get(name), ",") })
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

// ServeHTTP serves HTTP.
func (r *receiver) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := gzip.NewReader(in.Body)
	if err != nil || in.URL.Path != "/otlp/v1/traces" {
		http.Error(w, in.URL.Path, http.StatusBadRequest)
		return
	}
	raw, err := io.ReadAll(body)
	var decoded collectortrace.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(raw, &decoded) != nil {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	r.take(&decoded, in.Header.Get)
}

func (r *receiver) take(in *collectortrace.ExportTraceServiceRequest, headers func(string) string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range in.GetResourceSpans() {
		labels := map[string]string{}
		for _, a := range resource.GetResource().GetAttributes() {
			labels[a.GetKey()] = a.GetValue().GetStringValue()
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.arrived[hex.EncodeToString(span.GetTraceId())] = arrival{labels["service.name"], labels["host.name"], headers}
			}
		}
	}
}

// await waits for a trace.
func (r *receiver) await(t *testing.T, id string) arrival {
	t.Helper()
	require.True(t, waitFor(testenv.Arrival, func() bool { _, ok := r.all()[id]; return ok }), "no trace %s among %v", id, r.all())
	return r.all()[id]
}

func (r *receiver) all() map[string]arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]arrival{}
	for id, a := range r.arrived {
		out[id] = a
	}
	return out
}
