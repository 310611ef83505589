package statustest

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

const startTimeout = 30 * time.Second

// StartStore starts an empty VictoriaMetrics or VictoriaLogs and returns its URL once
// it answers. The store ends with the test.
func StartStore(t testing.TB, store platform.Workload) string {
	t.Helper()
	found, err := servers.Find(t.Context(), string(store))
	testenv.Require(t, err == nil, fmt.Sprint(err))
	address := testenv.Address(t)
	server := exec.Command(found, "-httpListenAddr="+address, "-storageDataPath="+t.TempDir(), "-loggerLevel=ERROR")
	var output bytes.Buffer
	server.Stdout, server.Stderr = &output, &output
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		if t.Failed() {
			t.Logf("%s: %s", store, output.String())
		}
	})
	WaitForOK(t, "http://"+address+"/health")
	return "http://" + address
}

// WaitForOK waits until a URL answers 200.
func WaitForOK(t testing.TB, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		response, err := http.Get(url)
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, startTimeout, 20*time.Millisecond, url)
}
