package tools_test

import (
	"bufio"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Ten thousand requests without a token and ten thousand with it, at most a thousand a second, are
// refused by far the most. The server stays within the memory of its pod, and answers afterwards. A
// run of the profiler beside it writes the same tables as without.
func TestHTTPUnderAFlood(t *testing.T) {
	testenv.RequireLong(t, "TestHTTPRefuses sends a hundred")
	record, err := platform.Workloads().Get(platform.WorkloadTools)
	require.NoError(t, err)
	limit := fmt.Sprintf("GOMEMLIMIT=%dMiB", record.MemoryMiB*7/10) // assets/workloads
	program, dir := filepath.Join(t.TempDir(), "observatory-profiler"), plantedFolder(t)
	out, err := exec.Command("go", "build", "-o", program, "../../cmd/observatory-profiler").CombinedOutput()
	require.NoError(t, err, "%s", out)
	runInto := func(output string) {
		out, err := exec.Command(program, "run", "--logs", logs, "--output", output).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	alone := filepath.Join(t.TempDir(), "lake")
	runInto(alone)

	server := startTools(t, program, dir, limit)
	for _, header := range []string{"", "Bearer " + token} {
		answers := make(chan map[int]int, 1)
		go func() { answers <- server.flood(t, header) }()
		beside := filepath.Join(t.TempDir(), "lake")
		runInto(beside)
		seen := <-answers
		t.Logf("token %t: answers by status %v", header != "", seen)
		require.Greater(t, seen[http.StatusTooManyRequests], 10*(seen[http.StatusOK]+seen[http.StatusUnauthorized]))
		require.Equal(t, header != "", seen[http.StatusOK] > 0)
		require.True(t, maps.Equal(tableFiles(t, alone), tableFiles(t, beside)), "the tables differ")
	}
	testenv.Eventually(t, func() bool {
		return server.post(t, initialize, "Bearer "+token) == http.StatusOK
	}, testenv.Answer, time.Second, "the server answers")
	require.NoError(t, server.cmd.Process.Signal(syscall.SIGTERM))
	<-server.drained
	require.NoError(t, server.cmd.Wait())
	peak := server.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	t.Logf("peak of the server: %d MiB of %d", peak, record.MemoryMiB)
	require.Less(t, peak, int64(record.MemoryMiB))
}

// tableFiles are the files of the tables in a lake, by name.
func tableFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(folder), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".parquet" {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, name))
		found[name] = string(content)
		return err
	}))
	require.NotEmpty(t, found)
	return found
}

// toolsServer is a process that serves the tools with TLS.
type toolsServer struct {
	cmd    *exec.Cmd
	url    string
	client *http.Client

	drained chan struct{} // closed once the audit log has ended
}

var listens = regexp.MustCompile(`the tools listen at (\S+)`)

func startTools(t *testing.T, program, lakeFolder, limit string) *toolsServer {
	t.Helper()
	with := httptest.NewTLSServer(nil) // for its certificate and the client that trusts it
	t.Cleanup(with.Close)
	certificate, folder := with.TLS.Certificates[0], t.TempDir()
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	require.NoError(t, err)
	file := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	free, err := net.Listen("tcp", platform.Loopback+":0")
	require.NoError(t, err)
	require.NoError(t, free.Close())
	cmd := exec.Command(program, "tools", "--output", lakeFolder,
		"--tools-address="+free.Addr().String(), "--token-file="+file("token", []byte(token)),
		"--certificate-file="+file("certificate", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})),
		"--key-file="+file("key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	cmd.Env = append(os.Environ(), limit)
	printed, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		if at := listens.FindStringSubmatch(lines.Text()); at != nil {
			server := &toolsServer{cmd, "https://" + at[1], with.Client(), make(chan struct{})}
			go func() {
				defer close(server.drained)
				_, _ = io.Copy(io.Discard, printed)
			}()
			return server
		}
		t.Log(lines.Text())
	}
	require.FailNow(t, "the server has ended")
	return nil
}

// flood sends ten thousand requests, at most a thousand a second, and counts the answers by status.
func (s *toolsServer) flood(t *testing.T, authorization string) map[int]int {
	var mu sync.Mutex
	seen := map[int]int{}
	var senders sync.WaitGroup
	ticks := time.NewTicker(time.Millisecond)
	defer ticks.Stop()
	for range 50 {
		senders.Go(func() {
			for range 200 {
				<-ticks.C
				status := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"findings","arguments":{"id":"j-0SICK"}}}`,
					authorization)
				mu.Lock()
				seen[status]++
				mu.Unlock()
			}
		})
	}
	senders.Wait()
	return seen
}

// post returns the status of an answer, 0 if there is none.
func (s *toolsServer) post(t *testing.T, body, authorization string) int {
	request, err := newRequest(t.Context(), s.url, body, "Authorization", authorization)
	if err != nil {
		return 0
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode
}
