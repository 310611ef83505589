package workloadconfig_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/internal/keptlogs"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

const (
	bucket      = "lab-data"
	gatewayPort = "7070"
	traceID     = "5b8efff798038103d269b633813fc60c"
	month       = 30 * 24 * time.Hour
)

// lab has the control node's servers, with an S3 gateway.
type lab struct {
	t       *testing.T
	s3      string // the bucket's folder
	dirs    map[platform.Workload]string
	running map[platform.Workload]*server
}

func newLab(t *testing.T) *lab {
	t.Helper()
	root := t.TempDir()
	l := &lab{t: t, s3: filepath.Join(root, "s3", bucket), dirs: map[platform.Workload]string{}, running: map[platform.Workload]*server{}}
	iam := filepath.Join(root, "iam")
	require.NoError(t, os.MkdirAll(l.s3, 0o755))
	require.NoError(t, os.MkdirAll(iam, 0o755))
	run(t, servers.VersityGW, root, []string{"ROOT_ACCESS_KEY=lab", "ROOT_SECRET_KEY=lab-secret"},
		"--port", "127.0.0.1:"+gatewayPort, "--iam-dir", iam, "posix", filepath.Dir(l.s3))
	eventually(t, testenv.Arrival, "GET", "http://127.0.0.1:"+gatewayPort+"/", func(status int, _ string) bool { return status != 0 })
	return l
}

// start runs a workload with its configuration.
func (l *lab) start(w platform.Workload) {
	l.t.Helper()
	l.startWith(w, config(l.t, w))
}

// startWith runs a workload with the environment that cluster-config and the pod
// would give it.
func (l *lab) startWith(w platform.Workload, c workloadconfig.Config) {
	l.t.Helper()
	if l.dirs[w] == "" {
		l.dirs[w] = filepath.Join(l.t.TempDir(), string(w))
		l.t.Cleanup(func() { keptlogs.Copy(l.t, l.dirs[w]) })
	}
	l.running[w] = start(l.t, w, c, l.dirs[w],
		platform.ConfigBucket+"="+bucket, platform.ConfigRegion+"=us-east-1",
		platform.ConfigS3Endpoint+"=127.0.0.1:"+gatewayPort, platform.ConfigS3Insecure+"=true", platform.ConfigS3PathStyle+"=true",
		"AWS_ACCESS_KEY_ID=lab", "AWS_SECRET_ACCESS_KEY=lab-secret",
		workloadconfig.EnvNodeName+"=ip-10-0-0-5.ec2.internal")
	if w == platform.WorkloadTempo {
		// Within 30 s of a query, Tempo 2.9 does not stop on SIGTERM: it waits for a
		// queue that only its timer removes (modules/frontend/queue, stopping).
		l.t.Cleanup(l.running[w].kill)
	}
}

// startTempo starts Tempo, with or without the repair of its write-ahead log, and
// waits until it is ready. It removes the 15 s by which Tempo delays its readiness
// by default.
func (l *lab) startTempo(withRepair bool) {
	l.t.Helper()
	c := config(l.t, platform.WorkloadTempo)
	body := c.Files[workloadconfig.TempoFile]
	c.Files[workloadconfig.TempoFile] = strings.Replace(body, "lifecycler: {", "lifecycler: {min_ready_duration: 1ms, ", 1)
	require.NotEqual(l.t, body, c.Files[workloadconfig.TempoFile])
	if !withRepair {
		c.Args = c.Args[slices.Index(c.Args, "--")+2:]
	}
	l.startWith(platform.WorkloadTempo, c)
	l.running[platform.WorkloadTempo].ready(l.t, workloadRecord(l.t, platform.WorkloadTempo).ReadyURL())
}

// startCollector starts the collector, and the redelivery unless it runs.
func (l *lab) startCollector() {
	if r := l.running[platform.WorkloadRedelivery]; r == nil || r.exited() {
		l.start(platform.WorkloadRedelivery)
	}
	l.start(platform.WorkloadCollector)
}

// objects lists the bucket's keys.
func (l *lab) objects() []string {
	var keys []string
	_ = filepath.WalkDir(l.s3, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(l.s3, path)
			keys = append(keys, rel)
		}
		return nil
	})
	return keys
}

// What a node sends reaches its store with its original labels and no others;
// traces and profiles end up in S3 below their prefixes.
func TestSignalsReachTheirStores(t *testing.T) {
	l := newLab(t)
	for _, w := range []platform.Workload{
		platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs, platform.WorkloadTempo, platform.WorkloadPyroscope,
	} {
		l.start(w)
	}
	l.startCollector()
	for w, s := range l.running {
		s.ready(t, workloadRecord(t, w).ReadyURL())
	}

	t.Run("only the declared ports are open", func(t *testing.T) { require.Equal(t, declaredPorts(), listening(t)) })

	now := time.Now()
	send(t, "metrics", resource(`"scopeMetrics":[{"scope":{"name":"lab","version":"9.9"},"metrics":[{"name":"lab.beats",`+
		`"unit":"{beat}","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[{"timeUnixNano":"%d",`+
		`"asInt":"7"}]}}]}]`, now.UnixNano()))
	send(t, "logs", resource(`"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d","severityText":"ERROR",`+
		`"body":{"stringValue":"the lab speaks"}}]}]`, now.UnixNano()))
	send(t, "traces", resource(`"scopeSpans":[{"spans":[{"traceId":"`+traceID+`","spanId":"eee19b7ec3c1b174","name":"lab-step",`+
		`"kind":1,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"}]}]`, now.Add(-time.Second).UnixNano(), now.UnixNano()))

	t.Run("the newest samples are shown", func(t *testing.T) {
		sample := fmt.Sprintf("newest_sample 1 %d", time.Now().Add(-10*time.Second).UnixMilli())
		status, body := request("POST", "http://victoria-metrics:8428/api/v1/import/prometheus", "text/plain", sample)
		require.Equal(t, http.StatusNoContent, status, body)
		_, _ = request("GET", "http://victoria-metrics:8428/internal/force_flush", "", "")
		_, body = request("GET", "http://victoria-metrics:8428/api/v1/query?query=newest_sample", "", "")
		require.Contains(t, body, `"newest_sample"`)
	})
	t.Run("metric", func(t *testing.T) {
		body := eventually(t, testenv.Arrival, "GET", "http://victoria-metrics:8428/api/v1/query?latency_offset=1ms&query=lab_beats_total",
			contains("lab_beats_total"))
		require.Equal(t, map[string]string{
			"__name__": "lab_beats_total", "cluster": "j-LAB", "node_role": "core", "host_name": "ip-10-0-1-7",
			"spark_app_id": "application_1_0001", "spark_executor_id": "1", "service_name": "spark-executor",
		}, seriesLabels(t, body))
	})
	t.Run("log", func(t *testing.T) {
		body := eventually(t, testenv.Arrival, "GET",
			"http://victoria-logs:9428/select/logsql/query?query="+url.QueryEscape(`"the lab speaks"`), contains("the lab speaks"))
		var line map[string]string
		require.NoError(t, json.Unmarshal([]byte(strings.SplitN(body, "\n", 2)[0]), &line))
		require.Equal(t, `{cluster="j-LAB",host.name="ip-10-0-1-7",node.role="core",service.name="spark-executor",`+
			`spark.app.id="application_1_0001",spark.executor.id="1"}`, line["_stream"])
		require.NotContains(t, body, "process.pid")
	})
	t.Run("trace", func(t *testing.T) {
		eventually(t, testenv.Arrival, "GET", "http://tempo:3200/api/traces/"+traceID, contains("lab-step"))
		eventually(t, testenv.Arrival, "POST", "http://tempo:3200/flush", func(status int, _ string) bool { return status/100 == 2 })
		l.waitForObject(platform.PrefixTempo, `^tempo/single-tenant/[0-9a-f-]{36}/data\.parquet$`)
	})
	t.Run("profile", func(*testing.T) { l.profile(now) })
	t.Run("own metrics", ownMetrics)
	t.Run("nobody deletes metrics", func(t *testing.T) {
		const series = "http://victoria-metrics:8428/api/v1/admin/tsdb/delete_series?match[]=lab_beats_total"
		for _, key := range []string{"", "&authKey="} {
			status, body := request("POST", series+key, "", "")
			require.Equal(t, http.StatusUnauthorized, status, body)
		}
	})
	t.Run("S3 holds nothing else", func(t *testing.T) {
		for _, key := range l.objects() {
			require.Regexp(t, `^(tempo|pyroscope)/`, key)
		}
	})
}

// profile pushes a profile as the launcher does, through the relay, which lets nothing else
// through, and stops Pyroscope, which must upload it to S3 before it exits.
func (l *lab) profile(now time.Time) {
	q := url.Values{
		"name":  {`spark-executor{cluster="j-LAB",host_name="ip-10-0-1-7"}`},
		"from":  {strconv.FormatInt(now.Add(-10*time.Second).Unix(), 10)},
		"until": {strconv.FormatInt(now.Unix(), 10)}, "format": {"groups"}, "sampleRate": {"100"},
	}
	status, body := request("POST", "http://redelivery:4041/ingest?"+q.Encode(), "text/plain", "main;shuffle;sort 40\nmain;read 60\n")
	require.Equal(l.t, 200, status, body)
	window := fmt.Sprintf(`{"start":%d,"end":%d,"name":"host_name"}`, now.Add(-time.Hour).UnixMilli(), now.Add(time.Minute).UnixMilli())
	require.True(l.t, waitFor(testenv.Arrival, func() bool {
		_, body = request("POST", "http://pyroscope:4040/querier.v1.QuerierService/LabelValues", "application/json", window)
		return strings.Contains(body, "ip-10-0-1-7")
	}), body)
	for _, path := range []string{"/querier.v1.QuerierService/LabelValues", "/ingest/../querier.v1.QuerierService/LabelValues", "/ready"} {
		status, body = request("POST", "http://redelivery:4041"+path, "application/json", window)
		require.Equal(l.t, 403, status, body)
	}
	l.running[platform.WorkloadPyroscope].stop(l.t)
	l.waitForObject(platform.PrefixPyroscope, `^pyroscope/.+/phlaredb/[0-9A-Z]{26}/index\.tsdb$`)
}

// waitForObject waits until S3 has an object that matches pattern.
func (l *lab) waitForObject(prefix platform.Prefix, pattern string) {
	l.t.Helper()
	re := regexp.MustCompile(pattern)
	require.True(l.t, strings.HasPrefix(pattern, "^"+string(prefix)))
	require.True(l.t, waitFor(testenv.Arrival, func() bool { return slices.ContainsFunc(l.objects(), re.MatchString) }),
		"no object like %s among %q", pattern, l.objects())
}

// The control node's own metrics have its role and short name, and include queue
// sizes and refusals.
func ownMetrics(t *testing.T) {
	for _, name := range []string{
		"otelcol_exporter_queue_size", "otelcol_exporter_queue_capacity", "otelcol_receiver_accepted_log_records_total",
		"otelcol_receiver_refused_metric_points_total", "otelcol_process_memory_rss", "vm_rows_inserted_total", "vl_rows_ingested_total",
		"tempo_distributor_spans_received_total", "system_cpu_time_seconds_total", "system_memory_limit_bytes",
	} {
		q := url.QueryEscape(name + `{node_role="control",host_name="ip-10-0-0-5",service_name!=""}`)
		eventually(t, testenv.Arrival, "GET", "http://victoria-metrics:8428/api/v1/query?latency_offset=1ms&query="+q, contains(name))
	}
	body := eventually(t, testenv.Arrival, "GET",
		"http://victoria-metrics:8428/api/v1/query?query="+url.QueryEscape(`count(go_goroutines)`), is200)
	require.Contains(t, body, `"result":[]`, "go_* is not in the keep-list")
}

// While a store is down the collector accepts data, keeps it through its own restart
// and delivers it once the store is up.
func TestCollectorBuffersWhileStoreIsDown(t *testing.T) {
	l := newLab(t)
	l.startCollector()
	l.running[platform.WorkloadCollector].ready(t, workloadRecord(t, platform.WorkloadCollector).ReadyURL())
	sentAt := time.Now()
	send(t, "metrics", resource(`"scopeMetrics":[{"metrics":[{"name":"lab.kept","gauge":{"dataPoints":[{"timeUnixNano":"%d",`+
		`"asInt":"3"}]}}]}]`, sentAt.UnixNano()))
	eventually(t, testenv.Arrival, "GET", "http://collector:13134/metrics", func(status int, body string) bool {
		return status == 200 && regexp.MustCompile(`otelcol_exporter_queue_size\{[^}]*metrics[^}]*\} [1-9]`).MatchString(body)
	})
	l.running[platform.WorkloadCollector].stop(t)
	l.start(platform.WorkloadVictoriaMetrics)
	l.running[platform.WorkloadVictoriaMetrics].ready(t, workloadRecord(t, platform.WorkloadVictoriaMetrics).ReadyURL())
	l.startCollector()
	body := eventually(t, testenv.Arrival, "GET", "http://victoria-metrics:8428/api/v1/query?latency_offset=1ms&query=lab_kept",
		contains("lab_kept"))
	require.Contains(t, body, `"3"`)
}

// resource returns the OTLP resource of an executor with the data of a signal.
func resource(signal string, args ...any) string {
	return fmt.Sprintf(`{"resource":{"attributes":[`+
		`{"key":"cluster","value":{"stringValue":"j-LAB"}},{"key":"node.role","value":{"stringValue":"core"}},`+
		`{"key":"host.name","value":{"stringValue":"ip-10-0-1-7"}},{"key":"spark.app.id","value":{"stringValue":"application_1_0001"}},`+
		`{"key":"spark.executor.id","value":{"stringValue":"1"}},{"key":"service.name","value":{"stringValue":"spark-executor"}},`+
		`{"key":"process.pid","value":{"intValue":"4711"}},{"key":"telemetry.sdk.version","value":{"stringValue":"1"}}]},`+signal+`}`, args...)
}

// send sends data to the collector, which must accept it.
func send(t *testing.T, signal, resource string) {
	t.Helper()
	status, body := offer(signal, resource)
	require.Equal(t, 200, status, body)
}

// offer sends data to the collector and returns its response.
func offer(signal, resource string) (int, string) {
	key := map[string]string{"metrics": "resourceMetrics", "logs": "resourceLogs", "traces": "resourceSpans"}[signal]
	return request("POST", "http://collector:4318/v1/"+signal, "application/json", `{"`+key+`":[`+resource+`]}`)
}

func seriesLabels(t *testing.T, body string) map[string]string {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct{ Metric map[string]string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	require.Len(t, answer.Data.Result, 1)
	return answer.Data.Result[0].Metric
}

// declaredPorts returns the ports of the servers in TestSignalsReachTheirStores and
// of the S3 gateway.
func declaredPorts() []int {
	ports := []int{7070}
	for _, p := range []platform.Port{
		platform.OTLPGRPC, platform.OTLPHTTP, platform.CollectorHealth, platform.CollectorMetrics,
		platform.VictoriaMetrics, platform.VictoriaLogs,
		platform.Tempo, platform.TempoGRPC, platform.TempoGossip, platform.TempoOTLPHTTP,
		platform.Pyroscope, platform.PyroscopeGRPC, platform.Redelivery, platform.ProfileIntake,
	} {
		ports = append(ports, int(p))
	}
	slices.Sort(ports)
	return ports
}

// listening returns the TCP ports in state LISTEN (0A) in this network namespace.
func listening(t *testing.T) []int {
	t.Helper()
	var ports []int
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(table)
		require.NoError(t, err)
		for _, line := range strings.Split(string(b), "\n")[1:] {
			f := strings.Fields(line)
			if len(f) < 4 || f[3] != "0A" {
				continue
			}
			port, err := strconv.ParseInt(f[1][strings.LastIndex(f[1], ":")+1:], 16, 32)
			require.NoError(t, err)
			ports = append(ports, int(port))
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}
