package status_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/dashboards"
	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

const traceID = "0af7651916cd43dd8448eb211c80319c"

// startEMR starts the local EMR, whose requests it counts.
func startEMR(t *testing.T) (*emrapi.Store, *status.StepReader, *atomic.Int64) {
	t.Helper()
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	api, err := emrapi.New(store, emrapitest.NoNodes{}, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	t.Cleanup(api.Close)
	requests := &atomic.Int64{}
	return store, stepReader(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		assert.Equal(t, "ElasticMapReduce.ListSteps", r.Header.Get("X-Amz-Target"))
		api.ServeHTTP(w, r)
	})), requests
}

// stepReader reads from an API of EMR. Each step has a span.
func stepReader(t *testing.T, api http.Handler) *status.StepReader {
	t.Helper()
	return status.NewStepReader(clientOf(t, api), status.Tracing{Enabled: true, Ratio: 1})
}

// clientOf returns a client of an API of EMR.
func clientOf(t *testing.T, api http.Handler) *emr.Client {
	t.Helper()
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	return emr.New(emr.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 1, HTTPClient: testenv.AWSClient(),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// addSteps adds a cluster with steps, and returns its id and theirs.
func addSteps(t *testing.T, store *emrapi.Store, names ...string) (cluster string, ids []string) {
	t.Helper()
	cluster = emrapitest.PutCluster(t, store)
	for _, name := range names {
		added, err := store.AddSteps(cluster, types.StepConfig{
			Name: aws.String(name), ActionOnFailure: types.ActionOnFailureContinue,
			HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: []string{
				"spark-submit", "--conf", platform.SparkTraceparent + "=00-" + traceID + "-b7ad6b7169203331-01", "s3://data/" + name,
			}},
		})
		require.NoError(t, err)
		ids = append(ids, added...)
	}
	return cluster, ids
}

// seen makes VictoriaMetrics know nodes of clusters.
func seen(t *testing.T, metrics string, clusters ...string) {
	t.Helper()
	for _, cluster := range clusters {
		importSamples(t, metrics, time.Second, metric(platform.MetricHostSeen, cluster, "master", "ip-10-0-0-9", "", 7))
	}
}

func TestLastSteps(t *testing.T) {
	metrics, logs := storetest.DefaultMetrics(t), storetest.Logs(t)
	store, reader, requests := startEMR(t)
	old, oldIDs := addSteps(t, store, "a", "b", "c")
	for added := time.Now().Truncate(time.Millisecond); !time.Now().Truncate(time.Millisecond).After(added); {
		runtime.Gosched() // EMR's times have milliseconds
	}
	cluster, ids := addSteps(t, store, "1", "2", "3", "4", "5", "6", "etl.py", "failing.py", "waiting.py")
	for _, id := range ids[6:8] {
		require.NoError(t, store.SetStepState(cluster, id, types.StepStateRunning, nil))
	}
	require.NoError(t, store.SetStepState(cluster, ids[7], types.StepStateFailed, &types.FailureDetails{
		Reason: aws.String("Unknown Error."), Message: aws.String("java.lang.IllegalStateException: <b>no orders</b>"),
	}))
	seen(t, metrics, old, cluster, "a cluster")
	importLogs(t, logs, ids[6], "Connecting to ResourceManager", "Submitted application application_17_0002", "for application_17_0001",
		"Application report for application_17_0002 (state: ACCEPTED)")
	importLogs(t, logs, oldIDs[0], "Submitted application application_17_0009")

	c := config(t, metrics)
	c.Endpoints[platform.WorkloadVictoriaLogs] = status.Endpoint{URL: logs, ReadyURL: logs + "/health"}
	for _, target := range dashboards.StepLinks() {
		c.StepLinks = append(c.StepLinks, status.Link(target))
	}
	from := source(t, c)
	from.Steps = reader
	read := from.Read(t.Context())
	require.Equal(t, []string{`read steps of cluster "a cluster": this is no id of an EMR cluster`}, read.Problems)
	var names []string
	for _, step := range read.Steps {
		names = append(names, step.Name)
		require.Equal(t, traceID, step.TraceID)
		require.WithinDuration(t, time.Now(), step.Created, time.Minute)
	}
	require.Equal(t, []string{"waiting.py", "failing.py", "etl.py", "6", "5", "4", "3", "2", "1", "c"}, names, "the newest ten of both")
	waiting, failing, running := read.Steps[0], read.Steps[1], read.Steps[2]
	require.Equal(t, []types.StepState{"PENDING", "FAILED", "RUNNING"}, []types.StepState{waiting.State, failing.State, running.State})
	require.Equal(t, []string{cluster, cluster, old}, []string{waiting.Cluster, running.Cluster, read.Steps[9].Cluster})
	require.Equal(t, ids[6], running.ID)
	require.Equal(t, []string{"application_17_0002", "application_17_0001"}, running.ApplicationIDs, "as they appear in its log")
	require.Empty(t, failing.ApplicationIDs)
	require.Equal(t, "Unknown Error.: java.lang.IllegalStateException: <b>no orders</b>", failing.Reason)
	require.Nil(t, waiting.Started)
	require.Zero(t, waiting.Took(time.Now()))
	require.Nil(t, running.Ended)
	require.Equal(t, time.Hour, running.Took(running.Started.Add(time.Hour)))
	require.Equal(t, failing.Ended.Sub(*failing.Started).Round(time.Second), failing.Took(time.Now().Add(time.Hour)))

	asked := requests.Load()
	require.EqualValues(t, 2, asked)
	require.Equal(t, read.Steps, from.Read(t.Context()).Steps)
	require.Equal(t, asked, requests.Load(), "EMR is asked again after a while only")

	var text bytes.Buffer
	require.NoError(t, read.Render(&text, time.Now()))
	require.Regexp(t, ids[6]+` │ etl.py +│ j-\w+ │ RUNNING +│ +\d+s │ application_17_0002 application_17_0001`, text.String())
	stepsOnThePage(t, from, running)
}

// stepsOnThePage requires the links of a step with an application, behind a forwarder
// and on AWS.
func stepsOnThePage(t *testing.T, from status.Source, running status.Step) {
	t.Helper()
	linksOf := func(id string, headers ...string) map[string]string {
		out := map[string]string{}
		for _, a := range named(openSource(t, from, headers...), "a") {
			if strings.HasSuffix(a.attributes["aria-label"], ", "+id) {
				out[a.text] = a.attributes["href"]
			}
		}
		return out
	}
	services := map[string]string{}
	for _, name := range []string{"victoria-metrics", "victoria-logs", "tempo", "pyroscope", "history", "status"} {
		services[name] = "http://" + name
	}
	forwarded := []string{platform.ServicesHeader, platform.EncodeServices(services)}
	got := linksOf(running.ID, forwarded...)
	require.Equal(t, "http://tempo/api/traces/"+traceID, got["trace"])
	require.Equal(t, "http://history/history/application_17_0002/", got["Spark history"])
	require.Contains(t, got["logs"], "http://victoria-logs/select/vmui/#/?g0.end_input=")
	require.Contains(t, got["logs"], "spark.app.id%22%3A%3D%22application_17_0002%22")
	require.Contains(t, got["profile"], "http://pyroscope/pyroscope/render?")
	require.Contains(t, got["profile"], "spark_app_id%3D%22application_17_0002%22")
	require.Contains(t, got["dashboards"], "http://victoria-metrics/vmui/#/dashboards?g0.end_input=")
	require.Equal(t, "http://status/status/applications/application_17_0002", got["timeline"])
	require.Len(t, got, 6)
	failing := from.Read(t.Context()).Steps[1]
	require.Equal(t, "http://history/", linksOf(failing.ID, forwarded...)["Spark history"], "its log names no application")
	require.NotContains(t, linksOf(failing.ID, forwarded...)["logs"], "spark.app.id")
	require.Empty(t, linksOf(from.Read(t.Context()).Steps[0].ID, forwarded...), "it has not started")

	require.Equal(t, map[string]string{
		"Spark history": "https://console.aws.amazon.com/emr/home?region=us-east-1#/clusterDetails/" + running.Cluster,
		"timeline":      from.Config.Control.StatusURL + "/status/applications/application_17_0002",
	}, linksOf(running.ID), "on AWS without Grafana")
	grafana := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(grafana.Close)
	from.Config.Endpoints[platform.WorkloadGrafana] = status.Endpoint{URL: grafana.URL, ReadyURL: grafana.URL + "/api/health"}
	got = linksOf(running.ID)
	millis := fmt.Sprint(running.Started.Add(-time.Minute).UnixMilli())
	require.Contains(t, got["dashboards"],
		"https://10.0.0.4:3000/d/emr-overview?var-application=application_17_0002&var-cluster_name="+running.Cluster+"&from="+millis+"&to=")
	require.Contains(t, got["timeline"],
		"https://10.0.0.4:3000/d/job-phase-timeline?var-app=application_17_0002&var-cluster_name="+running.Cluster+"&from="+millis+"&to=")
	for title, within := range map[string]string{"trace": traceID, "logs": running.ID, "profile": "application_17_0002"} {
		require.Contains(t, got[title], "https://10.0.0.4:3000/explore?", title)
		require.Contains(t, got[title], within, title)
		require.Contains(t, got[title], millis, title)
		require.NotContains(t, got[title], "$", title)
	}
	items := strings.Join(texts(openSource(t, from), "li"), "\n")
	require.Contains(t, items, "\nPENDING waiting.py Has waited for ")
	require.Regexp(t, `\nFAILED failing.py Took \d+s, started \d+s ago ?\. `, items)
	require.Contains(t, items, "<b>no orders</b>", "EMR's text is no markup")
}

// importLogs imports lines of a step's log, a second apart.
func importLogs(t *testing.T, logs, step string, lines ...string) {
	t.Helper()
	var body strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&body, `{"_time":%q,"_msg":%q,"service.name":"emr-step","emr.step.id":%q}`+"\n",
			time.Now().Add(time.Duration(i-len(lines))*time.Second).UTC().Format(time.RFC3339Nano), line, step)
	}
	const at = "/insert/jsonline?_stream_fields=service.name"
	response, err := http.Post(logs+at, "application/stream+json", strings.NewReader(body.String()))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	storetest.Get(t, logs+"/internal/force_flush")
}

// EMR that refuses, throttles or hangs leaves the rest of the page as it is.
func TestStepsThatCannotBeRead(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	seen(t, metrics, "j-1")
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   []string
	}{
		"refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.1")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"__type":"AccessDeniedException","message":"not authorized to perform: elasticmapreduce:ListSteps"}`))
		}, []string{"AccessDeniedException", "not authorized to perform: elasticmapreduce:ListSteps"}},
		"hanging": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = r.Body.Read(make([]byte, 1<<10)) // so that the end of the connection is noticed
			<-r.Context().Done()
		}, []string{"deadline exceeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			from := source(t, config(t, metrics))
			from.Steps = stepReader(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				test.answer(w, r)
			}))
			began := time.Now()
			read := from.Read(t.Context())
			require.Less(t, time.Since(began), time.Minute)
			require.Len(t, read.Problems, 1)
			require.Contains(t, read.Problems[0], "read steps of cluster j-1: ")
			for _, want := range test.want {
				require.Contains(t, read.Problems[0], want)
			}
			require.Empty(t, read.Steps)
			require.Len(t, read.Nodes, 1)
			require.Equal(t, read.Problems, from.Read(t.Context()).Problems)
			require.EqualValues(t, 1, requests.Load(), "a failure is remembered, too")
		})
	}
}

// A reader that gives up does not leave others with its error.
func TestStepsSurviveAReaderThatGivesUp(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	seen(t, metrics, "j-1")
	gone, giveUp := context.WithCancel(t.Context())
	from := source(t, config(t, metrics))
	from.Steps = stepReader(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		giveUp()
		time.Sleep(100 * time.Millisecond) // a request that ends with its reader would end now
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_, _ = w.Write([]byte(`{"Steps":[{"Id":"s-1","Name":"a","Status":{"State":"PENDING"}}]}`))
	}))
	from.Read(gone)
	require.ErrorIs(t, gone.Err(), context.Canceled)
	read := from.Read(t.Context())
	require.Empty(t, read.Problems)
	require.Len(t, read.Steps, 1)
}

// A platform with many clusters has its requests bounded, and says so.
func TestStepsOfManyClusters(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	store, reader, requests := startEMR(t)
	for range 10 {
		cluster, _ := addSteps(t, store, "a")
		seen(t, metrics, cluster)
	}
	from := source(t, config(t, metrics))
	from.Steps = reader
	read := from.Read(t.Context())
	require.Equal(t, []string{"steps of 2 of the 10 clusters are not read yet: a status asks EMR about those of 8; read it again"},
		read.Problems)
	require.Len(t, read.Steps, 8)
	require.EqualValues(t, 8, requests.Load())
	read = from.Read(t.Context())
	require.Empty(t, read.Problems)
	require.Len(t, read.Steps, 10)
	require.EqualValues(t, 10, requests.Load())
}
