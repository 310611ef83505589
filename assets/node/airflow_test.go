package node_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/airflowtest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// In both versions of Airflow, a scheduler runs Spark's stock operators: what each starts is
// below its task, in the trace of the DAG's run. tests/cloud has those of EMR.
func TestSparkOperatorsOfAirflow(t *testing.T) {
	testenv.RequireLong(t, "tests/airflow renders the operators' fields, and TestStockClientsOfConnect has the second one's client")
	home, connect := sparkHome(t), sparkConnect().file(t)
	versions := []string{"2", "3"}
	for _, version := range versions {
		airflowtest.Python(t, version)
	}
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	for _, version := range versions {
		t.Run("Airflow "+version, func(t *testing.T) {
			server := startConnect(t, home, connect, "--conf", traced, "--jars", connect)
			server.awaitListening(t)
			scheduler := airflowtest.Start(t, version, "testdata/airflow_spark_dag.py", sparkOperators(t, home, version))
			state := scheduler.Ends(t)
			require.Equal(t, "success", state, scheduler.Logs(t))
			require.NoError(t, server.cmd.Process.Signal(syscall.SIGTERM))
			_ = server.cmd.Wait() // 143
			require.NoError(t, testenv.Poll(t.Context(), testenv.Arrival, 100*time.Millisecond, func(context.Context) error {
				return server.tasksHaveSpans(scheduler)
			}))
			trace, _ := scheduler.Spans.RunOf("connected")
			server.mu.Lock()
			defer server.mu.Unlock()
			for _, span := range server.spans {
				if span.labels()["spark.kind"] == string(platform.SpanJob) {
					require.Equal(t, trace, span.TraceID, "%s is in the DAG run's trace", span.Name)
				}
			}
		})
	}
}

// awaitListening waits until the server accepts connections.
func (s *connectServer) awaitListening(t *testing.T) {
	t.Helper()
	testenv.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:15002")
		if err == nil {
			err = conn.Close()
		}
		return err == nil
	}, testenv.Start, 100*time.Millisecond, "the server listens")
}

// sparkOperators returns the environment of tasks that use Spark: its Python, whose release is the
// server's, the platform's plugin, and two connections.
func sparkOperators(t *testing.T, home, version string) []string {
	t.Helper()
	conf := map[string]string{"spark.ui.enabled": "false"}
	for _, setting := range []string{traced, agentOf("driver", sendsAll())} {
		property, value, _ := strings.Cut(setting, "=")
		conf[property] = value
	}
	properties, err := json.Marshal(conf)
	require.NoError(t, err)
	plugin, err := filepath.Abs("../../integrations/airflow")
	require.NoError(t, err)
	job, err := filepath.Abs("testdata/airflow_spark_job.py")
	require.NoError(t, err)
	own := ownHome(t, home)
	require.NoError(t, os.Symlink(filepath.Join(home, "python"), filepath.Join(own, "python")))
	return append(os.Environ(),
		"PYTHONPATH="+plugin+":"+pysparkPath(t, home), "PYTHONDONTWRITEBYTECODE=1",
		"PATH="+filepath.Join(own, "bin")+":"+os.Getenv("PATH"), "SPARK_HOME="+own, "SPARK_LOCAL_IP=127.0.0.1",
		"SPARK_LOCAL_HOSTNAME=localhost", shortLived, "PYSPARK_PYTHON="+airflowtest.Python(t, version), "CONF="+string(properties), "JOB="+job,
		`AIRFLOW_CONN_SPARK_DEFAULT={"conn_type":"spark","host":"local[2]"}`,
		`AIRFLOW_CONN_SPARK_CONNECT_DEFAULT={"conn_type":"spark_connect","host":"127.0.0.1","port":15002}`)
}

// tasksHaveSpans requires that the application of one task and the operations of the other have
// arrived, each below the span of its task, and the application's labels.
func (s *connectServer) tasksHaveSpans(scheduler *airflowtest.Scheduler) error {
	trace, spans := scheduler.Spans.RunOf("connected")
	names := map[string]string{}
	for _, span := range spans {
		names[hex.EncodeToString(span.SpanID)] = span.Name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds := map[string]platform.SpanKind{"submitted": platform.SpanApplication, "connected": platform.SpanOperation}
	found := map[string]int{}
	for _, span := range s.spans {
		for task, kind := range kinds {
			below := span.TraceID == trace && strings.Contains(names[span.ParentSpanID], task)
			if below && span.labels()["spark.kind"] == string(kind) {
				found[task]++
			}
		}
	}
	for key := range s.metrics {
		info := strings.HasPrefix(key, "driver spark.application.info ")
		if info && strings.Contains(key, " nightly ") && strings.Contains(key, " submitted ") {
			found["its labels"]++
		}
	}
	if found["submitted"] != 1 || found["connected"] == 0 || found["its labels"] != 1 {
		return fmt.Errorf("%d spans of Airflow's in trace %s, and of its tasks: %v", len(spans), trace, found)
	}
	return nil
}
