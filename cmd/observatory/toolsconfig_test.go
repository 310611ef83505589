package main_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// The configuration starts this program with what it needs, by absolute paths, and has no secret.
// It is printed once the tools have answered.
func TestToolsConfig(t *testing.T) {
	const token = "a-token-of-a-platform"
	folder, err := lake.NewFolder(t.TempDir())
	require.NoError(t, err)
	empty, err := lake.Open(t.Context(), folder, "")
	require.NoError(t, err)
	server := httptest.NewTLSServer(tools.Handler(tools.FromLake(empty), tools.HTTP{Token: token, Audit: io.Discard}, t.Output()))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, text := range map[string][]byte{"ca.pem": ca, "token": []byte(token + "\n"), "wrong": []byte("another-token-of-any-kind")} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	url := server.URL + platform.ToolsPath

	o := observatory(t, dir, nil, "tools", "config", "--url", url, "--ca-certificate", "ca.pem", "--token-file", "token")
	require.Zero(t, o.code, o.stderr)
	require.Regexp(t, `\d\d tools answer at `+url, o.stderr)
	require.NotContains(t, o.stdout+o.stderr, token)
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &config))
	got := config.MCPServers["spark-history"]
	require.True(t, filepath.IsAbs(got.Command))
	require.Equal(t, []string{
		"profile", "tools", "--tools-url", url,
		"--ca-certificate-file", filepath.Join(dir, "ca.pem"), "--token-file", filepath.Join(dir, "token"),
	}, got.Args)

	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: exec.CommandContext(t.Context(), got.Command, got.Args...)}, nil)
	require.NoError(t, err)
	answer, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "getappid"})
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(answer.StructuredContent), "total:0")
	require.NoError(t, session.Close())

	for want, args := range map[string][]string{
		"--url and --token-file must be given":          {"--url", url},
		"pulumi stack output toolsToken --show-secrets": {"--url", url, "--token-file", "absent"},
		"certificate signed by unknown authority":       {"--url", url, "--token-file", "token"},
		"Unauthorized": {"--url", url, "--ca-certificate", "ca.pem", "--token-file", "wrong"},
		"CA certificate: open absent: no such file or directory": {"--url", url, "--ca-certificate", "absent", "--token-file", "token"},
	} {
		o := observatory(t, dir, nil, append([]string{"tools", "config"}, args...)...)
		require.NotZero(t, o.code)
		require.Contains(t, o.stderr, want)
		require.Empty(t, o.stdout)
	}
}
