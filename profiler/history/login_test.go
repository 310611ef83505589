package history_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/history"
)

// Secrets that may only be sent over the wire.
const (
	urlCanary    = "URL-CANARY"
	cookieCanary = "COOKIE-CANARY"
)

// presigned is a UI like EMR's: a single-use URL leads to /shs/ and sets a cookie.
type presigned struct {
	*httptest.Server
	mu      sync.Mutex
	issued  int             // URLs
	unused  map[string]bool // URLs that have not been opened
	cookie  string          // the only one that is accepted
	refuse  http.HandlerFunc
	expired int // first URLs, which have expired when they are issued
	busy    int // requests for the API that are answered with 503
}

func startPresigned(t *testing.T) *presigned {
	t.Helper()
	p := &presigned{unused: map[string]bool{}, refuse: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }}
	p.Server = httptest.NewUnstartedServer(p)
	p.Config.ErrorLog = log.New(io.Discard, "", 0) // errors of clients that do not trust it
	p.StartTLS()
	t.Cleanup(p.Close)
	return p
}

// client returns a client that trusts the server and logs in with its URLs.
func (p *presigned) client(t *testing.T) *history.Client {
	t.Helper()
	trust(t, p.Server)
	client, err := history.OpenWithLogin(p.login, quick())
	require.NoError(t, err)
	return client
}

// login is a history.Login.
func (p *presigned) login(context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.issued++
	key := fmt.Sprint(urlCanary, p.issued)
	p.unused[key] = p.issued > p.expired
	return p.URL + "/open?key=" + key, nil
}

func (p *presigned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cookie, _ := r.Cookie("session")
	switch path := r.URL.Path; {
	case path == "/open" && p.unused[r.FormValue("key")]:
		p.unused[r.FormValue("key")] = false
		p.cookie = fmt.Sprint(cookieCanary, p.issued)
		http.SetCookie(w, &http.Cookie{Name: "session", Value: p.cookie, Secure: true, HttpOnly: true, Path: "/"})
		http.Redirect(w, r, "/shs/history/application_1_0001/jobs/?token="+urlCanary, http.StatusFound)
	case path == "/open":
		http.Error(w, "expired: "+r.URL.String(), http.StatusForbidden)
	case cookie == nil || cookie.Value != p.cookie || p.cookie == "":
		p.refuse(w, r)
	case strings.HasPrefix(path, "/shs/api/v1/") && p.busy > 0:
		p.busy--
		w.WriteHeader(http.StatusServiceUnavailable)
	case strings.HasPrefix(path, "/shs/api/v1/"):
		respond(w, `[{"jobId":1}]`)
	case strings.HasPrefix(path, "/shs/history/"):
		fmt.Fprint(w, "<html>")
	default:
		http.NotFound(w, r)
	}
}

// expire ends the session.
func (p *presigned) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cookie = ""
}

func TestLogsInAgainWhenTheSessionEnds(t *testing.T) {
	refusals := map[string]http.HandlerFunc{
		"401": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"403": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"page": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>Sign in")
		},
		"page that claims to be JSON": func(w http.ResponseWriter, _ *http.Request) { respond(w, "\n<!DOCTYPE html>Sign in") },
		"other host": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, strings.Replace("https://"+r.Host, "127.0.0.1", "localhost", 1)+"/signin", http.StatusFound)
		},
	}
	for name, refuse := range refusals {
		t.Run(name, func(t *testing.T) {
			p := startPresigned(t)
			p.refuse = refuse
			client := p.client(t)
			ui := client.UI("application_1_0001", "1")
			for range 3 {
				jobs, err := ui.Jobs(t.Context())
				require.NoError(t, err)
				require.Len(t, jobs, 1)
				p.expire()
			}
			require.Equal(t, 3, p.issued, "one URL per session")
		})
	}
}

// A server that is busy when its URL is opened takes no further URL.
func TestBusyServerKeepsItsURL(t *testing.T) {
	p := startPresigned(t)
	p.busy = 3
	client := p.client(t)
	_, err := client.UI("application_1_0001", "").Jobs(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, p.issued)
}

func TestManyRequestsShareOneLogin(t *testing.T) {
	p := startPresigned(t)
	client := p.client(t)
	for round := range 3 {
		done := make(chan error)
		for i := range 8 {
			go func() {
				_, err := client.UI(fmt.Sprint(i), "").Jobs(context.WithoutCancel(t.Context()))
				done <- err
			}()
		}
		for range 8 {
			require.NoError(t, <-done)
		}
		require.Equal(t, round+1, p.issued)
		p.expire()
	}
}

func TestURLThatHasExpiredIsNotOpenedAgain(t *testing.T) {
	p := startPresigned(t)
	p.expired = 2
	client := p.client(t)
	_, err := client.UI("a", "").Jobs(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, p.issued)

	p.expired = 1 << 30
	p.expire()
	_, err = client.UI("a", "").Jobs(t.Context())
	require.ErrorContains(t, err, "open the presigned URL: 403")
	require.Equal(t, 6, p.issued)
	requireNoSecrets(t, err)
}

// requireNoSecrets fails if an error contains a canary.
func requireNoSecrets(t *testing.T, err error) {
	t.Helper()
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", errors.Unwrap(err))} {
		require.NotContains(t, text, urlCanary)
		require.NotContains(t, text, cookieCanary)
	}
}

func TestErrorsHaveNoSecrets(t *testing.T) {
	denied := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	cases := map[string]struct {
		url   string
		serve http.HandlerFunc
		want  string
	}{
		"no URL":            {"://" + urlCanary, denied, "is not a URL"},
		"nobody listens":    {"https://user:" + urlCanary + "@127.0.0.1:1/open?key=" + urlCanary, denied, "connection refused"},
		"no authority":      {"", nil, "certificate"},
		"redirect to clear": {"", redirectTo("http://localhost/?key=" + urlCanary), "redirect from https to http"},
		"bad redirect":      {"", redirectTo("https://%zz/?key=" + urlCanary), "parse Location"},
		"redirect loop":     {"", redirectTo("/open?key=" + urlCanary), "10 redirects"},
		"no API":            {"", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "has no API"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(c.serve)
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.StartTLS()
			t.Cleanup(server.Close)
			if c.serve != nil {
				trust(t, server)
			}
			presigned := c.url
			if presigned == "" {
				presigned = server.URL + "/open?key=" + urlCanary
			}
			client, err := history.OpenWithLogin(func(context.Context) (string, error) { return presigned, nil }, quick())
			require.NoError(t, err)
			_, err = client.UI("a", "").Jobs(t.Context())
			require.ErrorContains(t, err, c.want)
			requireNoSecrets(t, err)
		})
	}
	client, err := history.OpenWithLogin(func(context.Context) (string, error) {
		return "", errors.New("no access to https://host/?key=" + urlCanary)
	}, quick())
	require.NoError(t, err)
	_, err = client.Applications(t.Context())
	require.ErrorContains(t, err, "request a presigned URL: no access to https://host/")
	requireNoSecrets(t, err)
}

func redirectTo(target string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusFound)
	}
}

// An application that this login may not read does not cause a login per request.
func TestForbiddenAfterNewLoginIsFinal(t *testing.T) {
	p := startPresigned(t)
	p.refuse = func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not yours", http.StatusForbidden) }
	client := p.client(t)
	_, err := client.Applications(t.Context())
	require.NoError(t, err)
	handler := p.Config.Handler
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/jobs") {
			p.refuse(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})
	_, err = client.UI("a", "").Jobs(t.Context())
	require.ErrorIs(t, err, history.ErrForbidden)
	require.Equal(t, 3, p.issued)
	ui := client.UI("b", "")
	_, err = ui.Jobs(t.Context())
	require.ErrorIs(t, err, history.ErrForbidden)
	_, err = ui.Stages(t.Context())
	require.ErrorIs(t, err, history.ErrLeftOut)
	require.Equal(t, 5, p.issued)
}

func TestServerBase(t *testing.T) {
	for _, bad := range []string{"", "primary:18080", "ftp://host", "https://host/shs?key=" + urlCanary} {
		_, err := history.Open(bad, history.Options{})
		require.ErrorContains(t, err, "must", bad)
		requireNoSecrets(t, err)
	}
	for _, page := range []string{"", "/", "/shs", "/shs/", "/shs/history/a/jobs/", "/shs/api/v1"} {
		var requested string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requested = r.URL.Path
			respond(w, "[]")
		}))
		t.Cleanup(server.Close)
		client, err := history.Open(server.URL+page, history.Options{})
		require.NoError(t, err)
		_, err = client.Applications(t.Context())
		require.NoError(t, err)
		want := "/api/v1/applications"
		if strings.HasPrefix(page, "/shs") {
			want = "/shs" + want
		}
		require.Equal(t, want, requested, page)
	}
}
