package tools_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// The protocol's own Python client lists the tools and gets the same answers, which it validates
// against the tools' schemas: from a folder of logs on standard input and output, and from a lake
// over HTTP.
func TestPythonClient(t *testing.T) {
	python := os.Getenv("OBSERVATORY_PYTHON")
	testenv.Require(t, python != "", "OBSERVATORY_PYTHON is not set: `make test` sets it to a Python with mcp")
	here := connect(t, fromLogs(t, sickLogs))
	listed, err := here.ListTools(t.Context(), nil)
	require.NoError(t, err)
	days := map[string]any{"from": "2026-11-01", "to": "2026-11-30"}
	with := map[string]map[string]any{
		"getappid": days, "listappsraw": days, "wasteful_applications": days, "failures": days, "describe_tables": {},
		"compare": {"id": "skew-cured", "with": "skew-sick"}, "getstage": {"id": "skew-sick", "stage_id": 4},
	}
	var calls [][2]any
	var want []string
	for _, tool := range listed.Tools {
		arguments := with[tool.Name]
		if arguments == nil {
			arguments = map[string]any{"id": "skew-sick", "limit": 3}
		}
		result, err := here.CallTool(t.Context(), params(tool.Name, arguments))
		require.NoError(t, err)
		require.False(t, result.IsError, tool.Name)
		calls, want = append(calls, [2]any{tool.Name, arguments}), append(want, textOf(t, result))
	}
	input, err := json.Marshal(calls)
	require.NoError(t, err)
	server := httptest.NewServer(tools.Handler(fromLake(t, sickLogs), tools.HTTP{Token: token}, t.Output()))
	t.Cleanup(server.Close)
	for transport, target := range map[string]string{"stdio": os.Args[0], "HTTP": server.URL + platform.ToolsPath} {
		cmd := exec.CommandContext(t.Context(), python, "testdata/client.py", target)
		cmd.Env = append(os.Environ(), logsVariable+"="+sickLogs, "TOKEN="+token)
		var errors bytes.Buffer
		cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &errors
		output, err := cmd.Output()
		require.NoError(t, err, "%s: %s", transport, &errors)
		var got struct {
			Tools   []struct{ Name string }
			Answers []string
		}
		require.NoError(t, json.Unmarshal(output, &got))
		require.Len(t, got.Tools, len(listed.Tools))
		require.Len(t, got.Answers, len(calls))
		for i, answer := range got.Answers {
			require.JSONEq(t, want[i], answer, "%s %v", transport, calls[i])
			require.LessOrEqual(t, len(answer), 32<<10)
		}
	}
}
