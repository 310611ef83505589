package tools_test

import (
	"context"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

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

// A relay answers as the server that it relays does: the tools with their schemas, answers, errors
// and progress.
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
	relayed, direct := client(t, here, nil), connect(t, rows)

	want, err := direct.ListTools(t.Context(), nil)
	require.NoError(t, err)
	got, err := relayed.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, want.Tools, count)
	require.Equal(t, want.Tools, got.Tools)
	require.Equal(t, direct.InitializeResult().Instructions, relayed.InitializeResult().Instructions)
	for tool, arguments := range map[string]map[string]any{
		"findings": {"id": sickCluster}, "phases": {"id": "skew-sick"}, "failures": {"id": "nobody's"}, "describe_tables": {},
		"listshsexeuctorsraw": {"id": "skew-sick"}, // not listed
	} {
		want, err := direct.CallTool(t.Context(), params(tool, arguments))
		require.NoError(t, err)
		got, err := relayed.CallTool(t.Context(), params(tool, arguments))
		require.NoError(t, err)
		require.Equal(t, want.IsError, got.IsError, tool)
		require.Equal(t, textOf(t, want), textOf(t, got), tool)
		require.Equal(t, want.StructuredContent, got.StructuredContent, tool)
	}
	stop()
	require.NoError(t, <-ended)
}

// A server that is not what it should be, and a token that would travel in clear, are refused.
func TestRelayRefuses(t *testing.T) {
	server, _ := overHTTP(t, fromLake(t, logs))
	url, ca := server.URL+platform.ToolsPath, authorityOf(t, server)
	for want, remote := range map[string]tools.Remote{
		"certificate signed by unknown authority": {URL: url, Token: token},
		"Unauthorized":                       {URL: url, CACertificate: ca, Token: "another-token-of-any-kind"},
		"tools_url: must be an https:// URL": {URL: "tools.example.com", Token: token},
		"the token would travel in clear":    {URL: "http://tools.example.com/mcp", Token: token},
		"token_file: tools_url needs one":    {URL: url},
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
