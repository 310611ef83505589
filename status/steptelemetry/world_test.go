package steptelemetry_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metricscollector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/steptelemetry"
)

// world is the local EMR API, a VictoriaMetrics that knows the clusters' nodes, and a
// receiver in place of the collector.
type world struct {
	store   *emrapi.Store
	metrics string // URL of VictoriaMetrics
	logs    string // URL of VictoriaLogs, "" = none
	folder  string
	tracing status.Tracing

	mu       sync.Mutex
	refuse   func(body string) *emrError  // of EMR; nil = nothing
	asked    int                          // requests to EMR
	spans    []span                       // received
	points   map[string]*metricspb.Metric // received last, by cluster and name
	down     bool                         // the receiver refuses
	emr, otl *httptest.Server
}

// span is a received span with the labels of its resource.
type span struct {
	*tracepb.Span
	labels map[string]string
}

type emrError struct {
	status        int
	code, message string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{folder: t.TempDir(), tracing: status.Tracing{Enabled: true, Ratio: 1}, points: map[string]*metricspb.Metric{}}
	var err error
	w.store, err = emrapi.Open(t.TempDir())
	require.NoError(t, err)
	api, err := emrapi.New(w.store, emrapitest.NoNodes{}, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	w.emr = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "ElasticMapReduce.ListSteps", r.Header.Get("X-Amz-Target"), "the role allows nothing else")
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.mu.Lock()
		w.asked++
		refuse := w.refuse
		w.mu.Unlock()
		if refuse != nil {
			if answer := refuse(string(body)); answer != nil {
				rw.Header().Set("Content-Type", "application/x-amz-json-1.1")
				rw.WriteHeader(answer.status)
				fmt.Fprintf(rw, `{"__type":%q,"message":%q}`, answer.code, answer.message)
				return
			}
		}
		api.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() { w.emr.Close(); api.Close() })
	w.otl = httptest.NewServer(http.HandlerFunc(w.receive))
	t.Cleanup(w.otl.Close)
	w.metrics = storetest.DefaultMetrics(t)
	return w
}

// receive takes OTLP over HTTP.
func (w *world) receive(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if w.down {
		rw.WriteHeader(http.StatusBadRequest)
		return
	}
	if r.URL.Path == "/v1/traces" {
		var request tracecollector.ExportTraceServiceRequest
		_ = proto.Unmarshal(body, &request)
		for _, of := range request.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, one := range scope.Spans {
					w.spans = append(w.spans, span{one, labelsOf(of.Resource.Attributes)})
				}
			}
		}
		return
	}
	var request metricscollector.ExportMetricsServiceRequest
	_ = proto.Unmarshal(body, &request)
	for _, of := range request.ResourceMetrics {
		for _, scope := range of.ScopeMetrics {
			for _, metric := range scope.Metrics {
				w.points[labelsOf(of.Resource.Attributes)[string(platform.Cluster)]+" "+metric.Name] = metric
			}
		}
	}
}

func labelsOf(attributes []*commonpb.KeyValue) map[string]string {
	labels := map[string]string{}
	for _, a := range attributes {
		labels[a.Key] = a.Value.GetStringValue()
	}
	return labels
}

// received returns the spans since the last call.
func (w *world) received() []span {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.spans
	w.spans = nil
	return got
}

// requests returns the number of requests to EMR since the last call.
func (w *world) requests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = 0
	return asked
}

// recorder starts a recorder as a new process does.
func (w *world) recorder(t *testing.T) *steptelemetry.Recorder {
	t.Helper()
	r, err := steptelemetry.New(t.Context(), w.source(t), w.folder)
	require.NoError(t, err)
	r.Hurry()
	return r
}

// source is what the status server reads from.
func (w *world) source(t *testing.T) status.Source {
	t.Helper()
	client := emr.New(emr.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(w.emr.URL), RetryMaxAttempts: 1, HTTPClient: testenv.AWSClient(),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	endpoints := map[platform.Workload]status.Endpoint{
		platform.WorkloadVictoriaMetrics: {URL: w.metrics}, platform.WorkloadCollector: {URL: w.otl.URL, ReadyURL: w.otl.URL},
	}
	if w.logs != "" {
		endpoints[platform.WorkloadVictoriaLogs] = status.Endpoint{URL: w.logs}
	}
	return status.Source{
		Client: http.DefaultClient, Steps: status.NewStepReader(client, w.tracing), Config: status.Config{Endpoints: endpoints},
	}
}

// cluster adds a cluster whose nodes report.
func (w *world) cluster(t *testing.T) string {
	t.Helper()
	id := emrapitest.PutCluster(t, w.store)
	w.reports(t, id, "master", "ip-10-0-0-5")
	w.reports(t, id, "core", "ip-10-0-0-6")
	return id
}

// reports makes VictoriaMetrics know a node.
func (w *world) reports(t *testing.T, cluster, role, host string) {
	t.Helper()
	line := fmt.Sprintf("%s{cluster=%q,node_role=%q,host_name=%q} 7 %d\n", platform.MetricHostSeen, cluster, role, host,
		time.Now().Add(-time.Second).UnixMilli())
	response, err := http.Post(w.metrics+"/api/v1/import/prometheus", "text/plain", strings.NewReader(line))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	storetest.Get(t, w.metrics+"/internal/force_flush")
}

// add adds a step with these arguments of spark-submit, and returns its id.
func (w *world) add(t *testing.T, cluster, name string, args ...string) string {
	t.Helper()
	ids, err := w.store.AddSteps(cluster, types.StepConfig{
		Name: &name, ActionOnFailure: types.ActionOnFailureContinue,
		HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: append([]string{"spark-submit"}, args...)},
	})
	require.NoError(t, err)
	return ids[0]
}

// run brings steps to their end.
func (w *world) run(t *testing.T, cluster string, state types.StepState, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, w.store.SetStepState(cluster, id, types.StepStateRunning, nil))
		var details *types.FailureDetails
		if state == types.StepStateFailed {
			details = &types.FailureDetails{Reason: aws.String("Unknown Error."), Message: aws.String("no such day")}
		}
		require.NoError(t, w.store.SetStepState(cluster, id, state, details))
	}
}

// afterLogs is when all that a step logged by now is in the store.
func afterLogs() time.Time { return time.Now().Add(time.Minute) }

func (s span) ids() string { return hex.EncodeToString(s.TraceId) + "-" + hex.EncodeToString(s.SpanId) }

func (s span) attributes() map[string]string { return labelsOf(s.Attributes) }

// sum returns the count of a cluster's steps by state, as it was received last.
func (w *world) sum(cluster string) map[string]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := map[string]int64{}
	for _, p := range w.points[cluster+" observatory.step.count"].GetSum().GetDataPoints() {
		counts[labelsOf(p.Attributes)["step_state"]] = p.GetAsInt()
	}
	return counts
}
