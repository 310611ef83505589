package command_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// makeToken is the guide's command that makes a token.
const makeToken = `(umask 077; head -c 32 /dev/urandom | base64 > token)`

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Over HTTP the command serves the tools to those who have the token, writes the audit log, and
// ends without an error when it is stopped.
func TestToolsOverHTTP(t *testing.T) {
	dir := t.TempDir()
	sh := exec.CommandContext(t.Context(), "sh", "-c", makeToken)
	sh.Dir = dir
	require.NoError(t, sh.Run())
	file := filepath.Join(dir, "token")
	token, err := tools.ReadToken(file)
	require.NoError(t, err)
	history := t.TempDir()
	_, said, code := execute(t, "run", "--logs", readable(t), "--output", history)
	require.Equal(t, run.ExitComplete, code, said)

	ctx, stop := context.WithCancel(t.Context())
	address := testenv.Address(t)
	var log bytes.Buffer // read after the end
	ended := make(chan int, 1)
	go func() {
		ended <- executeIn(ctx, io.Discard, &log, "tools", "--output", history, "--tools-address", address, "--token-file", file)
	}()
	var session *mcp.ClientSession
	err = testenv.Poll(ctx, testenv.Start, 10*time.Millisecond, func(context.Context) error {
		var err error
		session, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: "http://" + address + platform.ToolsPath, HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true,
		}, nil)
		return err
	})
	require.NoError(t, err)
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "findings"})
	require.NoError(t, err)
	require.False(t, result.IsError)
	require.NoError(t, session.Close())
	stop()
	require.Equal(t, run.ExitComplete, <-ended, &log)
	require.Contains(t, log.String(), "the tools listen at "+address+platform.ToolsPath)
	require.Contains(t, log.String(), `"tool":"findings"`)
	require.NotContains(t, log.String(), token)
}

// Options that would leave the tools open, or that do nothing, are refused before anything starts.
func TestToolsOverHTTPNeedTheirFiles(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--tools-address", "127.0.0.1:1"}, "token_file: tools_address needs one"},
		{[]string{"--tools-address", "127.0.0.1:1", "--token-file", "/nowhere"}, "token_file: open /nowhere"},
		{[]string{"--token-file", "x"}, "are for tools_address, which is not given"},
		{[]string{"--tools-address", "nowhere"}, "must be host:port"},
	} {
		_, said, code := execute(t, append([]string{"tools", "--logs", readable(t)}, c.args...)...)
		require.Equal(t, run.ExitUsage, code)
		require.Contains(t, said, c.want)
	}
}
