package cloud_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
	collectortraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// storedSpan is a span as Tempo's API has it, and as OTLP does.
type storedSpan struct {
	TraceID, SpanID, ParentSpanID []byte
	Name                          string
}

// traceOf returns the spans that Tempo has of a trace; none yet if it does not know it.
func (c *cloud) traceOf(t *testing.T, id string) (spans []storedSpan) {
	t.Helper()
	var answer struct {
		Batches []struct {
			ScopeSpans []struct{ Spans []storedSpan }
		}
	}
	if err := c.tryGet(t, string(platform.WorkloadTempo), "/api/traces/"+id, &answer); err != nil {
		return nil
	}
	for _, batch := range answer.Batches {
		for _, scope := range batch.ScopeSpans {
			spans = append(spans, scope.Spans...)
		}
	}
	return spans
}

// spanSink takes spans over OTLP, as HTTP: where Airflow, which has no way into the local cloud's VPC,
// exports its own.
type spanSink struct {
	mu    sync.Mutex
	spans []storedSpan
}

func (s *spanSink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collectortraces.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				s.spans = append(s.spans, storedSpan{span.TraceId, span.SpanId, span.ParentSpanId, span.Name})
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// dagRun returns the trace of the DAG's run, by a span of one of its tasks, and Airflow's spans of it; ""
// if none has arrived.
func (s *spanSink) dagRun() (id string, spans []storedSpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var of []byte
	for _, span := range s.spans {
		if strings.Contains(span.Name, "retried") {
			of = span.TraceID
		}
	}
	for _, span := range s.spans {
		if of != nil && bytes.Equal(span.TraceID, of) {
			spans = append(spans, span)
		}
	}
	return hex.EncodeToString(of), spans
}

// dagRunsAreTraces runs a DAG in each version of Airflow by its own scheduler.
func dagRunsAreTraces(t *testing.T, c *cloud) {
	testenv.RequireLong(t, "tests/airflow renders the fields in both versions, and tests/phases checks whose child an application is")
	stack := c.outputs(t)
	job, err := os.Open("testdata/airflow_job.py")
	require.NoError(t, err)
	defer func() { _ = job.Close() }()
	key := string(platform.PrefixLake) + "airflow/job.py"
	_, err = c.objects(t).PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(stack.DataBucket), Key: aws.String(key), Body: job})
	require.NoError(t, err)
	for _, version := range []string{"2", "3"} {
		t.Run("Airflow "+version, func(t *testing.T) {
			airflow := startAirflow(t, version, append(c.environment(t),
				"CLUSTER="+stack.Clusters["main"].ID, "JOB=s3://"+stack.DataBucket+"/"+key))
			require.Equal(t, "success", airflow.ends(t))
			c.requireOneTrace(t, airflow.sink, version)
		})
	}
}

// requireOneTrace waits until the DAG's run, the spans of Airflow's tasks, the six steps and their
// applications are one trace, and requires that none of them is an orphan and that no id exists twice.
func (c *cloud) requireOneTrace(t *testing.T, sink *spanSink, version string) {
	t.Helper()
	const step, application = "step ", "application "
	err := testenv.Poll(t.Context(), testenv.Cloud, 2*time.Second, func(context.Context) error {
		of, own := sink.dagRun()
		stored := c.traceOf(t, of)
		if steps, applications := named(stored, step), named(stored, application); len(steps) != 6 || len(applications) != 6 {
			return fmt.Errorf("trace %q has %d steps and %d applications", of, len(steps), len(applications))
		}
		return wholeTrace(append(stored, own...), step)
	})
	require.NoError(t, err)
	of, own := sink.dagRun()
	spans, parents := c.traceOf(t, of), map[string]bool{}
	ids := map[string]storedSpan{}
	for _, span := range spans {
		_, twice := ids[string(span.SpanID)]
		require.False(t, twice, "%s has an id of another span", span.Name)
		ids[string(span.SpanID)] = span
	}
	for _, span := range own { // Airflow 2 has one span for all instances of a mapped task, and exports it as often
		other, twice := ids[string(span.SpanID)]
		require.False(t, twice && !slices.ContainsFunc(own, func(s storedSpan) bool { return s.Name == other.Name }),
			"%s and %s have one id", span.Name, other.Name)
		ids[string(span.SpanID)] = span
	}
	for _, span := range named(spans, step) {
		parents[string(span.ParentSpanID)] = true
	}
	tasks := 5 // two, both tries of retried, and both instances of each
	if version == "2" {
		tasks = 4 // whose instances have one span
	}
	require.Len(t, parents, tasks)
	for _, try := range []string{"1", "2"} {
		testenv.Eventually(t, func() bool {
			rows := c.query(t, fmt.Sprintf("last_over_time(%s{%s=%q,%s=%q,%s=%q,%s=%q}[1h])", platform.MetricApplicationInfo, "trace_id", of,
				platform.AirflowDAG, "nightly", platform.AirflowTask, "retried", platform.AirflowTry, try))
			return len(rows) == 1
		}, testenv.Arrival, time.Second, "try %s has its labels", try)
	}
}

// named returns the spans whose names begin with a text.
func named(spans []storedSpan, prefix string) (found []storedSpan) {
	for _, span := range spans {
		if strings.HasPrefix(span.Name, prefix) {
			found = append(found, span)
		}
	}
	return found
}

// wholeTrace returns an error if a span has a parent that is not among them, or a step one that is a step.
func wholeTrace(spans []storedSpan, step string) error {
	ids := map[string]storedSpan{}
	for _, span := range spans {
		ids[string(span.SpanID)] = span
	}
	for _, span := range spans {
		parent, is := ids[string(span.ParentSpanID)]
		if !is && len(span.ParentSpanID) > 0 {
			return fmt.Errorf("%s has no parent in the trace", span.Name)
		}
		if strings.HasPrefix(span.Name, step) && (!is || strings.HasPrefix(parent.Name, step)) {
			return fmt.Errorf("%s belongs to %q and not to a task of Airflow's", span.Name, parent.Name)
		}
	}
	return nil
}

// airflow is a scheduler of Airflow with one DAG.
type airflow struct {
	python, home string
	sink         *spanSink
	log          *bytes.Buffer
}

// startAirflow starts a scheduler with an empty database, in which the plugin is installed.
func startAirflow(t *testing.T, version string, env []string) airflow {
	t.Helper()
	a := airflow{python: os.Getenv("OBSERVATORY_AIRFLOW" + version), home: t.TempDir(), sink: &spanSink{}, log: &bytes.Buffer{}}
	testenv.Require(t, a.python != "", "OBSERVATORY_AIRFLOW"+version+" is not set: `make test` sets it to a Python with Airflow")
	dags := filepath.Join(a.home, "dags")
	require.NoError(t, os.Mkdir(dags, 0o755))
	dag, err := os.ReadFile("testdata/airflow_dag.py")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dags, "nightly.py"), dag, 0o644))
	exported := httptest.NewServer(a.sink)
	t.Cleanup(exported.Close)
	address, err := url.Parse(exported.URL)
	require.NoError(t, err)
	plugin, site := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(plugin, os.DirFS("../../integrations/airflow"))) // setuptools writes beside its sources
	install := exec.CommandContext(t.Context(), a.python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site, plugin)
	out, err := install.CombinedOutput()
	require.NoError(t, err, string(out))
	host, port, err := net.SplitHostPort(testenv.Address(t))
	require.NoError(t, err)
	env = append(env, "AIRFLOW_HOME="+a.home, "PYTHONPATH="+site,
		"PATH="+filepath.Dir(a.python)+":"+os.Getenv("PATH"), "AIRFLOW__CORE__DAGS_FOLDER="+dags, "AIRFLOW__CORE__LOAD_EXAMPLES=False",
		"AIRFLOW_CONN_AWS_DEFAULT=aws://", "AIRFLOW__TRACES__OTEL_ON=True",
		"AIRFLOW__TRACES__OTEL_HOST="+address.Hostname(), "AIRFLOW__TRACES__OTEL_PORT="+address.Port())
	command := []string{"scheduler"}
	if version == "3" {
		command = []string{"standalone"}
		env = append(env, "AIRFLOW__API__HOST="+host, "AIRFLOW__API__PORT="+port,
			"AIRFLOW__CORE__EXECUTION_API_SERVER_URL=http://"+net.JoinHostPort(host, port)+"/execution/",
			"OTEL_TRACES_EXPORTER=otlp_proto_http", "OTEL_EXPORTER_OTLP_ENDPOINT="+exported.URL)
	} else {
		migrate := exec.CommandContext(t.Context(), a.python, "-m", "airflow", "db", "migrate")
		migrate.Env = env
		out, err := migrate.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	a.start(t, env, command)
	return a
}

// start runs one of Airflow's commands until the test ends.
func (a airflow) start(t *testing.T, env, command []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), a.python, append([]string{"-m", "airflow"}, command...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, a.log, a.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it starts others
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Wait() // the test's context has ended it
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the end of Airflow's log:\n%s", a.log.Bytes()[max(0, a.log.Len()-4000):])
		}
	})
}

// states prints the state of the DAG's run and of its tasks.
const states = `import sqlite3, sys
db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
print(*(state for (state,) in db.execute("select state from dag_run")))
print(db.execute("select task_id, map_index, try_number, state from task_instance").fetchall())
`

// ends waits for the end of the DAG's run and returns its state.
func (a airflow) ends(t *testing.T) (state string) {
	t.Helper()
	var seen string
	testenv.Eventually(t, func() bool {
		out, err := exec.CommandContext(t.Context(), a.python, "-c", states, filepath.Join(a.home, "airflow.db")).CombinedOutput()
		if seen = string(out); err != nil {
			return false // the database is not complete yet
		}
		state, _, _ = strings.Cut(seen, "\n")
		return state == "success" || state == "failed"
	}, 2*testenv.Cloud, 2*time.Second, "the DAG's run ends")
	t.Log(seen)
	return state
}
