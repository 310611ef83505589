package ddl_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/ddl"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// question is a call of a function, and of the tool of the same name.
type question struct {
	function  string
	sql       string
	arguments map[string]any
}

// questions calls each function with ids of several kinds. All answers fit into one page of a tool.
func questions(t *testing.T, s *mcp.ClientSession) (all []question) {
	t.Helper()
	ids := []string{"", "logs", "skew-sick", "spill-sick", "gc-", "faults-sick", "copy of"}
	for _, f := range ddl.Functions() {
		for _, id := range ids {
			q := question{
				f.Name, fmt.Sprintf("SELECT * FROM %s(id => '%s', top => 200)", f.Name, id),
				map[string]any{"id": id, "limit": 200, "max_bytes": 262144},
			}
			switch f.Name {
			case "getstage":
				stage := call(t, s, "getsloweststages", map[string]any{"id": id})[0]["stage_id"]
				q.sql, q.arguments["stage_id"] = fmt.Sprintf("SELECT * FROM getstage(stage => %v, id => '%s')", stage, id), stage
			case "getappid", "listappsraw":
				q.arguments["from"], q.arguments["to"] = "2026-01-01", "2027-01-01"
			case "getsparkcontext":
				if id == "spill-sick" {
					q.sql = "SELECT * FROM getsparkcontext(id => 'spill-sick', part => 'Memory', top => 200)"
					q.arguments["name"] = "Memory"
				}
			}
			if strings.HasSuffix(f.Name, "raw") && f.Name != "listappsraw" {
				q.arguments["columns"] = rawColumns[f.Name]
				if f.Name == "listshstasksraw" { // whose rows are in the order of the source
					q.arguments["order"] = "task_id asc"
					if id == "logs" { // several applications, which this order mixes
						continue
					}
				}
			}
			all = append(all, q)
		}
	}
	return all
}

// rawColumns are columns of the raw tools whose names are those of the tables.
var rawColumns = map[string][]string{
	"listshsenvraw":       {"section", "name", "value", "masked"},
	"listshsexecutorsraw": {"executor_id", "host_port", "total_cores", "total_tasks", "add_time", "remove_class", "peak_jvm_heap_bytes"},
	"listshsjobsraw":      {"job_id", "job_name", "status", "submission_time", "duration_ms", "num_tasks", "stage_ids", "sql_id"},
	"listshssqlraw":       {"sql_id", "description", "status", "duration_ms", "job_ids", "plan_length"},
	"listshsstagesraw":    {"stage_id", "stage_attempt_id", "stage_name", "duration_ms", "num_tasks", "disk_bytes_spilled", "job_ids"},
	"listshstasksraw":     {"stage_id", "stage_attempt_id", "task_id", "index", "status", "host", "executor_id", "speculative"},
}

// Each function answers as the tool of its name, in DuckDB on the compacted objects.
func TestFunctionsAnswerAsTools(t *testing.T) {
	dir := t.TempDir()
	l := realLake(t, dir)
	s := connect(t, l)
	asked := questions(t, s)
	var queries []string
	for _, q := range asked {
		queries = append(queries, q.sql)
	}
	filled := map[string]map[string]bool{}
	for i, rows := range duck(t, l, dir, true, queries) {
		q := asked[i]
		t.Run(q.sql, func(t *testing.T) {
			want := call(t, s, q.function, q.arguments)
			require.Len(t, rows, len(want))
			for n := range want {
				requireSame(t, q.function, want[n], rows[n])
				for name := range rows[n] {
					if filled[q.function] == nil {
						filled[q.function] = map[string]bool{}
					}
					filled[q.function][name] = true
				}
			}
		})
	}
	for _, f := range ddl.Functions() {
		require.Greater(t, len(filled[f.Name]), len(f.Columns)/2, "%s: most columns must have values somewhere", f.Name)
	}
}

// requireSame compares a tool's row with a function's: what the tool shows, as it shows it.
func requireSame(t *testing.T, tool string, want, got row) {
	t.Helper()
	for name, value := range want {
		of, is := got[name]
		switch v := value.(type) {
		case float64:
			require.True(t, is, "%s: %v is missing in %v", name, v, got)
			requireNumber(t, v, of, name)
		case string:
			requireText(t, v, of, name)
		case bool:
			require.Equal(t, v, of, name)
		case []any:
			if _, ofRows := first(v).(map[string]any); ofRows || !is && len(v) > 0 && name == "stage_ids" {
				continue // rows within a row are no column of the function
			}
			require.ElementsMatch(t, unique(v), unique(limited(of)), name)
		}
	}
	for name, value := range got {
		if _, is := want[name]; !is && !extra[name] && !strings.HasSuffix(tool, "raw") { // raw tools have the columns that the call names
			require.Contains(t, []any{false, 0.0, ""}, value, "%s: the tool has no value", name)
		}
	}
}

// requireNumber compares numbers. Tools show three significant digits of measurements; the rest is exact.
func requireNumber(t *testing.T, want float64, got any, name string) {
	t.Helper()
	quotient := strings.HasSuffix(name, "_ratio") || strings.HasSuffix(name, "_share") || strings.HasSuffix(name, "_hours")
	switch whole := want == math.Trunc(want) && !quotient; {
	case whole && (strings.HasSuffix(name, "_ms") || strings.HasSuffix(name, "_mean")): // a tool rounds before it leaves fractions out
		require.InDelta(t, want, got, math.Max(1, want*0.006), name)
	case whole && math.Abs(want) < 1000:
		require.InDelta(t, want, got, 1e-9, name)
	default:
		require.InDelta(t, want, got, math.Abs(want)*0.006, name)
	}
}

// extra are columns of functions that the envelopes of tools have, or their nested rows.
var extra = map[string]bool{
	"rank": true, "application_id": true, "account": true, "region": true, "cluster_id": true, "cluster_name": true, "attempt_id": true,
	"source":            true,
	"task_ms_quantiles": true, "gc_ms_quantiles": true, "input_bytes_quantiles": true, "shuffle_read_bytes_quantiles": true,
	"disk_bytes_spilled_quantiles": true, "worst_host": true, "worst_host_tasks": true, "worst_host_mean_ms": true, "findings": true,
}

func first(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// limited cuts a list as tools do.
func limited(of any) []any {
	list, _ := of.([]any)
	return list[:min(20, len(list))]
}

func unique(list []any) (all []any) {
	seen := map[any]bool{}
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			all = append(all, v)
		}
	}
	return all
}

// requireText compares texts: tools mark and cut them, and format times to the second.
func requireText(t *testing.T, want string, got any, name string) {
	t.Helper()
	text, is := got.(string)
	require.True(t, is, "%s: %q is missing", name, want)
	if at, err := time.Parse(time.RFC3339, want); err == nil {
		of, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		require.WithinDuration(t, at, of, time.Second, name)
		return
	}
	plain := strings.NewReplacer("«", "", "»", "", "\n", " ", "\t", " ", "‹", "«", "›", "»")
	shown, whole := strings.TrimSpace(plain.Replace(want)), strings.TrimSpace(plain.Replace(text))
	shown = strings.TrimSuffix(shown, "…")
	same := shown == whole || len(shown) > 250 && strings.HasPrefix(whole, shown)
	require.Truef(t, same, "%s: %s, not %s", name, strconv.Quote(whole), strconv.Quote(shown))
}

// connect returns a client of the tools over a lake.
func connect(t *testing.T, l *lake.Lake) *mcp.ClientSession {
	t.Helper()
	there, here := mcp.NewInMemoryTransports()
	server, err := tools.New(tools.FromLake(l), os.Stderr).Connect(t.Context(), there, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call returns the rows of a tool's answer, of all its pages.
func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (rows []row) {
	t.Helper()
	for {
		result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		require.NoError(t, err)
		require.Len(t, result.Content, 1)
		text, is := result.Content[0].(*mcp.TextContent)
		require.True(t, is)
		require.False(t, result.IsError, text.Text)
		var out struct {
			Rows []row
			Next string
		}
		require.NoError(t, json.Unmarshal([]byte(text.Text), &out))
		if rows = append(rows, out.Rows...); out.Next == "" || len(rows) >= 200 {
			return rows[:min(200, len(rows))]
		}
		arguments = map[string]any{"cursor": out.Next, "limit": 200, "max_bytes": 262144}
	}
}
