package history_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
)

// bound matches the line of the server's log that names its address.
var bound = regexp.MustCompile(`Bound HistoryServer to .* started at http://[^:]+:(\d+)`)

// startServer starts Spark's history server over a folder of logs and returns its URL.
func startServer(t *testing.T, r *run, events string, conf ...string) string {
	t.Helper()
	daemon := hadoop.HistoryServer()
	log := filepath.Join(t.TempDir(), "server.log")
	args := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx" + daemon.Heap, "-Dspark.history.ui.port=0",
		"-Dspark.history.fs.logDirectory=file://" + events, "-Dspark.history.fs.update.interval=1s"}
	for _, c := range conf {
		args = append(args, "-D"+c)
	}
	args = append(args, "-cp", filepath.Join(r.dir, "conf")+":"+filepath.Join(r.tree, "spark/jars/*"), daemon.Class)
	java, err := exec.LookPath("java")
	require.NoError(t, err)
	cmd := exec.Command(java, args...)
	cmd.Env = append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1")
	file, err := os.Create(log)
	require.NoError(t, err)
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var url string
	err = poll.Until(t.Context(), poll.Options{Interval: 100 * time.Millisecond, Timeout: patience}, func(context.Context) error {
		text, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		found := bound.FindSubmatch(text)
		if found == nil {
			return fmt.Errorf("the history server has not started:\n%s", text)
		}
		url = "http://127.0.0.1:" + string(found[1])
		return nil
	})
	require.NoError(t, err)
	return url
}
