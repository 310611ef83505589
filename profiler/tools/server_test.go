package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/judge"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// logsVariable is set to the folder of the event logs in the process that serves the tools
// on standard input and output.
const logsVariable = "OBSERVATORY_TOOLS_LOGS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(logsVariable); dir != "" {
		logs, err := source.NewLogs(context.Background(), aws.Config{}, dir, "logs")
		if err == nil {
			err = serve(logs)
		}
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if plantedDir != "" {
		_ = os.RemoveAll(plantedDir)
	}
	os.Exit(code)
}

func serve(s source.Source) error {
	rows, done, err := tools.FromSource(context.Background(), s)
	if err != nil {
		return err
	}
	return errors.Join(tools.Serve(context.Background(), rows, os.Stderr), done())
}

// newLake returns a locked lake in a folder.
func newLake(ctx context.Context, dir string) (*lake.Lake, error) {
	l, err := openLake(ctx, dir)
	if err == nil {
		_, err = l.Lock(ctx, "test")
	}
	return l, err
}

func openLake(ctx context.Context, dir string) (*lake.Lake, error) {
	store, err := lake.NewFolder(dir)
	if err != nil {
		return nil, err
	}
	return lake.Open(ctx, store, "")
}

// fromSource returns the rows of a source.
func fromSource(t *testing.T, s source.Source) tools.Rows {
	t.Helper()
	rows, done, err := tools.FromSource(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, done()) })
	return rows
}

// The event logs that these tests query, and one of their applications.
const (
	logs        = "../fold/testdata"
	application = "app-20261124083856-0000"
)

func fromLogs(t *testing.T, folder string) tools.Rows {
	t.Helper()
	s, err := source.NewLogs(t.Context(), aws.Config{}, folder, "logs")
	require.NoError(t, err)
	return fromSource(t, s)
}

// fromLake writes the rows of the logs to a lake, and returns them from there.
func fromLake(t *testing.T, folder string) tools.Rows {
	t.Helper()
	l, err := newLake(t.Context(), filepath.Join(t.TempDir(), "lake"))
	require.NoError(t, err)
	s, err := source.NewLogs(t.Context(), aws.Config{}, folder, "logs")
	require.NoError(t, err)
	clusters, err := s.Discover(t.Context())
	require.NoError(t, err)
	for _, listed := range clusters {
		cluster, err := s.Open(t.Context(), listed)
		require.NoError(t, err)
		for _, a := range cluster.Applications {
			b, err := l.Begin(a.ID, a.Start)
			require.NoError(t, err)
			_, err = fold.Log(t.Context(), a.Log, a.ID.Cluster, fold.Options{}, b)
			require.NoError(t, err)
			_, err = b.Commit(t.Context(), true, a.Fingerprint)
			require.NoError(t, err)
		}
	}
	_, err = judge.All(t.Context(), l, nil)
	require.NoError(t, err)
	return tools.FromLake(l)
}

// connect returns a client of a server over rows.
func connect(t *testing.T, rows tools.Rows) *mcp.ClientSession { return connectWith(t, rows, nil) }

func connectWith(t *testing.T, rows tools.Rows, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return connectTo(t, tools.New(rows, os.Stderr), o)
}

func connectTo(t *testing.T, to *mcp.Server, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	there, here := mcp.NewInMemoryTransports()
	server, err := to.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	return client(t, here, o)
}

func client(t *testing.T, transport mcp.Transport, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call returns a tool's result, or the text of its error.
func call[Out any](t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (out Out, failed string) {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	require.Len(t, result.Content, 1)
	text, _ := result.Content[0].(*mcp.TextContent)
	require.NotNil(t, text)
	if result.IsError {
		return out, text.Text
	}
	structured, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	require.JSONEq(t, string(structured), text.Text)
	decoder := json.NewDecoder(strings.NewReader(text.Text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&out))
	return out, ""
}

// Every tool is read-only, and describes its arguments and results.
func TestToolsAreDescribed(t *testing.T) {
	s := connect(t, fromLogs(t, logs))
	listed, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		require.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
		require.NotEmpty(t, tool.Description)
		schema, err := json.Marshal(tool.InputSchema)
		require.NoError(t, err)
		var in struct {
			Properties map[string]struct{ Description string }
		}
		require.NoError(t, json.Unmarshal(schema, &in))
		require.NotEmpty(t, in.Properties)
		for name, property := range in.Properties {
			require.NotEmptyf(t, property.Description, "%s.%s", tool.Name, name)
		}
		require.NotNil(t, tool.OutputSchema, tool.Name)
	}
	require.ElementsMatch(t, []string{
		"getappid", "getexecutor", "getslowestjobs", "getslowestsql", "getsloweststages", "getsparkcontext", "getstage", "listappsraw",
		"listshsenvraw", "listshsexecutorsraw", "listshsjobsraw", "listshssqlraw", "listshsstagesraw", "listshstasksraw",
		"findings", "compare", "wasteful_applications", "costs", "failures", "phases", "describe_tables",
	}, names)
	correct, failed := call[tools.Answer[lake.Record]](t, s, "listshsexecutorsraw", map[string]any{"id": application})
	require.Empty(t, failed)
	misspelled, failed := call[tools.Answer[lake.Record]](t, s, "listshsexeuctorsraw", map[string]any{"id": application})
	require.Empty(t, failed)
	require.Equal(t, correct, misspelled)
}

// Event logs and the lake written from them give the same results, by either name of a tool.
func TestLogsAndLakeGiveSameResults(t *testing.T) {
	ofLogs, ofLake := connect(t, fromLogs(t, logs)), connect(t, fromLake(t, logs))
	days := map[string]any{"from": "2026-11-01", "to": "2026-11-30"}
	found, failed := call[tools.Answer[tools.Application]](t, ofLogs, "getappid", days)
	require.Empty(t, failed)
	require.Equal(t, 1, found.Total)
	require.Empty(t, found.Next)
	require.Equal(t, application, found.Rows[0].ApplicationID)
	require.Equal(t, "2026-11-24T08:38:55Z", found.Rows[0].StartTime)
	fromShort, failed := call[tools.Answer[tools.Application]](t, ofLake, "getappid", days)
	require.Empty(t, failed)
	require.Equal(t, found, fromShort)

	which := map[string]any{"id": application, "limit": 5}
	stages, failed := call[tools.Answer[tools.Stage]](t, ofLogs, "getsloweststages", which)
	require.Empty(t, failed)
	require.Len(t, stages.Rows, 5)
	require.NotEmpty(t, stages.Next)
	slowest, failed := call[tools.Answer[tools.Stage]](t, ofLake, "getsloweststages", which)
	require.Empty(t, failed)
	require.Equal(t, stages, slowest)
	t.Logf("%d stages; the slowest: %+v", stages.Total, stages.Rows[0])
}

// The result agrees with the rows of the log, evaluated here independently.
func TestSlowestStagesAreTheSlowest(t *testing.T) {
	s, err := source.NewLogs(t.Context(), aws.Config{}, logs, "logs")
	require.NoError(t, err)
	id := tables.Attempt{Cluster: tables.Cluster{ClusterID: "logs"}, ApplicationID: application}
	held, err := fromSource(t, s).Held(t.Context(), id)
	require.NoError(t, err)
	ran, longest := 0, int64(0)
	for stage, err := range lake.ReadHeld[tables.StageRow](t.Context(), held) {
		require.NoError(t, err)
		if stage.SubmissionTime > 0 {
			ran++
			longest = max(longest, *stage.DurationMillis)
		}
	}
	which := map[string]any{"id": application, "limit": 200}
	out, failed := call[tools.Answer[tools.Stage]](t, connect(t, fromLogs(t, logs)), "getsloweststages", which)
	require.Empty(t, failed)
	require.Equal(t, ran, out.Total)
	require.Len(t, out.Rows, ran)
	require.InEpsilon(t, longest, *out.Rows[0].DurationMillis, 0.005, "three significant digits")
	for i, stage := range out.Rows[1:] {
		require.LessOrEqual(t, *stage.DurationMillis, *out.Rows[i].DurationMillis)
	}
}

// withSecrets is an event log of an application whose texts all have a secret.
const withSecrets = `{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}
{"Event":"SparkListenerApplicationStart","App Name":"etl --password k4n4ry","App ID":"app-1","Timestamp":1000,"User":"token=k4n4ry"}
{"Event":"SparkListenerStageSubmitted","Stage Info":{` + secretStage + `}}
{"Event":"SparkListenerStageCompleted","Stage Info":{` + secretStage +
	`,"Completion Time":1900,"Failure Reason":"refused: secret_key=k4n4ry"}}
{"Event":"SparkListenerApplicationEnd","Timestamp":2000}
`

const secretStage = `"Stage ID":0,"Stage Attempt ID":0,"Stage Name":"load https://u:k4n4ry@host/ at a.py:1","Number of Tasks":1,` +
	`"Submission Time":1100,"Parent IDs":[],"RDD Info":[]`

// No result has a secret of the application's texts: neither from a log itself, nor from
// the lake.
func TestResultsHaveNoSecrets(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "app-1"), []byte(withSecrets), 0o600))
	for name, rows := range map[string]tools.Rows{"logs": fromLogs(t, folder), "lake": fromLake(t, folder)} {
		t.Run(name, func(t *testing.T) {
			s := connect(t, rows)
			found, failed := call[tools.Answer[tools.Application]](t, s, "getappid", map[string]any{"from": "1970-01-01", "to": "1970-01-02"})
			require.Empty(t, failed)
			require.Len(t, found.Rows, 1)
			stages, failed := call[tools.Answer[tools.Stage]](t, s, "getsloweststages", map[string]any{"id": "app-1"})
			require.Empty(t, failed)
			require.Len(t, stages.Rows, 1)
			require.Contains(t, stages.Rows[0].FailureReason, "refused")
			for _, result := range []any{found, stages} {
				text, err := json.Marshal(result)
				require.NoError(t, err)
				require.NotContains(t, string(text), "k4n4ry")
			}
		})
	}
}

// Logs that cannot be read do not hide the others. They are reported, also when an
// application is not found.
func TestUnreadableLogsAreReported(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "app-1"), []byte(withSecrets), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "app-2.lzf"), []byte("ZV\x01"), 0o600))
	s := connect(t, fromLogs(t, folder))
	found, failed := call[tools.Answer[tools.Application]](t, s, "getappid", map[string]any{"from": "1970-01-01", "to": "1970-01-02"})
	require.Empty(t, failed)
	require.Len(t, found.Rows, 1)
	require.Len(t, found.Missing, 1)
	require.Contains(t, found.Missing[0].Reason, "lzf")
	_, failed = call[tools.Answer[tools.Stage]](t, s, "getsloweststages", map[string]any{"id": "app-2"})
	require.Contains(t, failed, "app-2 is not known: there is 1 application of 1970-01-01; 1 log, cluster or application could not be read, "+
		"any of which it may be, such as logs: ")
	stages, failed := call[tools.Answer[tools.Stage]](t, s, "getsloweststages", map[string]any{"id": "app-1"})
	require.Empty(t, failed)
	require.Len(t, stages.Rows, 1)
}

// A list of many logs takes no longer than a client waits: those that are not read by then are
// listed as their beginnings describe them, and the next call goes on.
func TestLongListsOfLogs(t *testing.T) {
	folder := t.TempDir()
	for n := range 4 {
		text, err := os.ReadFile("../../phases/testdata/logs/adaptive.jsonl")
		require.NoError(t, err)
		id := fmt.Sprintf("application_1700000000000_%04d", n)
		text = regexp.MustCompile(`application_[0-9]+_[0-9]+`).ReplaceAll(text, []byte(id))
		require.NoError(t, os.WriteFile(filepath.Join(folder, id), text, 0o600))
	}
	rows, now, each := fromLogs(t, folder), time.Now(), time.Duration(0)
	tools.SetNow(rows, func() time.Time {
		now = now.Add(each) // as if reading a log had taken so long
		return now
	})
	list := func(slow time.Duration) (counted int) {
		each = slow
		n := 0
		for row, err := range rows.Applications(t.Context(), lake.Filter{}) {
			require.NoError(t, err)
			n++
			require.NotEmpty(t, row.ApplicationName)
			require.Positive(t, row.StartTime)
			if row.Source != "" {
				counted++
			}
		}
		require.Equal(t, 4, n)
		return counted
	}
	require.Equal(t, 2, list(15*time.Second))
	require.Equal(t, 4, list(0))
}

// What runs could not read is reported from the lake, too, until it is read.
func TestTheLakeReportsWhatIsMissing(t *testing.T) {
	l, err := newLake(t.Context(), t.TempDir())
	require.NoError(t, err)
	start := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	write := func(application, attempt string, rows ...tables.Row) {
		id := tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: application, AttemptID: attempt}
		b, err := l.Begin(id, start)
		require.NoError(t, err)
		for _, row := range rows {
			require.NoError(t, b.Put(row))
		}
		_, err = b.Commit(t.Context(), false, "")
		require.NoError(t, err)
	}
	gap := func(application, attempt string) tables.Row {
		id := tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: application, AttemptID: attempt}
		row := fold.NotRead(id, fold.Limited, "max_applications is 2")
		return &row
	}
	read := func(application, attempt string) tables.Row {
		id := tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: application, AttemptID: attempt, Source: tables.SourceLogs}
		return &tables.Application{Attempt: id, StartTime: start.UnixMilli()}
	}
	write("application_1_0001", "", gap("application_1_0001", ""))
	write("application_1_0002", "1", gap("application_1_0002", "1"))
	write("application_1_0002", "2", read("application_1_0002", "2"))
	being := tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: "application_1_0003", Source: tables.SourceLogs}
	write("application_1_0003", "", &tables.Completeness{Attempt: being, Endpoint: fold.Applications, Seen: 1},
		&tables.Completeness{Attempt: being, Endpoint: fold.Jobs, Seen: 3}) // applications is written last
	s, days := connect(t, tools.FromLake(l)), map[string]any{"from": "2026-11-24", "to": "2026-11-24"}
	found, failed := call[tools.Answer[tools.Application]](t, s, "getappid", days)
	require.Empty(t, failed)
	require.Len(t, found.Rows, 1)
	reason := "cap: max_applications is 2"
	require.ElementsMatch(t, []tools.Missing{
		{ClusterID: "j-1", ApplicationID: "application_1_0001", Reason: reason},
		{ClusterID: "j-1", ApplicationID: "application_1_0002", Reason: reason},
		{
			ClusterID: "j-1", ApplicationID: "application_1_0003",
			Reason: "its rows are being written, or a run was interrupted while it wrote them",
		},
	}, found.Missing)
	_, failed = call[tools.Answer[tools.Stage]](t, s, "getsloweststages", map[string]any{"id": "application_1_0001"})
	require.Contains(t, failed, "application application_1_0001 could not be read: "+reason)
	other, failed := call[tools.Answer[tools.Stage]](t, s, "getsloweststages", map[string]any{"id": "application_1_0002"})
	require.Empty(t, failed)
	require.Equal(t, "2", other.Application.AttemptID)

	write("application_1_0001", "", read("application_1_0001", ""))
	found, failed = call[tools.Answer[tools.Application]](t, s, "getappid", days)
	require.Empty(t, failed)
	require.Len(t, found.Rows, 2)
	require.Len(t, found.Missing, 2)
}

// Errors name the remedy.
func TestErrorsNameTheRemedy(t *testing.T) {
	s := connect(t, fromLake(t, logs))
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"getsloweststages", map[string]any{"id": "application_1_0001"}, "application_1_0001 is not known"},
		{"getsloweststages", map[string]any{"id": "no such job"}, "no such job is not known: there is 1 application of 2026-11-24; getappid"},
		{"getsloweststages", map[string]any{"id": "j-NONE"}, "j-NONE is not known; getappid lists the known ones"},
		{"getsloweststages", map[string]any{"id": 7}, "type"},
		{"getsloweststages", map[string]any{"applicationid": "x"}, "applicationid"},
		{"getsloweststages", map[string]any{"id": application, "cursor": "x"}, "cursor: must be next of an earlier answer of getsloweststages"},
		{"getsloweststages", map[string]any{"id": application, "max_bytes": 8191}, "must be 8192 to 262144"},
		{"getstage", map[string]any{"id": application}, "stage_id: must be given; getsloweststages lists the stages"},
		{"findings", map[string]any{"id": application, "rule": "skewed"}, `rule "skewed": must be one of skew, spill`},
		{"getstage", map[string]any{"id": application, "stage_id": 4711}, "stage_id 4711: application " + application + " has no such stage"},
		{"compare", map[string]any{"id": application}, "has no run of its name in the 30 days before it that succeeded: give with"},
		{"getsparkcontext", map[string]any{"id": application, "name": "nothing.of.it"}, "no property has it"},
		{"getappid", map[string]any{"from": "2026-02-01", "to": "2026-01-01"}, "from 2026-02-01 is after to 2026-01-01: swap them"},
		{"listshsjobsraw", map[string]any{"columns": []string{"x"}, "where": []string{"duration_ms>z", "status"}, "order": "job_name"},
			`columns "x": no such column; where "duration_ms>z": the value must be a number; where "status": must be a column, one of = != > >= ` +
				`< <= ~, and a value; order "job_name": must be a column of numbers or times, then asc or desc; the columns are application_id,`},
		{"getsloweststages", map[string]any{"id": application, "limit": 201}, "must be 1 to 200"},
		{"getsloweststages", map[string]any{"id": application, "attempt_id": "2"}, "is not known"},
		{"getappid", map[string]any{"from": "yesterday"}, "must be a day such as 2026-01-31"},
		{"describe_tables", map[string]any{"table": "job"}, "must be one of applications, cluster_summaries, jobs"},
	} {
		_, failed := call[map[string]any](t, s, c.tool, c.arguments)
		require.Contains(t, failed, c.want)
	}
}

func TestDescribeTables(t *testing.T) {
	s := connect(t, fromLake(t, logs))
	all, failed := call[tools.Answer[tools.Table]](t, s, "describe_tables", nil)
	require.Empty(t, failed)
	require.Len(t, all.Rows, len(tables.All()))
	require.Empty(t, all.Rows[0].Columns)
	jobs, failed := call[tools.Answer[tools.Table]](t, s, "describe_tables", map[string]any{"table": "jobs"})
	require.Empty(t, failed)
	require.Len(t, jobs.Rows, 1)
	require.Contains(t, jobs.Rows[0].Columns, tools.Column{Name: "job_id", Type: "BIGINT", Meaning: "job"})
}

// A process serves on standard input and output, and writes nothing else there.
func TestStandardInputAndOutput(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), logsVariable+"="+logs)
	cmd.Stderr = os.Stderr
	s := client(t, &mcp.CommandTransport{Command: cmd}, nil)
	out, failed := call[tools.Answer[tools.Stage]](t, s, "getsloweststages", map[string]any{"id": application})
	require.Empty(t, failed)
	require.Len(t, out.Rows, 20)
	require.NotEmpty(t, out.Next)
	require.NoError(t, s.Close())
}

// listed are rows as a history server lists them: without counts, and without a source.
type listed struct{ tools.Rows }

func (listed) AtOnce() int { return 1 }

func (listed) Applications(context.Context, lake.Filter) iter.Seq2[tables.Application, error] {
	return func(yield func(tables.Application, error) bool) {
		for id, completed := range map[string]bool{"application_1_0001": true, "application_1_0002": false} {
			row := tables.Application{Attempt: tables.Attempt{ApplicationID: id}, Completed: completed}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (listed) Costs(context.Context, lake.Filter) iter.Seq2[tables.ApplicationCost, error] {
	return func(func(tables.ApplicationCost, error) bool) {}
}

// A number of failed jobs that is not known is left out, and is no 0.
func TestUnknownFailureCountIsNull(t *testing.T) {
	s := connect(t, listed{})
	all, failed := call[map[string]any](t, s, "getappid", nil)
	require.Empty(t, failed)
	for _, a := range all["rows"].([]any) {
		require.NotContains(t, a, "num_failed_jobs")
	}
	out, failed := call[tools.Answer[tools.Application]](t, s, "getappid", map[string]any{"failed": true})
	require.Empty(t, failed)
	require.Len(t, out.Rows, 1)
	require.Equal(t, "application_1_0002", out.Rows[0].ApplicationID)
	require.Contains(t, out.Verdict, "Whether jobs failed is unknown for 1 more application.")
}
