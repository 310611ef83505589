package history_test

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/workspace"
	"github.com/emr-observatory/emr-observatory/profiler/workspace/workspacetest"
)

// Through the UI of a workspace's cluster, which is a real history server behind a login, an
// application has the rows of its log but for the documented differences.
func TestUIOfAWorkspaceAgreesWithLogs(t *testing.T) {
	s, err := theServer()
	require.NoError(t, err)
	logs := fromLogs(t, s.events)
	behind, err := url.Parse(s.url)
	require.NoError(t, err)
	w := workspacetest.Serve(t)
	c := workspace.Cluster{ID: "1123-090000-aaaaaaaa", Name: "history", State: "RUNNING", Context: 7}
	w.Clusters, w.UIs = []workspace.Cluster{c}, map[string]http.Handler{c.ID + "/driver-7": httputil.NewSingleHostReverseProxy(behind)}
	w.Loading = 3
	client, err := workspace.Open(workspace.Options{Host: w.URL, Token: workspacetest.Token})
	require.NoError(t, err)
	from := source.NewDatabricks(t.Context(), source.DatabricksOptions{Workspace: client, UI: &source.DatabricksUI{
		URL: w.DataPlane, Cookie: history.NewCookie("DATAPLANE_DOMAIN_DBAUTH", workspacetest.Cookie), History: quick(),
	}})
	found, err := from.Discover(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	opened, err := from.Open(t.Context(), found[0])
	require.NoError(t, err)
	require.ErrorContains(t, opened.Unlisted(), "its Spark UI was read, which knows its last driver only")
	require.NotEmpty(t, opened.Applications)
	compared := 0
	for _, a := range opened.Applications {
		log := logs[a.ID.ApplicationID+"/"+a.ID.AttemptID]
		if log == nil || log.compacted {
			continue
		}
		rows := newSink()
		_, err := fold.REST(t.Context(), a.History, a.App, a.Attempt, cluster, fold.Options{Tasks: true}, rows)
		require.NoError(t, err)
		for _, d := range compare(log.rows, rows.rows) {
			_, err := explained(d, a.App.Name)
			require.NoError(t, err, "%s: %v", a.App.Name, d)
		}
		if compared++; compared == 3 {
			return
		}
	}
	require.Positive(t, compared)
}
