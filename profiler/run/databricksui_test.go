package run

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/profiler/workspace"
	"github.com/emr-observatory/emr-observatory/profiler/workspace/workspacetest"
)

// silentCluster returns a cluster that delivers no logs, whose UI is a server.
func silentCluster(w *workspacetest.Workspace, id string, ui http.Handler) {
	now := time.Now()
	c := workspace.Cluster{ID: id, Name: id, State: "TERMINATED", Context: 7}
	c.Started, c.Terminated = workspace.Millis(now.AddDate(0, 0, -2).UnixMilli()), workspace.Millis(now.AddDate(0, 0, -1).UnixMilli())
	w.Clusters = append(w.Clusters, c)
	w.UIs[id+"/driver-7"] = ui
}

func workspaceWithUIs(t *testing.T) *workspacetest.Workspace {
	t.Helper()
	w := workspacetest.Serve(t)
	w.UIs = map[string]http.Handler{}
	return w
}

// readWorkspace reads a workspace into a lake with a cookie.
func readWorkspace(t *testing.T, w *workspacetest.Workspace, cookie, out string) Summary {
	t.Helper()
	client, err := workspace.Open(workspace.Options{Host: w.URL, Token: workspacetest.Token})
	require.NoError(t, err)
	from := source.NewDatabricks(t.Context(), source.DatabricksOptions{Workspace: client, UI: &source.DatabricksUI{
		URL: w.DataPlane, Cookie: history.NewCookie(DataPlaneCookie, cookie), History: history.Options{Pause: time.Millisecond},
	}})
	summary, _, err := runSource(t.Context(), t, nil, from, out)
	require.NoError(t, err)
	return summary
}

// What a cluster does not deliver is read through its UI, once that has loaded. A cluster that delivers
// everything is not asked.
func TestUIsOfAWorkspace(t *testing.T) {
	w, out := workspaceWithUIs(t), t.TempDir()
	silentCluster(w, "1123-090000-aaaaaaaa", startServer(t))
	silentCluster(w, "1123-090001-bbbbbbbb", http.NotFoundHandler())
	w.Clusters[1].Delivery.Volumes = &workspace.Folder{Destination: "/Volumes/main/ops/logs"}
	w.Volumes = fstest.MapFS{"main/ops/logs/1123-090001-bbbbbbbb/eventlog/x/8/eventlog": {Data: deliveredStatic(t)}}
	w.Loading = 2
	summary := readWorkspace(t, w, workspacetest.Cookie, out)
	require.Empty(t, summary.Incomplete)
	require.Equal(t, 2, summary.ApplicationsRead)
	asked := w.UIRequests
	again := readWorkspace(t, w, workspacetest.Cookie, out)
	require.Equal(t, []int{2, 0}, []int{again.ClustersCurrent, again.ApplicationsRead}, "they have ended")
	require.Equal(t, asked, w.UIRequests)
	require.NoError(t, filepath.WalkDir(out, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		require.NotContains(t, string(text), workspacetest.Cookie, name)
		return err
	}))
}

// deliveredStatic is a log of an application that ran on a cluster.
func deliveredStatic(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../../phases/testdata/logs/driver-bound.jsonl")
	require.NoError(t, err)
	return text
}

// An expired cookie is one error for all clusters after one request, and loses nothing: the next run,
// with another one, reads them.
func TestExpiredCookieOfAWorkspace(t *testing.T) {
	w, out := workspaceWithUIs(t), t.TempDir()
	silentCluster(w, "1123-090000-aaaaaaaa", startServer(t))
	silentCluster(w, "1123-090001-bbbbbbbb", startServer(t))
	summary := readWorkspace(t, w, "an-old-canary", out)
	require.Equal(t, 1, w.UIRequests)
	require.Zero(t, summary.ApplicationsRead)
	require.Len(t, summary.Incomplete, 2)
	for _, i := range summary.Incomplete {
		require.Contains(t, i.Reason, "it delivers no logs; set the cluster's log delivery")
		require.Contains(t, i.Reason, history.ErrCookie.Error())
		require.NotContains(t, i.Reason, "canary")
	}
	require.Equal(t, 2, readWorkspace(t, w, workspacetest.Cookie, out).ApplicationsRead)
}

// A cookie that expires while an application is read leaves it for the next run.
func TestCookieThatExpiresMeanwhile(t *testing.T) {
	for lasts := 1; ; lasts++ {
		w, out := workspaceWithUIs(t), t.TempDir()
		ui := startServer(t)
		ui.status[string(history.Logs)] = http.StatusNotFound // as Databricks' has no logs
		silentCluster(w, "1123-090000-aaaaaaaa", ui)
		w.CookieLasts = lasts
		first := readWorkspace(t, w, workspacetest.Cookie, out)
		if len(first.Incomplete) == 0 { // it lasted long enough
			require.Greater(t, lasts, 4)
			return
		}
		require.LessOrEqual(t, w.UIRequests, lasts+4, "requests that were sent at the same time")
		w.CookieLasts = -1
		second := readWorkspace(t, w, workspacetest.Cookie, out)
		require.Empty(t, second.Incomplete, lasts)
		require.Equal(t, 1, second.ApplicationsRead)
		onlyRow[tables.Application](t, out)
		third := readWorkspace(t, w, workspacetest.Cookie, out)
		require.Equal(t, 1, third.ClustersCurrent+third.ApplicationsCurrent)
	}
}
