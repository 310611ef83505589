package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// zipOf packs golden logs, each under the name of an application's log, but for a page.
func zipOf(t *testing.T, names ...string) string {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for i, name := range names {
		text, err := os.ReadFile(goldenLogs + name)
		require.NoError(t, err)
		if filepath.Ext(name) == ".jsonl" {
			name = fmt.Sprintf("application_1700000000000_%04d", i)
		}
		entry, err := w.Create(name)
		require.NoError(t, err)
		_, err = entry.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	file := filepath.Join(t.TempDir(), "eventLogs")
	require.NoError(t, os.WriteFile(file, packed.Bytes(), 0o600))
	return file
}

// A history server gives the log of an application as a zip.
func TestTraceImportFromAZip(t *testing.T) {
	want, _, err := runTrace(t, "--dry-run", goldenLogs+"static.jsonl")
	require.NoError(t, err)
	got, _, err := runTrace(t, "--dry-run", zipOf(t, "static.jsonl"))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// On the local cloud the result ends with a link to the trace, elsewhere with how to find it.
func TestTraceImportPrintsALink(t *testing.T) {
	api, endpoint := startTempo(t)
	state := runningCloud(t, map[string]string{
		string(platform.WorkloadCollector): endpoint, string(platform.WorkloadTempo): strings.TrimPrefix(api, "http://"),
	})
	command := traceImportCommand(&settings{state: state})
	var out bytes.Buffer
	command.SetOut(&out)
	command.SetArgs([]string{goldenLogs + "static.jsonl"})
	require.NoError(t, command.ExecuteContext(t.Context()))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	link := strings.TrimSpace(lines[len(lines)-1])
	require.Equal(t, api+"/api/traces/694316b52f37d7e52c2efe66a46d3b93", link)
	testenv.Eventually(t, func() bool {
		response, err := http.Get(link)
		if err == nil {
			response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK
	}, testenv.Arrival, 200*time.Millisecond, "the link leads to the trace")

	elsewhere, _, err := runTrace(t, "--endpoint", endpoint, goldenLogs+"static.jsonl")
	require.NoError(t, err)
	require.Contains(t, elsewhere, "search the platform's Grafana (stack output grafanaUrl)")
}
