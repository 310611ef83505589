package run

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
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
	require.Len(t, summary.Incomplete, 1)
	require.Contains(t, summary.Incomplete[0].Reason, "so that its Spark UI was read, which knows its last driver only; set the cluster's log")
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
	const enough = 20 // requests
	for lasts := 1; lasts < enough; lasts++ {
		w, out := workspaceWithUIs(t), t.TempDir()
		ui := startServer(t)
		ui.status[string(history.Logs)] = http.StatusNotFound // as Databricks' has no logs
		silentCluster(w, "1123-090000-aaaaaaaa", ui)
		w.CookieLasts = lasts
		first := readWorkspace(t, w, workspacetest.Cookie, out)
		if first.ApplicationsRead == 1 && !strings.Contains(first.Incomplete[0].Reason, history.ErrCookie.Error()) && unread(t, out) == 0 {
			require.Greater(t, lasts, 4)
			return
		}
		require.LessOrEqual(t, w.UIRequests, lasts+4, "requests that were sent at the same time")
		w.CookieLasts = -1
		second := readWorkspace(t, w, workspacetest.Cookie, out)
		require.Zero(t, unread(t, out), lasts)
		require.Equal(t, 1, second.ApplicationsRead)
		onlyRow[tables.Application](t, out)
		third := readWorkspace(t, w, workspacetest.Cookie, out)
		require.Equal(t, 1, third.ClustersCurrent+third.ApplicationsCurrent)
	}
	require.Fail(t, "the cookie never lasts long enough")
}

// unread counts the parts of applications that another run may find.
func unread(t *testing.T, out string) (n int) {
	t.Helper()
	for _, row := range rowsOf[tables.Completeness](t, out) {
		if fold.Unread(row) {
			n++
		}
	}
	return n
}

// What was read of a log stays when the cluster's delivery is gone and its UI knows less.
func TestRowsOfLogsStayBeforeUIs(t *testing.T) {
	w, out := workspaceWithUIs(t), t.TempDir()
	const id = "1123-090000-aaaaaaaa"
	ui := startServer(t)
	ui.status[string(history.Logs)] = http.StatusNotFound
	silentCluster(w, id, ui)
	text, err := os.ReadFile("../../phases/testdata/logs/static.jsonl") // the application that the server lists
	require.NoError(t, err)
	w.Clusters[0].Delivery.Volumes = &workspace.Folder{Destination: "/Volumes/main/ops/logs"}
	w.Volumes = fstest.MapFS{"main/ops/logs/" + id + "/eventlog/x/7/eventlog": {Data: text}}
	require.Equal(t, 1, readWorkspace(t, w, workspacetest.Cookie, out).ApplicationsRead)
	require.Equal(t, tables.SourceLogs, onlyRow[tables.Application](t, out).Source)
	w.Clusters[0].Delivery.Volumes = nil
	summary := readWorkspace(t, w, workspacetest.Cookie, out)
	require.Equal(t, []int{0, 1}, []int{summary.ApplicationsRead, summary.ApplicationsCurrent})
	require.Equal(t, tables.SourceLogs, onlyRow[tables.Application](t, out).Source)
}

// A page that is no login is its cluster's failure alone.
func TestOtherPagesOfUIs(t *testing.T) {
	w, out := workspaceWithUIs(t), t.TempDir()
	silentCluster(w, "1123-090000-aaaaaaaa", http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(out, "<html>Spark UI is not available</html>")
	}))
	silentCluster(w, "1123-090001-bbbbbbbb", http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		http.Error(out, "not yours", http.StatusForbidden)
	}))
	silentCluster(w, "1123-090002-cccccccc", startServer(t))
	summary := readWorkspace(t, w, workspacetest.Cookie, out)
	require.Equal(t, 1, summary.ApplicationsRead)
	require.Len(t, summary.Incomplete, 3)
	for _, i := range summary.Incomplete {
		require.NotContains(t, i.Reason, history.ErrCookie.Error())
	}
}
