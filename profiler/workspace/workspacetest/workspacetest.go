// Package workspacetest is a fake Databricks workspace: its REST API as far as package workspace asks,
// and less helpful than it may be. Pages are shorter than asked for and may be empty, tokens of pages
// say nothing, requests are throttled, and what is older than 30 days is gone.
package workspacetest

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/workspace"
)

// Token is the one that the workspace accepts.
const Token = "dapi0123456789abcdef-canary"

// Cookie is the one that UIs accept.
const Cookie = "dbauth0123456789-canary"

const (
	pageSize = 2
	keptDays = 30
)

// Workspace is the fake. Its fields may change between requests.
type Workspace struct {
	URL      string
	Clusters []workspace.Cluster
	Volumes  fs.FS // names begin with the catalog
	// Throttle is how many of the next requests are refused: every other one says for how long.
	Throttle int
	// Fail is how many of the next requests are answered with an internal error.
	Fail int
	// Compress has files compressed on their way, as proxies do for clients that accept it. Databricks'
	// SDK reads no such files.
	Compress bool
	// Now is the workspace's clock.
	Now func() time.Time

	// DataPlane is the URL of the clusters' Spark UIs, another host's.
	DataPlane string
	// UIs are servers of Spark's REST API, by "CLUSTER/driver-CONTEXT".
	UIs map[string]http.Handler
	// Loading is how many of the next requests to UIs are answered with a page that says so.
	Loading int
	// CookieLasts is after how many more requests to UIs the cookie expires; it does not if it is negative.
	CookieLasts int
	// UIRequests counts the requests to UIs.
	UIRequests int

	mu       sync.Mutex
	pages    map[string]page
	requests []string
}

// page is what a token stands for.
type page struct {
	path  string
	from  int
	empty bool
}

// Serve starts a workspace for as long as the test runs.
func Serve(t testing.TB) *Workspace {
	w := &Workspace{Now: time.Now, pages: map[string]page{}, CookieLasts: -1}
	server, plane := httptest.NewServer(w), httptest.NewServer(http.HandlerFunc(w.serveUI))
	t.Cleanup(server.Close)
	t.Cleanup(plane.Close)
	w.URL, w.DataPlane = server.URL, plane.URL
	return w
}

// Requests returns the paths that were asked for.
func (w *Workspace) Requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.requests...)
}

// ServeHTTP answers as the API does.
func (w *Workspace) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r.URL.Path)
	files, isFile := strings.CutPrefix(r.URL.Path, "/api/2.0/fs/files/Volumes/")
	folder, isFolder := strings.CutPrefix(r.URL.Path, "/api/2.0/fs/directories/Volumes/")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+Token:
		refuse(out, http.StatusUnauthorized, "", "Credential was not sent or was of an unsupported type for this API.")
	case w.Throttle > 0:
		if w.Throttle--; w.Throttle%2 == 0 {
			out.Header().Set("Retry-After", "1")
		}
		refuse(out, http.StatusTooManyRequests, "REQUEST_LIMIT_EXCEEDED", "Your request was rejected: the rate limit is exceeded.")
	case w.Fail > 0:
		w.Fail--
		refuse(out, http.StatusServiceUnavailable, "TEMPORARILY_UNAVAILABLE", "The service is taking too long to process your request.")
	case r.URL.Path == "/api/2.1/clusters/list":
		w.list(out, r)
	case isFile:
		w.file(out, r, files)
	case isFolder:
		w.folder(out, r, folder)
	default:
		refuse(out, http.StatusNotFound, "ENDPOINT_NOT_FOUND", "No API found for '"+r.Method+" "+r.URL.Path+"'")
	}
}

func refuse(out http.ResponseWriter, status int, code, message string) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_ = json.NewEncoder(out).Encode(map[string]string{"error_code": code, "message": message}) // to a test's connection
}

// serveUI answers as the data plane does: to a browser that is logged in, else with the way to the login.
func (w *Workspace) serveUI(out http.ResponseWriter, r *http.Request) {
	cookie, err := r.Cookie("DATAPLANE_DOMAIN_DBAUTH")
	w.mu.Lock()
	w.UIRequests++
	allowed := err == nil && cookie.Value == Cookie && w.CookieLasts != 0
	if w.CookieLasts > 0 {
		w.CookieLasts--
	}
	loading := allowed && w.Loading > 0
	if loading {
		w.Loading--
	}
	w.mu.Unlock()
	parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/sparkui/"), "/", 3)
	switch {
	case !allowed:
		http.Redirect(out, r, w.URL+"/login", http.StatusFound)
	case loading:
		out.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(out, "<html>Loading historical Spark UI for this cluster</html>") // to a test's connection
	case len(parts) < 3 || w.UIs[parts[0]+"/"+parts[1]] == nil:
		http.Error(out, "no such driver", http.StatusNotFound)
	default:
		http.StripPrefix("/sparkui/"+parts[0]+"/"+parts[1], w.UIs[parts[0]+"/"+parts[1]]).ServeHTTP(out, r)
	}
}

func (w *Workspace) list(out http.ResponseWriter, r *http.Request) {
	var kept []workspace.Cluster
	for _, c := range w.Clusters {
		if end := c.Terminated.Time(); end.IsZero() || w.Now().Sub(end) < keptDays*24*time.Hour {
			kept = append(kept, c)
		}
	}
	part(w, out, r, "clusters", kept)
}

// part answers with a page. The second page of several is empty.
func part[T any](w *Workspace, out http.ResponseWriter, r *http.Request, name string, all []T) {
	at := page{path: r.URL.Path}
	if token := r.URL.Query().Get("page_token"); token != "" {
		if at = w.pages[token]; at.path != r.URL.Path { // of an unknown token: ""
			refuse(out, http.StatusBadRequest, "INVALID_PARAMETER_VALUE", "Invalid page token.")
			return
		}
	}
	size := pageSize
	if asked, err := strconv.Atoi(r.URL.Query().Get("page_size")); err == nil && asked > 0 {
		size = min(size, asked)
	}
	next := page{path: at.path, from: min(at.from+size, len(all)), empty: at.from == 0}
	if at.empty {
		next = page{path: at.path, from: at.from}
	}
	answer := map[string]any{name: all[at.from:next.from]}
	if next.from < len(all) {
		token := rand.Text()
		w.pages[token] = next
		answer["next_page_token"] = token
	}
	out.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(out).Encode(answer) // to a test's connection
}

func (w *Workspace) file(out http.ResponseWriter, r *http.Request, name string) {
	text, err := fs.ReadFile(w.volumes(), name)
	info, statErr := fs.Stat(w.volumes(), name)
	if err != nil || statErr != nil {
		refuse(out, http.StatusNotFound, "NOT_FOUND", "The file being accessed is not found.")
		return
	}
	out.Header().Set("Content-Type", "application/octet-stream")
	if w.Compress && r.Header.Get("Accept-Encoding") != "identity" {
		out.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(out)
		_, _ = packed.Write(text)
		_ = packed.Close()
		return
	}
	http.ServeContent(out, r, path.Base(name), info.ModTime(), bytes.NewReader(text))
}

func (w *Workspace) folder(out http.ResponseWriter, r *http.Request, name string) {
	entries, err := fs.ReadDir(w.volumes(), name)
	if err != nil {
		refuse(out, http.StatusNotFound, "NOT_FOUND", "The directory being accessed is not found.")
		return
	}
	contents := []map[string]any{}
	for _, entry := range entries {
		found := map[string]any{"path": "/Volumes/" + name + "/" + entry.Name(), "name": entry.Name(), "is_directory": entry.IsDir()}
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			found["file_size"], found["last_modified"] = info.Size(), info.ModTime().UnixMilli()
		}
		contents = append(contents, found)
	}
	part(w, out, r, "contents", contents)
}

func (w *Workspace) volumes() fs.FS {
	if w.Volumes == nil {
		return fs.FS(none{})
	}
	return w.Volumes
}

// none has no files.
type none struct{}

// Open finds nothing.
func (none) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
