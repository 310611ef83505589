package cloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// toolsAnswer asks the platform's tools with the client that `observatory tools config` says, and
// gets what the tools answer over the same tables without the platform. The pod has read them
// with a role of its own.
func (h history) toolsAnswer(t *testing.T) {
	t.Helper()
	c := h.cloud
	dir := t.TempDir()
	ca, token := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(ca, []byte(c.outputs(t).CACertificate), 0o600))
	require.NoError(t, os.WriteFile(token, []byte(fmt.Sprint(c.plainOutputs(t)[outputs.ToolsToken])), 0o600))
	url := "https://" + c.running(t).Addresses[string(platform.WorkloadTools)] + platform.ToolsPath
	out := c.run(t, "tools", "config", "--url", url, "--ca-certificate", ca, "--token-file", token)
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &config), out)
	server := config.MCPServers["spark-history"]
	ofPlatform := h.client(t, exec.CommandContext(t.Context(), server.Command, server.Args...))
	direct := exec.CommandContext(t.Context(), c.program, "profile", "tools",
		"--s3-output-path", platform.PrefixHistory.URI(c.outputs(t).DataBucket))
	direct.Env = c.environment(t)
	ofTables := h.client(t, direct)
	for tool, arguments := range map[string]map[string]any{
		"getappid": {"id": "orders", "limit": 1}, "phases": {"id": "orders"}, "findings": {"id": "orders"}, "describe_tables": {},
	} {
		err := testenv.Poll(t.Context(), testenv.Arrival, time.Second, func(ctx context.Context) error { // a run may write in between
			want, err := answer(ctx, ofTables, tool, arguments)
			if err != nil {
				return err
			}
			got, err := answer(ctx, ofPlatform, tool, arguments)
			if err == nil && got != want {
				err = fmt.Errorf("%s: the platform's tools answer %s, those over the tables %s", tool, got, want)
			}
			return err
		})
		require.NoError(t, err)
	}
	_, err := tools.Remote{URL: url, CACertificate: ca, Token: "the-token-of-another-platform"}.Count(t.Context())
	require.ErrorContains(t, err, http.StatusText(http.StatusUnauthorized))

	used := 0
	for role, keys := range c.roleKeys(t) {
		if strings.Contains(role, "tools") && len(keys) == 1 && keys[0].LastUsedService == "s3" {
			used++
		}
	}
	require.Equal(t, 1, used, "the role that reads the history")
}

// client starts a server of the tools on its standard input and output, and connects to it.
func (h history) client(t *testing.T, cmd *exec.Cmd) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// answer returns the text of a tool's answer.
func answer(ctx context.Context, session *mcp.ClientSession, tool string, arguments map[string]any) (string, error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", err
	}
	content, is := result.Content[0].(*mcp.TextContent)
	if !is || result.IsError {
		return "", fmt.Errorf("%s: %v", tool, result.Content)
	}
	return content.Text, nil
}
