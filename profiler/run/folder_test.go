package run_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// goldenLogs are event logs as Spark writes them, all of one application id.
const goldenLogs = "../../phases/testdata/logs"

var applicationID = regexp.MustCompile(`application_[0-9]+_[0-9]+`)

// logOf returns a golden log under another application's id.
func logOf(t *testing.T, name, id string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(goldenLogs, name+".jsonl"))
	require.NoError(t, err)
	return applicationID.ReplaceAll(text, []byte(id))
}

// recentID is an id of an application of a resource manager that starts now.
func recentID(n int) string { return fmt.Sprintf("application_%d_%04d", time.Now().UnixMilli(), n) }

func appID(n int) string { return fmt.Sprintf("application_1700000000000_%04d", n) }

// folderOf writes logs, each of an application of its own, and returns their folder.
func folderOf(t *testing.T, names ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "team-a")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for i, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, appID(i+1)), logOf(t, name, appID(i+1)), 0o600))
	}
	return dir
}

// progress records what a run says, and may act on it.
type progress struct {
	mu    sync.Mutex
	lines []string
	done  func() // called after each application
}

func (p *progress) Printf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

func (*progress) Clusters(int)     {}
func (*progress) Applications(int) {}
func (*progress) ClusterDone()     {}

func (p *progress) ApplicationDone() {
	if p.done != nil {
		p.done()
	}
}

func (p *progress) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// ofLogs are the default options for a folder of logs.
func ofLogs(logs, output string) run.Options {
	o := defaults()
	o.Logs, o.Output, o.BatchDelay = logs, output, 0
	return o
}

func runOnce(t *testing.T, o run.Options) (run.Summary, *progress) {
	t.Helper()
	said := &progress{}
	summary, err := run.Run(t.Context(), aws.Config{}, o, said)
	require.NoError(t, err)
	return summary, said
}

// objects returns the checksums of all files but the manifests and the store's own, by
// their names.
func objects(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		own := name != "." && strings.Trim(entry.Name()[:1], "._") == ""
		switch {
		case err == nil && own && entry.IsDir():
			return fs.SkipDir
		case err != nil || own || entry.IsDir():
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = fmt.Sprintf("%x", sha256.Sum256(content))
		return err
	}))
	return all
}

// read returns the rows of a table.
func read[T any, P interface {
	*T
	tables.Row
}](t *testing.T, dir string) (rows []T) {
	t.Helper()
	store, err := lake.NewFolder(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	kept, err := lake.Open(t.Context(), store, "")
	require.NoError(t, err)
	for row, err := range lake.Read[T, P](t.Context(), kept, lake.Filter{}) {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

func TestFolderOfLogs(t *testing.T) {
	logs, out := folderOf(t, "adaptive", "cluster-submit", "killed-driver", "retries"), t.TempDir()
	first, _ := runOnce(t, ofLogs(logs, out))
	require.Equal(t, 4, first.ApplicationsRead)
	require.Empty(t, first.Incomplete)
	require.Equal(t, run.ExitComplete, first.ExitCode())

	states := map[string]bool{}
	for _, row := range read[tables.Application](t, out) {
		require.Equal(t, tables.Cluster{ClusterID: "team-a", ClusterName: "team-a"}, row.Cluster)
		require.Equal(t, tables.SourceLogs, row.Source)
		states[row.ApplicationID+"/"+row.AttemptID] = row.Completed
	}
	require.Equal(t, map[string]bool{appID(1) + "/": true, appID(2) + "/1": true, appID(3) + "/": false, appID(4) + "/": true}, states)
	require.NotEmpty(t, read[tables.Job](t, out))
	require.NotEmpty(t, read[tables.Phase](t, out))
	require.Empty(t, read[tables.Task](t, out), "tasks are only written on request")
	require.Positive(t, first.TasksLeftOut)
	var printed strings.Builder
	first.Print(&printed)
	require.Contains(t, printed.String(), fmt.Sprintf("left out      %d tasks; --include-tasks writes the table tasks", first.TasksLeftOut))
	clusters := read[tables.ClusterSummary](t, out)
	require.Len(t, clusters, 1)
	require.Equal(t, "COMPLETE", clusters[0].AnalysisStatus)
	require.EqualValues(t, 4, clusters[0].ReadApplications)
	require.EqualValues(t, len(read[tables.Job](t, out)), clusters[0].TotalJobs)
	require.EqualValues(t, len(read[tables.Executor](t, out)), clusters[0].TotalExecutors)

	before := objects(t, out)
	second, _ := runOnce(t, ofLogs(logs, out))
	require.Zero(t, second.Objects+second.Removed)
	require.Equal(t, 4, second.ApplicationsCurrent)
	require.Zero(t, second.ApplicationsRead)
	require.Equal(t, before, objects(t, out))

	more := ofLogs(logs, out)
	more.IncludeTasks = true
	third, _ := runOnce(t, more)
	require.Equal(t, 4, third.ApplicationsRead, "what lacks tasks is read again if they are asked for")
	require.Zero(t, third.TasksLeftOut)
	require.Len(t, read[tables.Task](t, out), int(first.TasksLeftOut))
}

// A log that grew is read again, and nothing else.
func TestGrownLogIsReadAgain(t *testing.T) {
	logs, out := folderOf(t, "adaptive", "static"), t.TempDir()
	whole := logOf(t, "static", appID(2))
	file := filepath.Join(logs, appID(2))
	require.NoError(t, os.WriteFile(file, whole[:len(whole)/2], 0o600))
	runOnce(t, ofLogs(logs, out))
	require.NoError(t, os.WriteFile(file, whole, 0o600))
	summary, _ := runOnce(t, ofLogs(logs, out))
	require.Equal(t, 1, summary.ApplicationsRead)

	undisturbed := t.TempDir()
	runOnce(t, ofLogs(folderOf(t, "adaptive", "static"), undisturbed))
	require.Equal(t, objects(t, undisturbed), objects(t, out))
}

// One broken log of ten costs only itself.
func TestBrokenLog(t *testing.T) {
	names := []string{"adaptive", "static", "retries", "nested", "starved", "overlap", "dynamic", "local", "broadcast"}
	logs, out := folderOf(t, names...), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(logs, appID(10)+".zstd"), []byte("no zstd"), 0o600))
	summary, said := runOnce(t, ofLogs(logs, out))
	require.Equal(t, 9, summary.ApplicationsRead)
	require.Equal(t, 1, summary.ApplicationsFailed)
	require.Len(t, summary.Incomplete, 1)
	require.Contains(t, summary.Incomplete[0].Reason, appID(10)+".zstd")
	require.Contains(t, said.text(), appID(10)+".zstd")
	require.Equal(t, run.ExitIncomplete, summary.ExitCode())
	require.Len(t, read[tables.Application](t, out), 9)
	require.Equal(t, "INCOMPLETE", read[tables.ClusterSummary](t, out)[0].AnalysisStatus)

	second, _ := runOnce(t, ofLogs(logs, out))
	require.Zero(t, second.Objects)
	require.Equal(t, run.ExitIncomplete, second.ExitCode(), "it is still missing")
}

// Runs with a limit end where a run without one does.
func TestLimitOfApplications(t *testing.T) {
	names := []string{"adaptive", "static", "retries", "nested", "starved"}
	logs, out := folderOf(t, names...), t.TempDir()
	o := ofLogs(logs, out)
	o.MaxApplications = 2
	first, _ := runOnce(t, o)
	require.Equal(t, 2, first.ApplicationsRead)
	limited := run.Incomplete{Cluster: "team-a", Reason: "only 2 of 5 applications read: limited by max_applications"}
	require.Equal(t, []run.Incomplete{limited}, first.Incomplete)
	require.Equal(t, run.ExitIncomplete, first.ExitCode())
	capped := 0
	for _, row := range read[tables.Completeness](t, out) {
		if row.Reason == "cap" {
			capped++
			require.Equal(t, []any{"applications", int64(0), "max_applications is 2"}, []any{row.Endpoint, row.Seen, row.Detail})
		}
	}
	require.Equal(t, 3, capped)
	second, _ := runOnce(t, o)
	require.Equal(t, "only 2 of 3 applications read: limited by max_applications", second.Incomplete[0].Reason)
	third, _ := runOnce(t, o)
	require.Equal(t, run.ExitComplete, third.ExitCode())

	undisturbed := t.TempDir()
	runOnce(t, ofLogs(logs, undisturbed))
	require.Equal(t, objects(t, undisturbed), objects(t, out))
}

// An interrupted run keeps what it wrote, and the next one completes it.
func TestInterrupted(t *testing.T) {
	names := []string{"adaptive", "static", "retries", "nested", "starved"}
	logs, out := folderOf(t, names...), t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	o := ofLogs(logs, out)
	o.AppThreads = 1
	summary, err := run.Run(ctx, aws.Config{}, o, &progress{done: interrupt})
	require.NoError(t, err)
	require.True(t, summary.Interrupted)
	require.Equal(t, 1, summary.ApplicationsRead)
	require.Equal(t, run.ExitIncomplete, summary.ExitCode())

	next, _ := runOnce(t, o)
	require.Equal(t, 4, next.ApplicationsRead)
	undisturbed := t.TempDir()
	runOnce(t, ofLogs(logs, undisturbed))
	require.Equal(t, objects(t, undisturbed), objects(t, out))
}

// What is older than retention_days goes, and does not come back.
func TestRetention(t *testing.T) {
	logs, out := folderOf(t, "adaptive", "static"), t.TempDir() // of November 2023
	runOnce(t, ofLogs(logs, out))
	require.Len(t, read[tables.Application](t, out), 2)
	o := ofLogs(logs, out)
	o.RetentionDays = 365
	second, _ := runOnce(t, o)
	require.Equal(t, 3, second.Expired, "two applications and their cluster")
	require.Empty(t, objects(t, out))
	third, _ := runOnce(t, o)
	require.Equal(t, 2, third.ApplicationsExpired)
	require.Zero(t, third.ApplicationsRead+third.Objects)
	require.Empty(t, read[tables.Application](t, out))
	require.Equal(t, run.ExitComplete, third.ExitCode())

	o.RetentionDays = 365 * 100
	runOnce(t, o)
	require.Len(t, read[tables.Application](t, out), 2)
}

func TestRunsThatFail(t *testing.T) {
	_, err := run.Run(t.Context(), aws.Config{}, ofLogs(filepath.Join(t.TempDir(), "none"), t.TempDir()), &progress{})
	require.ErrorContains(t, err, "open the folder of event logs")
	_, err = run.Run(t.Context(), aws.Config{}, ofLogs("", t.TempDir()), &progress{})
	require.ErrorContains(t, err, "no AWS region: set aws_region")
}

// Rows of tasks that one run wrote stay when the next one does not ask for them.
func TestTasksStay(t *testing.T) {
	logs, out := folderOf(t, "static", "killed-driver"), t.TempDir()
	o := ofLogs(logs, out)
	o.IncludeTasks = true
	_, err := run.Run(t.Context(), aws.Config{}, o, &progress{})
	require.NoError(t, err)
	tasks := func() (keys []string) {
		for key := range objects(t, out) {
			if strings.HasPrefix(key, "tasks/") {
				keys = append(keys, key)
			}
		}
		return keys
	}
	before := tasks()
	require.Len(t, before, 2)
	o.IncludeTasks = false
	again, err := run.Run(t.Context(), aws.Config{}, o, &progress{})
	require.NoError(t, err)
	require.Zero(t, again.Objects+again.Removed)
	grown := filepath.Join(logs, appID(1))
	text, err := os.ReadFile(grown)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(grown, append(text, '\n'), 0o600))
	grew, err := run.Run(t.Context(), aws.Config{}, o, &progress{})
	require.NoError(t, err)
	require.Equal(t, 1, grew.ApplicationsRead)
	require.ElementsMatch(t, before, tasks())
}
