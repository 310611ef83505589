package node_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/airflowtest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// The stock Python client (pyspark-client, which Airflow's operators use) names the parent of its operations in each
// way: all that a session does is where its user wanted it, with its jobs below.
func TestStockClientsOfConnect(t *testing.T) {
	testenv.RequireLong(t, "TestConnectOperationsAreInTheirCallersTraces has clients that speak the same protocol")
	python := airflowtest.Python(t, "3") // with Airflow's Spark provider
	home, connect := sparkHome(t), sparkConnect().file(t)
	if !onMachine(t) {
		return
	}
	installLauncher(t)
	server := startConnect(t, home, connect, "--conf", traced, "--jars", connect)
	file := filepath.Join(t.TempDir(), "rows.json")
	write(t, file, `{"a":1}`+"\n")
	parents := map[string]string{"metadata": byMetadata, "tag": byTag, "configuration": byConfiguration, "none": ""}
	server.awaitListening(t)
	cmd := exec.Command(python, "testdata/connect_client.py", "15002", file, byMetadata, byTag, byConfiguration)
	// The client of the server's release: a later one asks for what this server does not know.
	cmd.Env = append(os.Environ(), "PYTHONPATH="+pysparkPath(t, home))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, errs.String())
	server.stop(t)
	require.NotContains(t, server.printed.String(), "observatory:", "what the plugin could not do")

	how := map[string]string{} // by session
	for line := range strings.Lines(string(out)) {
		of, session, _ := strings.Cut(strings.TrimSpace(line), " ")
		how[session] = of
	}
	require.Len(t, how, len(parents))
	byID, operations := server.byID(t), map[string]int{}
	for _, span := range server.spans {
		labels := span.labels()
		switch labels["spark.kind"] {
		case string(platform.SpanJob):
			_, ok := server.operationOf(t, byID, span)
			require.True(t, ok, "%s is in no operation", span.Name)
		case string(platform.SpanOperation):
			of := how[labels[platform.AttributeConnectSession]]
			require.Equal(t, "user_of_"+of, labels[platform.AttributeConnectUser])
			operations[of]++
			analysis := strings.HasPrefix(labels[platform.AttributeConnectOperation], "analysis-")
			if parent := parents[of]; parent != "" && (of != "tag" || !analysis) { // such calls have no tags
				require.Equal(t, parent[3:35], span.TraceID, "%s of %s", span.Name, of)
				require.Equal(t, parent[36:52], span.ParentSpanID, "%s of %s", span.Name, of)
				continue
			}
			require.Equal(t, string(platform.SpanSession), byID[span.ParentSpanID].labels()["spark.kind"], "%s of %s", span.Name, of)
		}
	}
	for of := range parents {
		require.GreaterOrEqual(t, operations[of], 4, of)
	}
}

// pysparkPath returns the Python path of the Spark in a folder.
func pysparkPath(t *testing.T, home string) string {
	t.Helper()
	py4j, err := filepath.Glob(filepath.Join(home, "python/lib/py4j-*.zip"))
	require.NoError(t, err)
	require.Len(t, py4j, 1)
	return filepath.Join(home, "python") + ":" + py4j[0]
}
