package run_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// onPrimary runs Spark's history server at a loopback address of its own, as on a
// primary node, over a folder of logs.
func onPrimary(w *world, logs string) (address string) {
	w.t.Helper()
	address = fmt.Sprintf("127.77.%d.%d", os.Getpid()>>8&0xff, os.Getpid()&0xff)
	argv := hadoop.HistoryServerCommand(w.uis.JavaHome, filepath.Join(w.uis.Applications, "spark"), map[string]string{
		"spark.history.fs.logDirectory": "file://" + logs, "spark.history.fs.update.interval": "1s",
		"spark.history.ui.port": fmt.Sprint(platform.SparkHistoryUI),
	})
	server := exec.Command(argv[0], argv[1:]...)
	server.Env = append(os.Environ(), "SPARK_LOCAL_IP="+address)
	server.Stderr = w.t.Output()
	require.NoError(w.t, server.Start())
	w.t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	return address
}

// awaitListed blocks until a history server lists an application, completed or not.
func awaitListed(t *testing.T, url, id string, completed bool) {
	t.Helper()
	client, err := history.Open(url, history.Options{})
	require.NoError(t, err)
	err = testenv.Poll(t.Context(), testenv.Start, 200*time.Millisecond, func(ctx context.Context) error {
		listed, err := client.Applications(ctx)
		if err != nil {
			return err
		}
		for _, a := range listed {
			if a.ID == id && a.Attempts[0].Completed == completed {
				return nil
			}
		}
		return fmt.Errorf("%s is not among the %d applications", id, len(listed))
	})
	require.NoError(t, err)
}

// Applications of a running cluster are read behind its own history server, and again
// once they have gone on. The same server is read by its URL alone.
func TestRunningCluster(t *testing.T) {
	w, logs := newWorld(t), t.TempDir()
	whole := logOf(t, "retries", appID(2))
	going := filepath.Join(logs, appID(2)+".inprogress")
	require.NoError(t, os.WriteFile(filepath.Join(logs, appID(1)), logOf(t, "adaptive", appID(1)), 0o600))
	require.NoError(t, os.WriteFile(going, whole[:len(whole)/2], 0o600))
	address := onPrimary(w, logs)
	w.uis.Primary = func(string) (string, error) { return address, nil }
	url := fmt.Sprintf("http://%s:%d", address, platform.SparkHistoryUI)
	awaitListed(t, url, appID(1), true)
	awaitListed(t, url, appID(2), false)

	o := w.options()
	o.States = []types.ClusterState{types.ClusterStateRunning, types.ClusterStateWaiting}
	w.busy(w.cluster("alive"))
	first, _ := w.run(o)
	require.Equal(t, 2, first.ApplicationsRead)
	require.Equal(t, run.ExitComplete, first.ExitCode())
	require.Zero(t, w.made(source.OpCreatePersistentUI))
	require.Equal(t, map[string]bool{appID(1): true, appID(2): false}, completed(w))
	second, _ := w.run(o)
	require.Equal(t, 1, second.ApplicationsCurrent)
	require.Equal(t, 1, second.ApplicationsRead, "it runs")
	require.Zero(t, second.Objects, "and has done nothing since")

	require.NoError(t, os.WriteFile(filepath.Join(logs, appID(2)), whole, 0o600))
	require.NoError(t, os.Remove(going))
	awaitListed(t, url, appID(2), true)
	third, _ := w.run(o)
	require.Equal(t, 1, third.ApplicationsRead)
	require.Equal(t, map[string]bool{appID(1): true, appID(2): true}, completed(w))

	byURL := ofLogs("", t.TempDir())
	byURL.HistoryServer = url
	summary, _ := w.run(byURL)
	require.Equal(t, 2, summary.ApplicationsRead)
	rows := read[tables.Application](t, byURL.Output)
	require.Len(t, rows, 2)
	require.Equal(t, tables.Cluster{ClusterID: address, ClusterName: address}, rows[0].Cluster)
}

// A waiting cluster is read behind its persistent UI. Its own history server is left alone,
// so that the cluster becomes idle.
func TestWaitingClusterBecomesIdle(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("waiting")
	w.ran(id, "adaptive", appID(1))
	require.NoError(t, w.store.Wait(t.Context(), id, func(c types.Cluster) bool { return c.Status.State == types.ClusterStateWaiting }))
	summary, _ := w.run(w.options())
	require.Equal(t, 1, summary.ApplicationsRead)
	require.Equal(t, 1, w.made(source.OpCreatePersistentUI))
	require.Zero(t, w.made(source.OpOnClusterUIURL))

	require.NoError(t, w.store.UpdateCluster(id, func(c *types.Cluster) { c.TerminationProtected = aws.Bool(true) }))
	w.run(w.options())
	require.Positive(t, w.made(source.OpOnClusterUIURL), "no idle timeout ends it")
}

func completed(w *world) map[string]bool {
	w.t.Helper()
	all := map[string]bool{}
	for _, row := range readLake[tables.Application](w) {
		all[row.ApplicationID] = row.Completed
	}
	return all
}
