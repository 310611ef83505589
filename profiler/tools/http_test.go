package tools_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

const token = "a-token-of-the-tests-k4n4ry"

// withToken sends the token with each request.
type withToken struct{ next http.RoundTripper }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return w.next.RoundTrip(r)
}

// lockedBuffer is written by a server while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// overHTTP serves rows with TLS.
func overHTTP(t *testing.T, rows tools.Rows) (server *httptest.Server, audit *lockedBuffer) {
	t.Helper()
	audit = &lockedBuffer{}
	server = httptest.NewTLSServer(tools.Handler(rows, tools.HTTP{Token: token, Audit: audit}, t.Output()))
	t.Cleanup(server.Close)
	return server, audit
}

// Over HTTP the answers are those on standard input and output. The audit log has who asked what,
// and no text of a job or a caller.
func TestHTTPGivesTheSameAnswers(t *testing.T) {
	rows := tools.FromLake(plantedLake(t))
	server, audit := overHTTP(t, rows)
	over := client(t, &mcp.StreamableClientTransport{
		Endpoint: server.URL + platform.ToolsPath, HTTPClient: &http.Client{Transport: withToken{server.Client().Transport}},
		DisableStandaloneSSE: true,
	}, nil)
	here := connect(t, rows)
	for _, arguments := range []map[string]any{{"id": sickCluster}, {"id": "skew-sick"}, {"id": "no such canary"}} {
		want, err := here.CallTool(t.Context(), params("findings", arguments))
		require.NoError(t, err)
		got, err := over.CallTool(t.Context(), params("findings", arguments))
		require.NoError(t, err)
		require.Equal(t, want.IsError, got.IsError)
		require.Equal(t, textOf(t, want), textOf(t, got))
	}
	_, err := over.CallTool(t.Context(), params("k4n4ry' OR 1", map[string]any{"K4N4RY": 1}))
	require.Error(t, err)
	lines := strings.Split(strings.TrimSpace(audit.String()), "\n")
	require.Len(t, lines, 4)
	require.Regexp(t, `"client":"127.0.0.1","tool":"findings","arguments":\["id"\],"id":"j-0SICK","duration_ms":\d+,`+
		`"answer_bytes":[1-9]\d+,"failed":false`, lines[0])
	require.Regexp(t, `"failed":true`, lines[2])
	require.Contains(t, lines[3], `"tool":"unknown"`)
	for _, never := range []string{"skew-sick", "canary", "k4n4ry", "K4N4RY", token} {
		require.NotContains(t, audit.String(), never)
	}
}

// initialize is a first request of a client.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"test","version":"1"}}}`

// newRequest returns a request of a client, with these headers: each name before its value.
func newRequest(ctx context.Context, url, body string, headers ...string) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return request, nil
}

func post(t *testing.T, server *httptest.Server, body string, headers ...string) *http.Response {
	t.Helper()
	request, err := newRequest(t.Context(), server.URL+platform.ToolsPath, body, headers...)
	require.NoError(t, err)
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// What has not the token, comes from another website's page, is too large or too much, is refused.
func TestHTTPRefuses(t *testing.T) {
	server, audit := overHTTP(t, fromLake(t, logs))
	const bearer = "Bearer " + token
	for name, c := range map[string]struct {
		body    string
		headers []string
		want    int
	}{
		"token":           {initialize, []string{"Authorization", bearer}, http.StatusOK},
		"no token":        {initialize, nil, http.StatusUnauthorized},
		"wrong token":     {initialize, []string{"Authorization", bearer + "x"}, http.StatusUnauthorized},
		"another scheme":  {initialize, []string{"Authorization", "Basic " + token}, http.StatusUnauthorized},
		"another origin":  {initialize, []string{"Authorization", bearer, "Origin", "https://example.com"}, http.StatusForbidden},
		"another site":    {initialize, []string{"Authorization", bearer, "Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"a large request": {`{"x":"` + strings.Repeat("x", 1<<17) + `"}`, []string{"Authorization", bearer}, http.StatusRequestEntityTooLarge},
		"no JSON":         {`{`, []string{"Authorization", bearer}, http.StatusBadRequest},
	} {
		response := post(t, server, c.body, c.headers...)
		require.Equal(t, c.want, response.StatusCode, name)
		if c.want == http.StatusUnauthorized {
			require.Equal(t, `Bearer realm="`+platform.Name+`"`, response.Header.Get("WWW-Authenticate"))
		}
	}
	response, err := server.Client().Get(server.URL + platform.HealthPath)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	refused := post(t, server, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"findings"}}`)
	require.Equal(t, http.StatusUnauthorized, refused.StatusCode)
	require.Empty(t, audit.String())
	limited := 0
	for range 100 {
		if response := post(t, server, initialize, "X-Forwarded-For", fmt.Sprint(limited)); response.StatusCode == http.StatusTooManyRequests {
			limited++
			require.NotEmpty(t, response.Header.Get("Retry-After"))
		}
	}
	require.Positive(t, limited)
}

// A client that sends too many requests keeps no other from sending its own. Very many clients take
// no memory that stays: those that have sent nothing for a while are forgotten, and the others share
// one limit.
func TestClientsHaveTheirOwnLimits(t *testing.T) {
	allows, now := tools.AllowsRequest(), time.Unix(1000, 0)
	for range tools.RequestsBurst {
		require.True(t, allows("10.0.0.1", now))
	}
	require.False(t, allows("10.0.0.1", now))
	require.True(t, allows("10.0.0.2", now))
	require.True(t, allows("10.0.0.1", now.Add(time.Second)))
	for i := range tools.MostClients - 2 {
		allows(fmt.Sprint(i), now)
	}
	allowed := 0
	for i := range 10 * tools.RequestsBurst {
		if allows(fmt.Sprintf("late %d", i), now) {
			allowed++
		}
	}
	require.Equal(t, tools.RequestsBurst, allowed)
	require.True(t, allows("an hour later", now.Add(time.Hour)))
}

// A server that could be reached without TLS, or without a token, does not start. All faults are
// named.
func TestHTTPIsSafeOrDoesNotStart(t *testing.T) {
	for _, c := range []struct {
		address string
		o       tools.HTTP
		want    string
	}{
		{"127.0.0.1:0", tools.HTTP{Token: token}, ""},
		{"[::1]:0", tools.HTTP{Token: token}, ""},
		{"0.0.0.0:1", tools.HTTP{Token: token, Certificate: "c", Key: "k"}, ""},
		{"0.0.0.0:1", tools.HTTP{Token: token}, "without a certificate it must be a loopback address"},
		{"localhost:1", tools.HTTP{Token: token}, "without a certificate it must be a loopback address"},
		{"1", tools.HTTP{Token: token}, "must be HOST:PORT"},
		{"10.0.0.1:1", tools.HTTP{Token: "short", Key: "k"}, "certificate and key: give both, or none\ntoken: 5 bytes: must have 16 or more"},
	} {
		err := c.o.Validate(c.address)
		if c.want == "" {
			require.NoError(t, err, c.address)
			continue
		}
		require.ErrorContains(t, err, c.want)
	}
	file := filepath.Join(t.TempDir(), "token")
	_, err := tools.ReadToken(file)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(file, []byte("short\n"), 0o600))
	_, err = tools.ReadToken(file)
	require.ErrorContains(t, err, "5 bytes: must have 16 or more")
	require.NoError(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	read, err := tools.ReadToken(file)
	require.NoError(t, err)
	require.Equal(t, token, read)
}

// The server ends when it is told to, also while a client is connected.
func TestHTTPEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	rows, at, ended := fromLake(t, logs), make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		over := tools.HTTP{Token: token}
		ended <- tools.ServeHTTP(ctx, rows, platform.Loopback+":0", over, t.Output(), func(a net.Addr) { at <- a })
	}()
	url := "http://" + (<-at).String()
	over := client(t, &mcp.StreamableClientTransport{
		Endpoint: url + platform.ToolsPath, HTTPClient: &http.Client{Transport: withToken{http.DefaultTransport}}, DisableStandaloneSSE: true,
	}, nil)
	result, err := over.CallTool(t.Context(), params("describe_tables", nil))
	require.NoError(t, err)
	require.False(t, result.IsError)
	stop()
	require.NoError(t, <-ended)
	_, err = http.Get(url + platform.HealthPath)
	var refused *net.OpError
	require.ErrorAs(t, err, &refused)
}
