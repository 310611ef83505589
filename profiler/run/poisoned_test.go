package run_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/run"
)

// inThePod runs the profiler in a process with the memory of its pod, of which Go is told seven
// tenths (assets/workloads).
func inThePod(t *testing.T, cmd *exec.Cmd) (summary run.Summary) {
	t.Helper()
	pod, err := platform.Workloads().Get(platform.WorkloadProfiler)
	require.NoError(t, err)
	cmd.Env = append(cmd.Env, fmt.Sprintf("GOMEMLIMIT=%dMiB", pod.MemoryMiB*7/10), "GOGC=200")
	out, err := cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &summary))
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(t, ok)
	t.Logf("peak of memory: %d MiB", usage.Maxrss>>10)
	require.Less(t, usage.Maxrss>>10, int64(pod.MemoryMiB))
	return summary
}

// compressed writes a file of zstd.
func compressed(t *testing.T, file string, write func(io.Writer) error) {
	t.Helper()
	f, err := os.Create(file)
	require.NoError(t, err)
	z, err := zstd.NewWriter(f)
	require.NoError(t, err)
	require.NoError(t, write(z))
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
}

// began begins a log.
func began(w io.Writer, n int) error {
	_, err := fmt.Fprintf(w, `{"Event":"SparkListenerLogStart","Spark Version":"3.5.5"}`+"\n"+
		`{"Event":"SparkListenerApplicationStart","App Name":"poisoned","App ID":%q,"Timestamp":1700000000000,"User":"hadoop"}`+"\n", appID(n))
	return err
}

// Histories that a job may write, or answer with, do not end the profiler in its pod, and keep
// nothing else from being read.
func TestPoisonedHistories(t *testing.T) {
	logs, output := folderOf(t, "adaptive"), t.TempDir()
	compressed(t, filepath.Join(logs, appID(2)+".zstd"), func(w io.Writer) error {
		err := began(w, 2)
		for id := range 5_000_000 {
			if err == nil {
				_, err = fmt.Fprintf(w, `{"Event":"SparkListenerExecutorAdded","Timestamp":1700000000001,"Executor ID":"%d","Executor Info":`+
					`{"Host":"ip-10-0-0-%d.ec2.internal","Total Cores":4,"Log Urls":{}}}`+"\n", id, id%256)
			}
		}
		return err
	})
	compressed(t, filepath.Join(logs, appID(3)+".zstd"), func(w io.Writer) error {
		err := began(w, 3)
		if err == nil {
			_, err = io.WriteString(w, `{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1700000000001,`+
				`"Properties":{"spark.job.description":"`)
		}
		block, random := bytes.Repeat([]byte("x"), 1<<20), rand.New(rand.NewPCG(1, 0))
		for range 2 << 10 {
			for at := 0; at < len(block); at += 4 << 10 { // what is compressed far more than logs is refused for that
				copy(block[at:], fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()))
			}
			if err == nil {
				_, err = w.Write(block)
			}
		}
		if err == nil {
			_, err = io.WriteString(w, `"}}`+"\n")
		}
		return err
	})
	nested := logOf(t, "static", appID(4))
	for range 3 {
		var packed bytes.Buffer
		archive := zip.NewWriter(&packed)
		inside, err := archive.Create(appID(4) + ".zip")
		require.NoError(t, err)
		_, err = inside.Write(nested)
		require.NoError(t, err)
		require.NoError(t, archive.Close())
		nested = packed.Bytes()
	}
	require.NoError(t, os.WriteFile(filepath.Join(logs, "eventLogs-"+appID(4)+".zip"), nested, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(logs, appID(5)), logOf(t, "static", appID(5)), 0o600))

	summary := inThePod(t, child(t, logs, output))
	t.Logf("%+v", summary.Incomplete)
	found := applicationsIn(t, output)
	require.Contains(t, found, appID(1))
	require.Contains(t, found, appID(5))
	require.Contains(t, found, appID(3), "but for what the line has beyond a limit")
	require.NotContains(t, found, appID(2))
	require.Contains(t, fmt.Sprint(summary.Incomplete), "a zip within a zip is not read")
	require.Contains(t, reasonsIn(t, output, appID(2)), string(fold.Limited))
}

// A history server, or who answers in place of a driver, has pages without end for one of two
// applications.
func TestServerOfPagesWithoutEnd(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		poisoned, endpoint := strings.Contains(r.URL.Path, appID(1)), path.Base(r.URL.Path)
		switch {
		case endpoint == "applications":
			var all []string
			for n := 1; n <= 2; n++ {
				all = append(all, fmt.Sprintf(`{"id":%q,"name":"job","attempts":[{"startTimeEpoch":1700000000000,"endTimeEpoch":1700000060000,`+
					`"completed":true,"appSparkVersion":"3.5.5"}]}`, appID(n)))
			}
			fmt.Fprintf(w, "[%s]", strings.Join(all, ","))
		case endpoint == "logs":
			w.WriteHeader(http.StatusNotFound)
		case endpoint == "environment":
			fmt.Fprint(w, "{}")
		case endpoint == "sql" && poisoned:
			from, _ := strconv.Atoi(r.FormValue("offset"))
			length, _ := strconv.Atoi(r.FormValue("length"))
			rows := make([]string, length)
			for i := range rows {
				rows[i] = fmt.Sprintf(`{"id":%d,"status":"COMPLETED","description":"%s","nodes":[{"nodeId":1,"nodeName":"Scan","metrics":[`+
					`{"name":"a","value":"1"}]}]}`, from+i, strings.Repeat("x", 2000))
			}
			fmt.Fprintf(w, "[%s]", strings.Join(rows, ","))
		default:
			fmt.Fprint(w, "[]")
		}
	}))
	t.Cleanup(server.Close)
	output := t.TempDir()
	cmd := child(t, server.URL, output)
	inThePod(t, cmd)
	require.Equal(t, []string{appID(1), appID(2)}, applicationsIn(t, output))
	require.Contains(t, reasonsIn(t, output, appID(1)), string(fold.Limited))
	require.NotContains(t, reasonsIn(t, output, appID(2)), string(fold.Limited))
}
