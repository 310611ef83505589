package status_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/command"
	profiler "github.com/emr-observatory/emr-observatory/profiler/serve"
	"github.com/emr-observatory/emr-observatory/report"
	"github.com/emr-observatory/emr-observatory/status"
)

// profilerOf runs the profiler over an event log until the test ends, and returns its address
// once it has read it.
func profilerOf(t *testing.T, log string) string {
	t.Helper()
	logs, address := t.TempDir(), testenv.Address(t)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(logs, "log"), text, 0o600))
	root := &cobra.Command{Use: "observatory-profiler", SilenceUsage: true, SilenceErrors: true}
	command.AddTo(root)
	root.SetArgs([]string{"serve", "--logs", logs, "--output", t.TempDir(), "--listen-address", address})
	root.SetErr(t.Output())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { _ = root.ExecuteContext(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	require.NoError(t, testenv.Poll(t.Context(), testenv.Arrival, 10*time.Millisecond, func(context.Context) error {
		response, err := http.Get("http://" + address + profiler.Path)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		var state profiler.State
		if err := json.NewDecoder(response.Body).Decode(&state); err != nil || state.Last == nil {
			return fmt.Errorf("no run has ended: %w", err)
		}
		return nil
	}))
	return "http://" + address
}

// The page of an application comes from the profiler's tables, for people and for programs.
func TestPageOfAnApplication(t *testing.T) {
	c := config(t, "http://"+testenv.Address(t))
	const id = "application_1700000000000_0001"
	url, access := serve(t, c)
	url += status.ApplicationsPath + "/"
	response, text := get(t, access, url+id, platform.StatusUser, password)
	require.Equal(t, http.StatusNotFound, response.StatusCode, text)
	require.Contains(t, text, "no profiler runs")

	c.Endpoints[platform.WorkloadProfiler] = status.Endpoint{URL: profilerOf(t, "../phases/testdata/logs/reference.jsonl")}
	url, access = serve(t, c)
	url += status.ApplicationsPath + "/"
	response, text = get(t, access, url+id, platform.StatusUser, password, "Accept", "text/html")
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	require.Equal(t, report.Policy(), response.Header.Get("Content-Security-Policy"))
	require.Contains(t, text, "Waiting for resources cost up to")
	require.Contains(t, text, platform.SourceURL+"docs/recipes/troubleshoot/resource-wait-long.md")
	response, text = get(t, access, url+id, platform.StatusUser, password)
	require.Equal(t, http.StatusOK, response.StatusCode, text)
	var page report.Application
	require.NoError(t, json.Unmarshal([]byte(text), &page))
	require.Equal(t, id, page.ID)
	require.NotEmpty(t, page.Findings)

	for path, want := range map[string]int{
		"application_1700000000000_0009": http.StatusNotFound, "app": http.StatusBadRequest, "..%2flast": http.StatusBadRequest,
	} {
		response, text = get(t, access, url+path, platform.StatusUser, password)
		require.Equal(t, want, response.StatusCode, text)
	}
	require.Contains(t, unread(t, access, url), "is not in the tables yet; `observatory profile report` makes a page")
	response, _ = get(t, access, url+id, platform.StatusUser, "")
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
}

func unread(t *testing.T, access status.Access, url string) string {
	t.Helper()
	_, text := get(t, access, url+"application_1700000000000_0009", platform.StatusUser, password)
	return text
}
