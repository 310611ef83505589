package clustertelemetry_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/clustertelemetry"
)

const (
	stack     = "dev"
	artifacts = "s3://bucket/artifacts/"
)

// world is the local EMR API, and a VictoriaMetrics that has the nodes' telemetry and
// takes OTLP in place of the collector.
type world struct {
	store   *emrapi.Store
	metrics string
	emr     *httptest.Server
	otlp    *httptest.Server // in front of VictoriaMetrics

	mu     sync.Mutex
	refuse func(operation string) (code, message string) // of EMR; "" = nothing
	asked  map[string]int                                // requests to EMR, by operation
	down   bool                                          // the collector refuses
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{asked: map[string]int{}, metrics: storetest.Metrics(t)}
	var err error
	w.store, err = emrapi.Open(t.TempDir())
	require.NoError(t, err)
	api, err := emrapi.New(w.store, emrapitest.NoNodes{}, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	w.emr = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		w.mu.Lock()
		w.asked[operation]++
		refuse := w.refuse
		w.mu.Unlock()
		if refuse != nil {
			if code, message := refuse(operation); code != "" {
				rw.Header().Set("Content-Type", "application/x-amz-json-1.1")
				rw.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(rw, `{"__type":%q,"message":%q}`, code, message)
				return
			}
		}
		api.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() { w.emr.Close(); api.Close() })
	target, err := url.Parse(w.metrics + "/opentelemetry")
	require.NoError(t, err)
	store := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	w.otlp = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		down := w.down
		w.mu.Unlock()
		if down {
			rw.WriteHeader(http.StatusBadRequest)
			return
		}
		store.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.otlp.Close)
	return w
}

// recorder starts a recorder as a new process does, and returns what it reads from.
func (w *world) recorder(t *testing.T) (*clustertelemetry.Recorder, status.Source) {
	t.Helper()
	config := status.Config{
		Stack: stack, BootstrapHash: "now", S3Paths: platform.S3Paths{Artifacts: artifacts},
		Endpoints: map[platform.Workload]status.Endpoint{
			platform.WorkloadVictoriaMetrics: {URL: w.metrics},
			platform.WorkloadCollector:       {URL: w.otlp.URL},
		},
	}
	client := emr.New(emr.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(w.emr.URL), RetryMaxAttempts: 1, HTTPClient: testenv.AWSClient(),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	source := status.Source{Client: http.DefaultClient, Config: config, Clusters: status.NewClusterReader(client, config)}
	r, err := clustertelemetry.New(t.Context(), source)
	require.NoError(t, err)
	return r, source
}

// cluster adds a cluster that EMR knows by a name.
func (w *world) cluster(t *testing.T, name string, actions ...types.Command) string {
	t.Helper()
	cluster := emrapitest.JobFlow()
	cluster.Name, cluster.ReleaseLabel = &name, aws.String("emr-7.13.0")
	for _, action := range actions {
		cluster.BootstrapActions = append(cluster.BootstrapActions, types.BootstrapActionConfig{
			Name:                  cmp.Or(action.Name, aws.String("install")),
			ScriptBootstrapAction: &types.ScriptBootstrapActionConfig{Path: aws.String("s3://data/install.sh"), Args: action.Args},
		})
	}
	id, err := w.store.PutJobFlow(cluster)
	require.NoError(t, err)
	return id
}

// tag gives a cluster the tags of a stack.
func (w *world) tag(t *testing.T, id, stack string) {
	t.Helper()
	require.NoError(t, w.store.UpdateCluster(id, func(c *types.Cluster) {
		for key, value := range platform.StackTags(stack) {
			c.Tags = append(c.Tags, types.Tag{Key: &key, Value: &value})
		}
	}))
}

// setDown makes the collector refuse, or take, what is sent.
func (w *world) setDown(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

// end brings a cluster to its end.
func (w *world) end(t *testing.T, id, message string) {
	t.Helper()
	reason := types.ClusterStateChangeReason{Code: types.ClusterStateChangeReasonCodeInstanceFailure, Message: &message}
	for _, state := range []types.ClusterState{types.ClusterStateTerminating, types.ClusterStateTerminatedWithErrors} {
		require.NoError(t, w.store.SetClusterState(id, state, reason))
	}
}

// reports stores a sample of a cluster's node.
func (w *world) reports(t *testing.T, cluster string) {
	t.Helper()
	line := fmt.Sprintf("%s{cluster=%q,node_role=\"master\",host_name=\"ip-10-0-0-5\"} 7\n", platform.MetricHostSeen, cluster)
	storetest.Post(t, w.metrics+"/api/v1/import/prometheus", "text/plain", []byte(line))
	w.flush(t)
}

func (w *world) flush(t *testing.T) {
	t.Helper()
	storetest.Get(t, w.metrics+"/internal/force_flush")
}

// infos returns the labels of the metric's samples that were sent up to now, by
// cluster, the newest last.
func (w *world) infos(t *testing.T) map[string][]string {
	t.Helper()
	w.flush(t)
	query := url.Values{"query": {"sort(tlast_over_time(" + platform.MetricClusterInfo + "[2d]))"},
		"time": {fmt.Sprint(time.Now().Add(24 * time.Hour).Unix())}}
	var answer struct {
		Data struct {
			Result []struct{ Metric map[string]string }
		}
	}
	require.NoError(t, json.Unmarshal(storetest.Get(t, w.metrics+"/api/v1/query?"+query.Encode()), &answer))
	found := map[string][]string{}
	for _, one := range answer.Data.Result {
		m := one.Metric
		found[m["cluster"]] = append(found[m["cluster"]], fmt.Sprintf("%s %s %s", m[platform.LabelClusterName],
			m[platform.LabelClusterRelease], m[platform.LabelClusterState]))
	}
	return found
}

// requests returns the requests to EMR since the last call, by operation.
func (w *world) requests() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = map[string]int{}
	return asked
}
