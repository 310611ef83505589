package workloadconfig_test

import (
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

// `observatory serve` sends a step's span and metrics through the collector to the
// stores, once: also if it is killed and starts again.
func TestStepsReachTheirStores(t *testing.T) {
	l := newLab(t)
	l.start(platform.WorkloadVictoriaMetrics)
	l.start(platform.WorkloadVictoriaLogs)
	l.startTempo(true)
	l.startCollector()
	l.running[platform.WorkloadCollector].ready(t, workloadRecord(t, platform.WorkloadCollector).ReadyURL())

	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	api, err := emrapi.New(store, emrapitest.NoNodes{}, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	served := httptest.NewServer(api)
	t.Cleanup(func() { served.Close(); api.Close() })
	cluster := emrapitest.PutCluster(t, store, func(c *types.Cluster) {
		c.Name, c.ReleaseLabel = aws.String("lab"), aws.String("emr-7.13.0")
	})
	end := func(name string, args ...string) string {
		ids, err := store.AddSteps(cluster, types.StepConfig{
			Name: &name, ActionOnFailure: types.ActionOnFailureContinue,
			HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: args},
		})
		require.NoError(t, err)
		require.NoError(t, store.SetStepState(cluster, ids[0], types.StepStateRunning, nil))
		require.NoError(t, store.SetStepState(cluster, ids[0], types.StepStateCompleted, nil))
		return ids[0]
	}
	send(t, "metrics", strings.NewReplacer("j-LAB", cluster, `"core"`, `"master"`).Replace(resource(`"scopeMetrics":[{"metrics":[`+
		`{"name":"system.memory.usage","unit":"By","sum":{"aggregationTemporality":2,"dataPoints":[{"timeUnixNano":"%d","asInt":"3"}]}}]}]`,
		time.Now().UnixNano())))
	submitted := end("etl.py", "spark-submit", "--conf", platform.SparkTraceparent+"=00-"+traceID+"-eee19b7ec3c1b174-01")
	eventually(t, testenv.Arrival, "GET", "http://victoria-metrics:8428/api/v1/query?latency_offset=1ms&query="+platform.MetricHostSeen,
		contains(cluster))
	line := resource(`"scopeLogs":[{"logRecords":[` + logOf(submitted) + `]}]`)
	send(t, "logs", strings.ReplaceAll(line, "spark-executor", platform.ServiceStep))
	eventually(t, testenv.Arrival, "GET", "http://victoria-logs:9428/select/logsql/query?query=application_17_0042", contains(submitted))

	l.startStatus(served.URL)
	span := eventually(t, testenv.Arrival, "GET", "http://tempo:3200/api/traces/"+traceID, contains("step etl.py"))
	for key, value := range map[string]string{
		"cluster": cluster, "host.name": "ip-10-0-1-7", "service.name": platform.ServiceStep, "emr.step.id": submitted,
		"spark.app.id": "application_17_0042",
	} {
		require.Contains(t, span, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, key, value))
	}
	for _, query := range []string{
		fmt.Sprintf(`observatory_step_duration_seconds{cluster=%q,step_name="etl.py",step_state="COMPLETED",host_name="ip-10-0-1-7"}`, cluster),
		fmt.Sprintf(`observatory_step_count_total{cluster=%q,step_state="COMPLETED"} == 1`, cluster),
		fmt.Sprintf(`%s{cluster=%q,cluster_name="lab",release="emr-7.13.0",state="STARTING",host_name=""} == 1`,
			platform.MetricClusterInfo, cluster),
	} {
		eventually(t, testenv.Arrival, "GET", "http://victoria-metrics:8428/api/v1/query?latency_offset=1ms&query="+url.QueryEscape(query),
			contains(cluster))
	}
	require.Equal(t, 1, spansReceived(t))

	l.running[platform.WorkloadStatus].kill()
	plain := platform.TraceID(end("by another", "hadoop-streaming"))
	l.startStatus(served.URL)
	eventually(t, testenv.Arrival, "GET", "http://tempo:3200/api/traces/"+hex.EncodeToString(plain[:]), contains("step by another"))
	require.Equal(t, 2, spansReceived(t), "the first span is not sent again")
}

// logOf returns a line of a step's log that names its application.
func logOf(step string) string {
	return fmt.Sprintf(`{"timeUnixNano":"%d","body":{"stringValue":"Submitted application application_17_0042"},`+
		`"attributes":[{"key":%q,"value":{"stringValue":%q}}]}`, time.Now().UnixNano(), platform.StepID, step)
}

// spansReceived returns how many spans Tempo has received.
func spansReceived(t *testing.T) int {
	t.Helper()
	_, body := request("GET", "http://tempo:3200/metrics", "", "")
	found := regexp.MustCompile(`(?m)^tempo_distributor_spans_received_total\{.*\} (\d+)$`).FindStringSubmatch(body)
	require.Len(t, found, 2, "%s", body)
	n, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return n
}

// startStatus starts `observatory serve` with an API of EMR, and a ratio of 1.
func (l *lab) startStatus(emr string) {
	l.t.Helper()
	s := settings()
	s.Tracing = schema.Tracing{Enabled: true, SamplingRatio: 1}
	c, err := workloadconfig.Status(workloadRecord(l.t, platform.WorkloadStatus), s)
	require.NoError(l.t, err)
	facts := map[workloadconfig.Fact]string{
		workloadconfig.FactRegion: "us-east-1", workloadconfig.FactBucket: bucket, workloadconfig.FactControlIP: "127.0.0.1",
		workloadconfig.FactGrafanaURL: "https://127.0.0.1:3000", workloadconfig.FactStatusURL: "https://127.0.0.1:8080",
		workloadconfig.FactBootstrapHash: strings.Repeat("0", 64),
	}
	body, err := c.LateFiles[workloadconfig.StatusFile].Render(facts)
	require.NoError(l.t, err)
	c.Files = map[string]string{workloadconfig.StatusFile: body}
	access := l.t.TempDir()
	issued := issuer.SelfSigned(l.t, x509.Certificate{DNSNames: []string{string(platform.WorkloadStatus)}})
	writeFile(l.t, filepath.Join(access, platform.AccessCertificate), issued.Server)
	writeFile(l.t, filepath.Join(access, platform.AccessCACert), issued.Server)
	writeFile(l.t, filepath.Join(access, platform.AccessKey), issued.Key)
	writeFile(l.t, filepath.Join(access, platform.AccessPassword), "a password of the lab")
	for i, arg := range c.Args {
		c.Args[i] = strings.Replace(arg, "/etc/observatory-access", access, 1)
	}
	c.Env = map[string]string{"AWS_ENDPOINT_URL_EMR": emr}
	l.startWith(platform.WorkloadStatus, c)
}
