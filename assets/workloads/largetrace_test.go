package workloadconfig_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/artifacts"
	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// controlAddress is the control node's, where a node runs on the same machine: the
// collectors of both have the same ports.
const controlAddress = "127.0.0.2"

// The largest trace that an application may have, of 100,000 tasks in 5,000 stages,
// goes from the launcher over both collectors to Tempo: nobody refuses a span, the
// trace is read whole, and its root tells what was over the budget.
func TestStoreAcceptsLargestTrace(t *testing.T) {
	testenv.RequireLong(t, "TestPluginKeepsTheBudgetOfATrace in assets/node holds the budget, TestSignalsReachTheirStores the way")
	l := newLab(t)
	l.startTempo(true)
	l.start(platform.WorkloadRedelivery)
	l.startWith(platform.WorkloadCollector, configWith(t, platform.WorkloadCollector, "0.0.0.0", controlAddress))
	l.running[platform.WorkloadCollector].ready(t, fmt.Sprintf("http://%s:%d", controlAddress, platform.CollectorHealth))
	installNode(t)
	startNodeCollector(t, l.t.TempDir())

	began := time.Now()
	sent := sendLargeTrace(t)
	t.Logf("%d spans sent in %s, %d over the budget", sent.spans, time.Since(began).Round(time.Millisecond), sent.dropped)
	require.LessOrEqual(t, sent.spans, platform.SpanBudget)
	require.Greater(t, sent.spans, platform.SpanBudget*9/10, "as large as may be")
	require.Zero(t, sent.refused, "the launcher's queue takes all")
	require.Greater(t, sent.dropped, 100_000, "phases of 5 ms, and SQL executions, jobs and stages")

	var got trace
	require.True(t, waitFor(testenv.Job, func() bool {
		got = readTrace(t, sent.id)
		return len(got.spans) >= sent.spans
	}), "%d of %d spans", len(got.spans), sent.spans)
	t.Logf("read after %s, %.1f MB of JSON", time.Since(began).Round(time.Millisecond), float64(got.bytes)/1e6)
	require.Len(t, got.spans, sent.spans, "each once")
	require.Equal(t, 1, got.roots)
	require.Equal(t, strconv.Itoa(sent.dropped), got.dropped, "the root tells")
	for id, parent := range got.spans {
		require.True(t, parent == "" || got.has(parent), "the parent of %s is there", id)
	}
	received := requireNothingRefused(t)
	require.InDelta(t, sent.spans, received, 0, "Tempo has received each span once")
}

// requireNothingRefused reads what the collectors and Tempo count, and returns how many
// spans Tempo has received.
func requireNothingRefused(t *testing.T) (received float64) {
	t.Helper()
	metric := regexp.MustCompile(`(?m)^(tempo_discarded_spans_total|tempo_distributor_spans_received_total|` +
		`otelcol_(?:receiver_refused|exporter_enqueue_failed|exporter_send_failed)_spans_total)(\{[^}]*\})? (\S+)$`)
	for _, url := range []string{
		"http://tempo:3200/metrics", fmt.Sprintf("http://%s:%d/metrics", controlAddress, platform.CollectorMetrics),
		fmt.Sprintf("http://127.0.0.1:%d/metrics", platform.CollectorMetrics),
	} {
		status, body := request("GET", url, "", "")
		require.Equal(t, http.StatusOK, status, url)
		for _, m := range metric.FindAllStringSubmatch(body, -1) {
			value, err := strconv.ParseFloat(m[3], 64)
			require.NoError(t, err)
			if m[1] == "tempo_distributor_spans_received_total" {
				received += value
				continue
			}
			require.Zero(t, value, "%s: %s", url, m[0])
		}
	}
	return received
}

// trace is what Tempo answers: its spans' parents by id, and what its root says.
type trace struct {
	spans   map[string]string
	roots   int
	dropped string
	bytes   int
}

func (r trace) has(id string) bool { _, ok := r.spans[id]; return ok }

func readTrace(t *testing.T, id string) trace {
	t.Helper()
	status, body := requestWithin(testenv.Arrival, "GET", "http://tempo:3200/api/traces/"+id, "", "")
	got := trace{spans: map[string]string{}, bytes: len(body)}
	if status != http.StatusOK {
		return got
	}
	var answer struct {
		Batches []struct {
			ScopeSpans []struct {
				Spans []struct {
					SpanID, ParentSpanID string
					Attributes           []struct {
						Key   string
						Value struct{ IntValue string }
					}
				}
			}
		}
	}
	if json.Unmarshal([]byte(body), &answer) != nil {
		return got // it took too long, and is incomplete
	}
	for _, batch := range answer.Batches {
		for _, scope := range batch.ScopeSpans {
			for _, span := range scope.Spans {
				got.spans[span.SpanID] = span.ParentSpanID
				if span.ParentSpanID != "" {
					continue
				}
				got.roots++
				for _, a := range span.Attributes {
					if a.Key == platform.SpansDropped {
						got.dropped = a.Value.IntValue
					}
				}
			}
		}
	}
	return got
}

// sentTrace is what the sender says of its trace.
type sentTrace struct {
	id                      string
	spans, dropped, refused int
}

// sendLargeTrace runs the sender in the JVM of a driver, with the jars that nodes
// install, until all was sent.
func sendLargeTrace(t *testing.T) (sent sentTrace) {
	t.Helper()
	tree, err := applications.Fetch(context.Background(), nil)
	require.NoError(t, err)
	spark, classes := filepath.Join(tree, "spark", "jars", "*"), t.TempDir()
	out, err := exec.Command("javac", "-nowarn", "-proc:none", "-d", classes,
		"-cp", platform.NodeLauncherJar+":"+platform.NodePluginJar+":"+spark,
		"../node/spark-plugin/src/test/java/observatory/spark/LargeTrace.java").CombinedOutput()
	require.NoError(t, err, string(out))
	printed, errs := runLargeTrace(t, classes, spark)
	require.NotContains(t, errs, "telemetry not sent")
	_, said, _ := strings.Cut("\n"+printed, "\ntrace ") // log4j, too, writes there
	_, err = fmt.Sscan(said, &sent.id, &sent.spans, &sent.dropped, &sent.refused)
	require.NoError(t, err, "%s%s", printed, errs)
	return sent
}

// runLargeTrace runs the sender and returns what it prints.
func runLargeTrace(t *testing.T, classes, spark string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command("java", "-Xmx512m", "-javaagent:"+platform.NodeLauncherJar,
		fmt.Sprintf("-D%s=%d", platform.LauncherExitProperty, testenv.Start.Scaled().Milliseconds()), "-cp", classes+":"+spark,
		"org.apache.spark.deploy.SparkSubmit", "--master", "local[1]", "--class", "observatory.spark.LargeTrace",
		"spark-internal")
	cmd.Env = append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_HOSTNAME=localhost")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, errs.String())
	return string(out), errs.String()
}

// installNode gives this machine the files of a node of which its JVMs and its
// collector need to know.
func installNode(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"/opt", "/mnt"} {
		require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"), dir)
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	}
	facts := platform.FactControl + "=" + controlAddress + "\n"
	for _, label := range platform.HostLabels() {
		facts += string(label) + "=lab\n"
	}
	writeFile(t, platform.NodeFactsFile, facts)
	require.NoError(t, os.MkdirAll(filepath.Dir(platform.NodeQueueDir), 0o755))
	config, err := node.CollectorConfig()
	require.NoError(t, err)
	writeFile(t, platform.NodeCollectorConfig, string(config))
	locked, err := artifacts.Locked(artifacts.Development)
	require.NoError(t, err)
	store, err := artifacts.DefaultStore()
	require.NoError(t, err)
	for name, target := range map[string]string{
		platform.ArtifactLauncher: platform.NodeLauncherJar, platform.ArtifactPlugin: platform.NodePluginJar,
		platform.ArtifactCollector(runtime.GOARCH): platform.NodeCollectorBinary,
	} {
		found := false
		for _, a := range locked {
			if a.Name == name {
				file, err := store.Path(a)
				require.NoError(t, err)
				installArtifact(t, file, target)
				found = true
			}
		}
		require.True(t, found, "the lock has no %s", name)
	}
}

// installArtifact copies a file, which it unpacks if it is packed.
func installArtifact(t *testing.T, file, target string) {
	t.Helper()
	in, err := os.Open(file)
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	var from io.Reader = in
	if filepath.Ext(target) != ".jar" {
		from, err = gzip.NewReader(in)
		require.NoError(t, err)
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o755))
	out, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(out, from)
	require.NoError(t, err)
	require.NoError(t, out.Close())
}

// startNodeCollector runs the node's collector as its unit does.
func startNodeCollector(t *testing.T, dir string) {
	t.Helper()
	log, err := os.Create(filepath.Join(dir, "otelcol.log"))
	require.NoError(t, err)
	cmd := exec.Command(platform.NodeCollectorBinary, "--config", platform.NodeCollectorConfig)
	cmd.Env = append(os.Environ(), platform.EnvCluster+"=j-LAB", platform.EnvRole+"="+platform.RoleCore, platform.EnvHost+"=lab",
		platform.EnvControl+"="+controlAddress, platform.EnvYARNTargets+"=[]", platform.EnvHDFSTargets+"=[]")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	s := &server{cmd: cmd, dir: dir, done: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(s.done) }()
	t.Cleanup(func() {
		s.stop(t)
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("output of the node's collector:\n%s", tail(text, 3000))
		}
	})
	s.ready(t, fmt.Sprintf("http://127.0.0.1:%d", platform.CollectorHealth))
}
