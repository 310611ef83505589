package history_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/history"
)

// canary is in all URLs and cookies that let somebody in.
const canary = "CANARY"

// front stands before the history server as EMR's does: a URL that works once lets a
// client in, with a cookie. Every few requests something goes wrong.
type front struct {
	server *httptest.Server
	behind *httputil.ReverseProxy
	every  int // request that goes wrong; 0 is none, 1 is all
	// perURL is how many requests to one URL go wrong. As several are sent at a time, which
	// of them goes wrong is chance, and the client gives up on one that always does.
	perURL int
	fault  func(f *front, w http.ResponseWriter, r *http.Request)
	spoilt int // URLs of every login that have expired

	mu       sync.Mutex
	requests int
	faults   int
	faultsOf map[string]int // by URL
	logins   int
	urls     map[string]bool // not opened yet
	cookie   string          // "" once it has expired
}

func startFront(t *testing.T, behind string) *front {
	t.Helper()
	target, err := url.Parse(behind)
	require.NoError(t, err)
	f := &front{perURL: 3, urls: map[string]bool{}, faultsOf: map[string]int{}, behind: &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/shs")
			r.Out.URL.RawPath = strings.TrimPrefix(r.Out.URL.RawPath, "/shs")
			r.SetURL(target)
		},
		ErrorLog: log.New(io.Discard, "", 0), // of clients that gave up
	}}
	f.server = httptest.NewUnstartedServer(f)
	f.server.Config.ErrorLog = f.behind.ErrorLog
	f.server.StartTLS()
	t.Cleanup(f.server.Close)
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.server.Certificate().Raw})
	require.NoError(t, os.WriteFile(bundle, text, 0o600))
	t.Setenv("AWS_CA_BUNDLE", bundle)
	return f
}

// login is a history.Login.
func (f *front) login(context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logins++
	key := fmt.Sprint(canary, f.logins)
	f.urls[key] = f.logins%(f.spoilt+1) == 0
	return f.server.URL + "/open?key=" + key, nil
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/open" {
		f.open(w, r)
		return
	}
	f.mu.Lock()
	f.requests++
	wrong := f.every > 0 && f.requests%f.every == 0 && strings.Contains(r.URL.Path, "/api/v1/applications/") &&
		(f.every == 1 || f.faultsOf[r.URL.String()] < f.perURL)
	if wrong {
		f.faults++
		f.faultsOf[r.URL.String()]++
	}
	cookie, err := r.Cookie("session")
	in := err == nil && f.cookie != "" && cookie.Value == f.cookie
	f.mu.Unlock()
	switch {
	case !in:
		w.WriteHeader(http.StatusUnauthorized)
	case wrong:
		f.fault(f, w, r)
	default:
		f.behind.ServeHTTP(w, r)
	}
}

func (f *front) open(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := r.FormValue("key")
	if !f.urls[key] {
		http.Error(w, "this URL has expired", http.StatusForbidden)
		return
	}
	f.urls[key] = false
	f.cookie = fmt.Sprint(canary, "-", f.logins)
	http.SetCookie(w, &http.Cookie{Name: "session", Value: f.cookie, Path: "/", Secure: true, HttpOnly: true})
	http.Redirect(w, r, "/shs/", http.StatusFound)
}

// end ends the session, and answers that.
func (f *front) end(w http.ResponseWriter, status int, page string) {
	f.mu.Lock()
	f.cookie = ""
	f.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	fmt.Fprint(w, page)
}

// faults are what goes wrong, by name.
func faults() map[string]func(f *front, w http.ResponseWriter, r *http.Request) {
	status := func(code int) func(*front, http.ResponseWriter, *http.Request) {
		return func(_ *front, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(code)
		}
	}
	return map[string]func(f *front, w http.ResponseWriter, r *http.Request){
		"401":                    func(f *front, w http.ResponseWriter, _ *http.Request) { f.end(w, http.StatusUnauthorized, "") },
		"403":                    func(f *front, w http.ResponseWriter, _ *http.Request) { f.end(w, http.StatusForbidden, "") },
		"login page with 200":    func(f *front, w http.ResponseWriter, _ *http.Request) { f.end(w, http.StatusOK, "<html>Sign in") },
		"429":                    status(http.StatusTooManyRequests),
		"500":                    status(http.StatusInternalServerError),
		"slow":                   func(_ *front, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"truncated":              func(f *front, w http.ResponseWriter, r *http.Request) { f.truncate(w, r, true) },
		"truncated, but in form": func(f *front, w http.ResponseWriter, r *http.Request) { f.truncate(w, r, false) },
		"reset":                  func(*front, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
}

// truncate sends the first half of an answer. Where its length was announced, the client
// can tell by that; else only by what it reads.
func (f *front) truncate(w http.ResponseWriter, r *http.Request, announced bool) {
	r.Header.Del("Accept-Encoding")
	whole := httptest.NewRecorder()
	f.behind.ServeHTTP(whole, r)
	body := whole.Body.Bytes()
	w.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
	if announced {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	_, _ = w.Write(body[:len(body)/2])
}

// attempts counts the application attempts whose logs the server has.
func (s *server) attempts(t *testing.T) int {
	t.Helper()
	logs, err := os.ReadDir(s.events)
	require.NoError(t, err)
	return len(logs)
}

func TestFaultsLoseNothing(t *testing.T) {
	s, err := theServer()
	require.NoError(t, err)
	direct, err := history.Open(s.url, quick())
	require.NoError(t, err)
	var attempts []attempt
	for _, a := range listed(t, direct, s.attempts(t)) {
		if a.app.Name == "history many" || a.app.Name == "history mixed" {
			attempts = append(attempts, a)
		}
	}
	undisturbed := map[string]*sink{}
	for _, a := range attempts {
		undisturbed[a.id()], _ = fromREST(t, direct, a)
	}
	disturb := func(name string, every, spoilt int, fault func(*front, http.ResponseWriter, *http.Request)) {
		t.Run(name, func(t *testing.T) {
			f := startFront(t, s.url)
			f.every, f.fault, f.spoilt = every, fault, spoilt
			o := quick()
			if name == "slow" {
				o.Timeout, f.perURL = 20*time.Second, 1 // a try gets half
			}
			client, err := history.OpenWithLogin(f.login, o)
			require.NoError(t, err)
			rows := 0
			for _, a := range attempts {
				disturbed, summary := fromREST(t, client, a)
				require.Empty(t, compare(undisturbed[a.id()].rows, disturbed.rows))
				require.Equal(t, undisturbed[a.id()].counts, disturbed.counts)
				requireComplete(t, a, summary)
				require.True(t, summary.Final)
				for _, n := range disturbed.counts {
					rows += n
				}
			}
			require.Equal(t, every > 0, f.faults > 0)
			t.Logf("%d requests, %d went wrong, %d URLs; %d rows, 0 lost, 0 doubled", f.requests, f.faults, f.logins, rows)
		})
	}
	disturb("none", 0, 0, nil)
	for name, fault := range faults() {
		every := 5
		if name == "slow" {
			every = 120
		}
		disturb(name, every, 0, fault)
	}
	disturb("expired URLs", 7, 2, faults()["401"])
}

// An endpoint that never answers is named, and the rows of the others are there.
func TestEndpointThatNeverAnswers(t *testing.T) {
	s, err := theServer()
	require.NoError(t, err)
	f := startFront(t, s.url)
	f.every = 1
	f.fault = func(f *front, w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/sql") || strings.HasSuffix(r.URL.Path, "/taskSummary") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		f.behind.ServeHTTP(w, r)
	}
	client, err := history.OpenWithLogin(f.login, quick())
	require.NoError(t, err)
	for _, a := range listed(t, client, s.attempts(t)) {
		if a.app.Name != "history mixed" {
			continue
		}
		rows, summary := fromREST(t, client, a)
		require.False(t, summary.Final)
		reasons := map[string]string{}
		for _, c := range summary.Completeness {
			reasons[c.Endpoint] = c.Reason
			require.NotContains(t, c.Detail, canary)
		}
		require.Equal(t, map[string]string{
			fold.Applications: "", fold.Environments: "", fold.Executors: "", fold.Jobs: "", fold.Stages: "", fold.Tasks: "",
			fold.SQLExecutions: string(fold.Unavailable), fold.SQLNodes: string(fold.Unavailable), fold.TaskSummaries: string(fold.Unavailable),
		}, reasons)
		require.Positive(t, rows.counts["jobs"])
	}
}

// The logs that the server hands out are those that it has, and have the same rows.
func TestLogsOfTheServer(t *testing.T) {
	s, err := theServer()
	require.NoError(t, err)
	logs := fromLogs(t, s.events)
	f := startFront(t, s.url)
	f.every, f.fault = 3, faults()["truncated, but in form"]
	client, err := history.OpenWithLogin(f.login, quick())
	require.NoError(t, err)
	for _, a := range listed(t, client, len(logs)) {
		archive, err := client.UI(a.app.ID, a.of.ID).Logs(t.Context())
		require.NoError(t, err)
		found, err := eventlog.Find(archive, ".")
		require.NoError(t, err)
		require.Len(t, found, 1, a.id())
		rows := newSink()
		_, err = fold.Log(t.Context(), found[0], cluster, fold.Options{Tasks: true}, rows)
		require.NoError(t, err)
		require.Equal(t, logs[a.id()].rows, rows.rows, a.id())
		require.NoError(t, archive.Close())
	}
	require.Positive(t, f.faults)

	o := quick()
	o.MaxLogs, o.Folder = 1000, t.TempDir()
	client, err = history.OpenWithLogin(f.login, o)
	require.NoError(t, err)
	_, err = client.UI("application_1700000000000_0002", "1").Logs(t.Context())
	require.ErrorIs(t, err, history.ErrTooLong)
	left, err := os.ReadDir(o.Folder)
	require.NoError(t, err)
	require.Empty(t, left, "what was downloaded is removed")
}
