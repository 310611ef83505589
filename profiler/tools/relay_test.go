package tools_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// authorityOf writes the certificate of a server to a file.
func authorityOf(t *testing.T, server *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

// A relay answers as the server that it relays does: the tools with their schemas, answers, errors.
func TestRelayGivesTheSameAnswers(t *testing.T) {
	rows := tools.FromLake(plantedLake(t))
	server, _ := overHTTP(t, rows)
	remote := tools.Remote{URL: server.URL + platform.ToolsPath, CACertificate: authorityOf(t, server), Token: token}
	count, err := remote.Count(t.Context())
	require.NoError(t, err)
	here, there := mcp.NewInMemoryTransports()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- tools.RelayTo(ctx, remote, there, t.Output()) }()
	over, direct := client(t, here, nil), connect(t, rows)

	want, err := direct.ListTools(t.Context(), nil)
	require.NoError(t, err)
	got, err := over.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, want.Tools, count)
	require.Equal(t, want.Tools, got.Tools)
	require.Equal(t, direct.InitializeResult().Instructions, over.InitializeResult().Instructions)
	for tool, arguments := range map[string]map[string]any{
		"findings": {"id": sickCluster}, "phases": {"id": "skew-sick"}, "failures": {"id": "nobody's"}, "describe_tables": {},
		"listshsexeuctorsraw": {"id": "skew-sick"}, // not listed
	} {
		want, err := direct.CallTool(t.Context(), params(tool, arguments))
		require.NoError(t, err)
		got, err := over.CallTool(t.Context(), params(tool, arguments))
		require.NoError(t, err)
		require.Equal(t, want.IsError, got.IsError, tool)
		require.Equal(t, textOf(t, want), textOf(t, got), tool)
		require.Equal(t, want.StructuredContent, got.StructuredContent, tool)
	}
	stop()
	require.NoError(t, <-ended)
}

// relayed connects a client to a relay.
func relayed(t *testing.T, remote tools.Remote, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	go func() { _ = tools.RelayTo(t.Context(), remote, there, io.Discard) }()
	return client(t, here, o)
}

// What the server tells of a long call reaches the client that asked for it.
func TestRelayPassesProgressOn(t *testing.T) {
	server, _ := overHTTP(t, slowRows{fromLake(t, logs), 2500 * time.Millisecond})
	p := &notified{}
	s := relayed(t, tools.Remote{URL: server.URL + platform.ToolsPath, CACertificate: authorityOf(t, server), Token: token}, p.options())
	callSlowest(t, s, "mine")
	p.mu.Lock()
	defer p.mu.Unlock()
	require.NotEmpty(t, p.all)
	require.Equal(t, "mine", p.all[0].ProgressToken)
}

// A server that refuses for now is asked again; a call that it refuses for good fails alone; the
// token goes to no other server.
func TestRelayOutlivesRefusals(t *testing.T) {
	rows := tools.FromLake(plantedLake(t))
	served := tools.Handler(rows, tools.HTTP{Token: token, Audit: io.Discard}, t.Output())
	var refuse atomic.Int64 // the status of the answers; 0 for the tools' own
	var elsewhere atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		elsewhere.Store(r.Header.Get("Authorization") != "")
	}))
	t.Cleanup(other.Close)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch status := int(refuse.Load()); status {
		case 0:
			served.ServeHTTP(w, r)
		case http.StatusTooManyRequests:
			refuse.Store(0)
			http.Error(w, "for now", status)
		case http.StatusTemporaryRedirect:
			http.Redirect(w, r, other.URL, status)
		default:
			http.Error(w, "refused", status)
		}
	}))
	t.Cleanup(server.Close)
	s := relayed(t, tools.Remote{URL: server.URL + platform.ToolsPath, CACertificate: authorityOf(t, server), Token: token}, nil)
	call := func() error {
		result, err := s.CallTool(t.Context(), params("describe_tables", nil))
		if err == nil && result.IsError {
			err = errors.New(textOf(t, result))
		}
		return err
	}
	require.NoError(t, call())
	refuse.Store(http.StatusTooManyRequests)
	require.NoError(t, call())
	for _, status := range []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusTemporaryRedirect} {
		refuse.Store(int64(status))
		require.Error(t, call(), status)
		refuse.Store(0)
		require.NoError(t, call(), "after %d", status)
	}
	require.False(t, elsewhere.Load())
}

// A server that is not what it should be, and a token that would travel in clear, are refused.
func TestRelayRefuses(t *testing.T) {
	server, _ := overHTTP(t, fromLake(t, logs))
	url, ca := server.URL+platform.ToolsPath, authorityOf(t, server)
	for want, remote := range map[string]tools.Remote{
		"certificate signed by unknown authority": {URL: url, Token: token},
		"Unauthorized": {URL: url, CACertificate: ca, Token: "another-token-of-any-kind"},
		`"tools.example.com": must be an https://`: {URL: "tools.example.com", Token: token},
		"the token would travel in clear":          {URL: "http://tools.example.com/mcp", Token: token},
		"token of the tools: must be given":        {URL: url},
	} {
		_, err := remote.Count(t.Context())
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), token)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, err := tools.Remote{URL: url, CACertificate: empty, Token: token}.Count(t.Context())
	require.ErrorContains(t, err, "must have a PEM certificate")
}
