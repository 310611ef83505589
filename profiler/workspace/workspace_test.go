package workspace_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/workspace"
	"github.com/emr-observatory/emr-observatory/profiler/workspace/workspacetest"
)

func open(t *testing.T, url string) *workspace.Client {
	t.Helper()
	c, err := workspace.Open(workspace.Options{Host: url, Token: workspacetest.Token, Pause: time.Millisecond})
	require.NoError(t, err)
	return c
}

// clusters returns n clusters, of which the odd ones have ended, days ago.
func clusters(n int, now time.Time) (all []workspace.Cluster) {
	for i := range n {
		c := workspace.Cluster{ID: fmt.Sprintf("1123-09%04d-abcdef12", i), Name: fmt.Sprint("c", i), State: "RUNNING"}
		if i%2 == 1 {
			c.State, c.Terminated = "TERMINATED", workspace.Millis(now.AddDate(0, 0, -i).UnixMilli())
		}
		all = append(all, c)
	}
	return all
}

// Every cluster is listed once, whatever the pages are like; what the workspace has forgotten is not.
func TestListsAllPages(t *testing.T) {
	w := workspacetest.Serve(t)
	w.Clusters, w.Throttle, w.Fail = clusters(40, w.Now()), 2, 1
	var told []int
	found, err := open(t, w.URL).Clusters(t.Context(), func(n int) { told = append(told, n) })
	require.NoError(t, err)
	var names []string
	for _, c := range found {
		names = append(names, c.Name)
	}
	var want []string
	for i := range 40 {
		if i%2 == 0 || i < 30 {
			want = append(want, fmt.Sprint("c", i))
		}
	}
	require.Equal(t, want, names)
	require.Equal(t, 2, told[0])
	require.Equal(t, 2, told[1], "a page may be empty")
	require.Zero(t, found[0].Terminated.Time())
	require.Equal(t, time.UTC, found[1].Terminated.Time().Location())
}

func TestLongWaitsAreTheServers(t *testing.T) {
	w := workspacetest.Serve(t)
	w.Throttle = 1
	began := time.Now()
	_, err := open(t, w.URL).Clusters(t.Context(), nil)
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), time.Second, "Retry-After")
}

// What stays as it is, is asked for once. Nothing that is returned has the token.
func TestRefusalsAreNotRepeated(t *testing.T) {
	w := workspacetest.Serve(t)
	wrong, err := workspace.Open(workspace.Options{Host: w.URL, Token: "dapi-canary-expired", Pause: time.Millisecond})
	require.NoError(t, err)
	_, err = wrong.Clusters(t.Context(), nil)
	require.ErrorIs(t, err, workspace.ErrToken)
	require.ErrorContains(t, err, "401 Unauthorized: Credential was not sent")
	require.NotContains(t, err.Error(), "canary")
	require.Len(t, w.Requests(), 1)

	w.Fail = 1000
	_, err = open(t, w.URL).Clusters(t.Context(), nil)
	var refused *workspace.APIError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "TEMPORARILY_UNAVAILABLE", refused.Code)
	require.Len(t, w.Requests(), 6)
}

// A login page is no answer, and gets no token.
func TestWebPagesAreNoAnswer(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"page": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<html>Log in</html>")
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://login.example.com/", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			c := open(t, server.URL)
			_, err := c.Clusters(t.Context(), nil)
			require.ErrorContains(t, err, "a web page answered and not the API")
			_, err = c.Files(t.Context()).Open("Volumes/main/logs/eventlog")
			require.ErrorContains(t, err, "a web page answered and not the API", "nor a file")
		})
	}
}

func TestPagesThatDoNotEnd(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"next_page_token":"again"}`)
	}))
	defer server.Close()
	_, err := open(t, server.URL).Clusters(t.Context(), nil)
	require.ErrorContains(t, err, "the pages do not end")
}

func TestHosts(t *testing.T) {
	for host, ok := range map[string]bool{
		"https://dbc-01234567-89ab.cloud.databricks.com": true, "https://dbc-01234567-89ab.cloud.databricks.com/": true,
		"http://127.0.0.1:1": true, "http://localhost:1": true,
		"dbc-01234567-89ab.cloud.databricks.com": false, "http://dbc-01234567-89ab.cloud.databricks.com": false,
		"https://user:canary@example.com": false, "https://example.com/?o=canary": false, "https://example.com/canary": false, "": false,
	} {
		_, err := workspace.Open(workspace.Options{Host: host, Token: "t"})
		if ok {
			require.NoError(t, err, host)
			continue
		}
		require.ErrorIs(t, err, workspace.ErrHost, host)
		require.NotContains(t, err.Error(), "canary")
	}
}

func TestTokensAreNotPrinted(t *testing.T) {
	o := workspace.Options{Host: "h", Token: "canary"}
	text, err := json.Marshal(o)
	require.NoError(t, err)
	for _, shown := range []string{
		fmt.Sprint(o), fmt.Sprintf("%+v", o), fmt.Sprintf("%#v", o), fmt.Sprintf("%s %q", o.Token, o.Token), string(text),
	} {
		require.NotContains(t, shown, "canary")
	}
}

// volume is one with more files than a page.
func volume() fstest.MapFS {
	at := time.Date(2026, 11, 28, 5, 0, 0, 0, time.UTC)
	files := fstest.MapFS{}
	for i := range 7 {
		files[fmt.Sprintf("main/logs/cluster_logs/a b/part-%d#.txt", i)] = &fstest.MapFile{
			Data: []byte(strings.Repeat(fmt.Sprint(i), 200_000)), ModTime: at,
		}
	}
	files["main/logs/cluster_logs/below/one"] = &fstest.MapFile{Data: []byte("1"), ModTime: at}
	return files
}

func TestFilesOfVolumes(t *testing.T) {
	w := workspacetest.Serve(t)
	w.Volumes, w.Compress = volume(), true
	files := open(t, w.URL).Files(t.Context())
	var names []string
	folders, err := fs.ReadDir(files, "Volumes/main/logs/cluster_logs")
	require.NoError(t, err)
	require.Len(t, folders, 2)
	for _, folder := range folders {
		require.True(t, folder.IsDir())
		entries, err := fs.ReadDir(files, "Volumes/main/logs/cluster_logs/"+folder.Name())
		require.NoError(t, err)
		for _, entry := range entries {
			info, err := entry.Info()
			require.NoError(t, err)
			require.Equal(t, 2026, info.ModTime().Year())
			names = append(names, "main/logs/cluster_logs/"+folder.Name()+"/"+entry.Name())
		}
	}
	require.Len(t, names, 8)
	for _, name := range names {
		want, err := fs.ReadFile(w.Volumes, name)
		require.NoError(t, err)
		text, err := fs.ReadFile(files, "Volumes/"+name)
		require.NoError(t, err)
		require.Equal(t, want, text, name)
	}
	file, err := files.Open("Volumes/main/logs/cluster_logs/a b/part-3#.txt")
	require.NoError(t, err)
	reader, is := file.(io.ReaderAt)
	require.True(t, is)
	for _, off := range []int64{199_990, 0, 10, 100_000} {
		part := make([]byte, 10)
		n, err := reader.ReadAt(part, off)
		require.NoError(t, err)
		require.Equal(t, "3333333333", string(part[:n]))
	}
	require.NoError(t, file.Close())
	_, err = files.Open("Volumes/main/logs/none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = files.ReadDir("Volumes/main/none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// sdk lists clusters and reads a volume as a user of Databricks' own library does.
const sdk = `
import json, sys
from databricks.sdk import WorkspaceClient
w = WorkspaceClient(host=sys.argv[1], token=sys.argv[2], auth_type="pat")
clusters = [c.cluster_name for c in w.clusters.list()]
entries = sorted(e.path for e in w.files.list_directory_contents("/Volumes/main/logs/cluster_logs/a b"))
text = w.files.download(entries[3]).contents.read().decode()
print(json.dumps({"clusters": clusters, "entries": entries, "text": text[:5], "length": len(text)}))
`

// The fake is a workspace for Databricks' own Python SDK as well.
func TestSDKReadsTheWorkspace(t *testing.T) {
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with databricks-sdk")
	w := workspacetest.Serve(t)
	w.Clusters, w.Volumes = clusters(5, w.Now()), volume()
	out, err := exec.CommandContext(t.Context(), python, "-c", sdk, w.URL, workspacetest.Token).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("%s", failed.Stderr)
	}
	require.NoError(t, err)
	var found struct {
		Clusters, Entries []string
		Text              string
		Length            int
	}
	require.NoError(t, json.Unmarshal(out, &found))
	require.Equal(t, []string{"c0", "c1", "c2", "c3", "c4"}, found.Clusters)
	require.Len(t, found.Entries, 7)
	require.Equal(t, "/Volumes/main/logs/cluster_logs/a b/part-3#.txt", found.Entries[3])
	require.Equal(t, "33333 200000", fmt.Sprint(found.Text, " ", found.Length))
}
