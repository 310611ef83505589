package workloadconfig_test

import (
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/testenv/issuer"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema"
)

const (
	copyPort      = "14317"
	traceHeaders  = "/team/trace-headers"
	headerOfTrace = `it's "${env:HOME}" for $$5`
)

// serverOf issues the certificate of a receiver that signs itself.
func serverOf(t *testing.T) issuer.Certificate {
	t.Helper()
	return issuer.SelfSigned(t, x509.Certificate{
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// copied is a configuration with a second destination that requires headers.
func copied(protocol string, own issuer.Certificate) schema.Tracing {
	var all schema.Tracing
	all.SetDefaults()
	all.Protocol, all.Endpoint, all.CACertificate = protocol, "localhost:"+copyPort, own.Server
	if protocol == schema.ProtocolHTTP {
		all.Endpoint = "https://localhost:" + copyPort + "/otlp"
	}
	all.ServiceName, all.HeadersParameter = "emr spark", traceHeaders
	return all
}

func collectorWith(t *testing.T, tracing schema.Tracing) workloadconfig.Config {
	t.Helper()
	s := settings()
	s.Tracing = tracing
	return configOf(t, platform.WorkloadCollector, s)
}

// startTraces starts Tempo, and the collector with these traces.
func (l *lab) startTraces(c workloadconfig.Config) {
	l.t.Helper()
	l.startTempo(true)
	l.start(platform.WorkloadRedelivery)
	l.startWith(platform.WorkloadCollector, c)
	l.running[platform.WorkloadCollector].ready(l.t, workloadRecord(l.t, platform.WorkloadCollector).ReadyURL())
}

// sendSpan sends a trace of one span from an executor and returns its id.
func sendSpan(t *testing.T, n int) string {
	t.Helper()
	id, now := fmt.Sprintf("%032x", n+1), time.Now()
	send(t, "traces", resource(`"scopeSpans":[{"spans":[{"traceId":"`+id+`","spanId":"eee19b7ec3c1b174","name":"lab-step",`+
		`"kind":1,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"}]}]`, now.Add(-time.Second).UnixNano(), now.UnixNano()))
	return id
}

func inTempo(t *testing.T, id string) string {
	t.Helper()
	return eventually(t, testenv.Arrival, "GET", "http://tempo:3200/api/traces/"+id, contains("lab-step"))
}

// collectorMetric is the sum of a metric of the collector over series with a text; ok
// is false if there are none.
func collectorMetric(name, with string) (sum float64, ok bool) {
	_, body := request("GET", "http://collector:13134/metrics", "", "")
	for _, m := range regexp.MustCompile(`(?m)^`+name+`\{([^}]*)\} (\S+)$`).FindAllStringSubmatch(body, -1) {
		if strings.Contains(m[1], with) {
			value, _ := strconv.ParseFloat(m[2], 64)
			sum, ok = sum+value, true
		}
	}
	return sum, ok
}

// The copy of the traces survives the destination's and the collector's death, has the
// headers and the other name, and Tempo notices nothing.
func TestTracesAreCopiedFromAQueue(t *testing.T) {
	for _, protocol := range []string{schema.ProtocolGRPC, schema.ProtocolHTTP} {
		t.Run(protocol, func(t *testing.T) {
			parameters(t).PutParameter(traceHeaders, "Authorization: Bearer lab\nX-Team:  "+headerOfTrace)
			own, l := serverOf(t), newLab(t)
			c := collectorWith(t, copied(protocol, own))
			l.startTraces(c)

			first := sendSpan(t, 1)
			require.Contains(t, inTempo(t, first), "spark-executor")
			require.True(t, waitFor(testenv.Arrival, func() bool {
				n, _ := collectorMetric("otelcol_exporter_queue_size", "otlp_"+protocol+"/copy")
				return n > 0
			}), "the copy waits in its queue")
			l.running[platform.WorkloadCollector].kill()
			l.startWith(platform.WorkloadCollector, c)
			l.running[platform.WorkloadCollector].ready(t, workloadRecord(t, platform.WorkloadCollector).ReadyURL())
			for n := range 2 {
				got := startReceiver(t, protocol, own)
				id := first
				if n > 0 {
					id = sendSpan(t, 3)
				}
				arrived := got.await(t, id)
				require.Equal(t, "emr spark", arrived.service)
				require.Equal(t, "ip-10-0-1-7", arrived.host)
				require.Equal(t, "Bearer lab", arrived.headers("Authorization"))
				require.Equal(t, headerOfTrace, arrived.headers("X-Team"))
				got.kill()
				require.Contains(t, inTempo(t, sendSpan(t, 10+n)), "spark-executor")
			}
			log := l.logOf(platform.WorkloadCollector)
			require.NotContains(t, log, "Bearer lab")
			require.NotContains(t, log, "for $")
			said, err := os.ReadFile(filepath.Join(l.dirs[platform.WorkloadCollector], c.Preparation.Name+".log"))
			require.NoError(t, err)
			require.Empty(t, string(said))
		})
	}
}

// A full queue loses the copy only: senders see no refusal, and Tempo gets everything
// as soon as without a copy, also while the destination hangs.
func TestAFullQueueLosesTheCopyOnly(t *testing.T) {
	l := newLab(t)
	hanging, err := net.Listen("tcp", "127.0.0.1:"+copyPort) // accepts connections and says nothing
	require.NoError(t, err)
	t.Cleanup(func() { _ = hanging.Close() })
	tracing := copied(schema.ProtocolGRPC, serverOf(t))
	tracing.HeadersParameter = ""
	c := collectorWith(t, tracing)
	before := c.Files[workloadconfig.CollectorFile]
	at := strings.Index(before, "otlp_grpc/copy:")
	small := strings.NewReplacer("queue_size: 1073741824", "queue_size: 20000",
		"min_size: 524288, max_size: 2097152", "min_size: 1000, max_size: 10000")
	c.Files[workloadconfig.CollectorFile] = before[:at] + small.Replace(before[at:])
	require.NotContains(t, c.Files[workloadconfig.CollectorFile][at:], "min_size: 524288")
	l.startTraces(c)

	const traces = 200
	var slowest time.Duration
	for n := range traces {
		began := time.Now()
		sendSpan(t, n)
		slowest = max(slowest, time.Since(began))
	}
	t.Logf("%d traces accepted, the slowest in %v", traces, slowest)
	for _, n := range []int{0, traces / 2, traces - 1} {
		inTempo(t, fmt.Sprintf("%032x", n+1))
	}
	require.True(t, waitFor(testenv.Arrival, func() bool {
		sent, _ := collectorMetric("otelcol_exporter_sent_spans_total", "otlp_http/traces")
		return sent == traces
	}), "every span reaches Tempo once")
	lost, _ := collectorMetric("otelcol_exporter_enqueue_failed_spans_total", "otlp_grpc/copy")
	require.Positive(t, lost, "what does not fit is counted")
	failed, _ := collectorMetric("otelcol_exporter_enqueue_failed_spans_total", "otlp_http/traces")
	require.Zero(t, failed)
	refused, _ := collectorMetric("otelcol_receiver_refused_spans_total", "")
	require.Zero(t, refused)
}

// Where the headers cannot be read the collector starts all the same, and the copy
// waits for its next start.
func TestTheCopyWaitsForItsHeaders(t *testing.T) {
	p := parameters(t)
	own, l := serverOf(t), newLab(t)
	got := startReceiver(t, schema.ProtocolGRPC, own)
	c := collectorWith(t, copied(schema.ProtocolGRPC, own))
	l.startTraces(c)
	log, err := os.ReadFile(filepath.Join(l.dirs[platform.WorkloadCollector], "trace-headers.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "ParameterNotFound")
	require.Contains(t, string(log), "SSM parameter "+traceHeaders+" cannot be read; the copy of the traces waits")
	id := sendSpan(t, 1)
	inTempo(t, id)
	require.True(t, waitFor(testenv.Arrival, func() bool {
		n, _ := collectorMetric("otelcol_exporter_queue_size", "otlp_grpc/copy")
		return n > 0
	}))
	require.Empty(t, got.all(), "nothing goes out without the headers")

	p.PutParameter(traceHeaders, "Authorization: Bearer lab")
	l.running[platform.WorkloadCollector].stop(t)
	l.startWith(platform.WorkloadCollector, c)
	require.Equal(t, "Bearer lab", got.await(t, id).headers("Authorization"))
}

// What is no list of headers is not shown, and is never part of the configuration.
func TestMalformedHeadersHoldTheCopy(t *testing.T) {
	p := parameters(t)
	for name, value := range map[string]string{
		"no header": "hunter2", "one of two": "A: b\nhunter2", "control character": "A: hunter2\x01", "twice": "A: hunter2\na: hunter2",
		"two colons are fine but not a quote in the name": `A": hunter2`,
	} {
		t.Run(name, func(t *testing.T) {
			p.PutParameter(traceHeaders, value)
			dir := t.TempDir()
			prepared := *collectorWith(t, copied(schema.ProtocolHTTP, serverOf(t))).Preparation
			prepare(t, prepared, strings.NewReplacer(workloadconfig.PreparedDir, filepath.Join(dir, "prepared")), dir,
				[]string{"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=lab", "AWS_SECRET_ACCESS_KEY=lab-secret"})
			log, err := os.ReadFile(filepath.Join(dir, prepared.Name+".log"))
			require.NoError(t, err)
			require.Contains(t, string(log), "SSM parameter "+traceHeaders+" has a ")
			written, err := os.ReadFile(filepath.Join(dir, "prepared", "traceheaders.yaml"))
			require.NoError(t, err)
			require.Equal(t, "exporters: {otlp_http/copy: {endpoint: \"https://127.0.0.1:9\"}}\n", string(written))
			require.NotContains(t, string(log), "hunter2")
		})
	}
}

func TestWithoutACopyTheCollectorHasNoSecondDestination(t *testing.T) {
	off := copied(schema.ProtocolGRPC, serverOf(t))
	off.Enabled = false
	none := copied(schema.ProtocolGRPC, serverOf(t))
	none.Endpoint = ""
	for _, tracing := range []schema.Tracing{{}, off, none} {
		require.Equal(t, config(t, platform.WorkloadCollector), collectorWith(t, tracing))
	}
	require.Nil(t, config(t, platform.WorkloadCollector).Preparation)
}

// The stores leave room for the queue of the copy.
func TestStoresLeaveRoomForTheCopy(t *testing.T) {
	for _, w := range []platform.Workload{platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs} {
		with := settings()
		with.Tracing = copied(schema.ProtocolGRPC, serverOf(t))
		require.Contains(t, config(t, w).Args, "-storage.minFreeDiskSpaceBytes=6GiB")
		require.Contains(t, configOf(t, w, with).Args, "-storage.minFreeDiskSpaceBytes=7GiB")
	}
}
