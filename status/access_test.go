package status_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

const password = "correct-horse-battery"

// source reads from the endpoints of c.
func source(t *testing.T, c status.Config) status.Source {
	t.Helper()
	client, err := status.NewClient(nil, "")
	require.NoError(t, err)
	return status.Source{Config: c, Client: client}
}

// serve serves the status of c over TLS, and returns its address and the access to it.
func serve(t *testing.T, c status.Config) (string, status.Access) {
	t.Helper()
	return serveSource(t, source(t, c))
}

// serveSource is like serve, for any source.
func serveSource(t *testing.T, from status.Source) (string, status.Access) {
	t.Helper()
	server := httptest.NewTLSServer(status.Handler(from, password))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server.URL, status.Access{CACertificate: ca, Password: password}
}

// get requests a URL with a password, unless it is "", and with headers (name, value, …).
func get(t *testing.T, access status.Access, url, user, password string, headers ...string) (*http.Response, string) {
	t.Helper()
	client, err := status.NewClient(access.CACertificate, "")
	require.NoError(t, err)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	if password != "" {
		request.SetBasicAuth(user, password)
	}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(body)
}

func TestEverythingButHealthRequiresThePassword(t *testing.T) {
	url, access := serve(t, config(t, "http://"+testenv.Address(t)))
	for _, path := range []string{"/", "/status", "/status?section=nodes", "/nothing"} {
		for _, login := range [][2]string{
			{platform.StatusUser, ""}, {platform.StatusUser, "wrong"}, {platform.StatusUser, password[:8]}, {platform.StatusUser, password + "x"},
			{"admin", password}, {"", password}, {platform.StatusUser + ":" + password, "x"},
		} {
			response, body := get(t, access, url+path, login[0], login[1])
			require.Equal(t, http.StatusUnauthorized, response.StatusCode, "%s as %v", path, login)
			require.Equal(t, `Basic realm="observatory", charset="UTF-8"`, response.Header.Get("WWW-Authenticate"), "browsers ask for it")
			require.Contains(t, body, "stack output statusPassword")
			require.NotContains(t, body, password)
		}
	}
	health, body := get(t, access, url+"/healthz", "", "")
	require.Equal(t, http.StatusOK, health.StatusCode, "the kubelet has no password")
	require.Equal(t, "ok\n", body)

	whole, _ := get(t, access, url+"/status", platform.StatusUser, password)
	require.Equal(t, http.StatusOK, whole.StatusCode)
	require.Equal(t, "no-store", whole.Header.Get("Cache-Control"))
	root, _ := get(t, access, url, platform.StatusUser, password)
	require.Equal(t, http.StatusFound, root.StatusCode, "the stack output statusUrl has no path")
	require.Equal(t, "/status", root.Header.Get("Location"))
	other, _ := get(t, access, url+"/nothing", platform.StatusUser, password)
	require.Equal(t, http.StatusNotFound, other.StatusCode)
}

func TestFetchNamesTheRemedy(t *testing.T) {
	url, access := serve(t, config(t, "http://"+testenv.Address(t)))
	_, err := status.Fetch(t.Context(), url, access)
	require.NoError(t, err)
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	for name, test := range map[string]struct {
		url    string
		access status.Access
		want   []string
	}{
		"no authority": {url, status.Access{Password: password}, []string{"unknown authority", "caCertificate: --ca-certificate FILE"}},
		"no PEM":       {url, status.Access{CACertificate: []byte("x")}, []string{"no certificate in PEM form", "stack output caCertificate"}},
		"another name": {strings.Replace(url, "127.0.0.1", "localhost", 1), access, []string{"localhost", "stack output statusUrl"}},
		"no password": {url, status.Access{CACertificate: access.CACertificate},
			[]string{"401 Unauthorized", "stack output statusPassword", "--password-file"}},
		"wrong password": {url, status.Access{CACertificate: access.CACertificate, Password: "wrong"},
			[]string{"401 Unauthorized", "OBSERVATORY_STATUS_PASSWORD"}},
		"in clear": {strings.Replace(url, "https", "http", 1), access, []string{"a password is sent to https:// only"}},
		"other":    {other.URL, status.Access{}, []string{"404 Not Found"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := status.Fetch(t.Context(), test.url, test.access)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), password)
		})
	}
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", access, access, access, access), password)
}
