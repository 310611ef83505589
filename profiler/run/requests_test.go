package run

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// countingStore counts requests: of objects by their folder, and for lists of keys.
type countingStore struct {
	lake.Store
	mu     sync.Mutex
	counts map[string]int
	onRow  func() // called before a row of an application is read; may be nil
}

func (s *countingStore) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

func (s *countingStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	s.count(path.Dir(key))
	if s.onRow != nil && strings.HasPrefix(key, "applications/") {
		s.onRow()
	}
	if err := ctx.Err(); err != nil {
		return nil, err // as S3 does
	}
	return s.Store.Get(ctx, key)
}

func (s *countingStore) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	s.count("list")
	return s.Store.List(ctx, prefix)
}

func (s *countingStore) Folders(ctx context.Context, prefix string) ([]string, error) {
	s.count("list")
	return s.Store.Folders(ctx, prefix)
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Clusters(int)          {}
func (silent) Applications(int)      {}
func (silent) ClusterDone()          {}
func (silent) ApplicationDone()      {}

func applicationID(n int) string { return fmt.Sprintf("application_1700000000000_%04d", n) }

// addLog adds the log of an application to a folder.
func addLog(t *testing.T, dir string, n int) {
	t.Helper()
	text, err := os.ReadFile("../../phases/testdata/logs/static.jsonl")
	require.NoError(t, err)
	name := applicationID(n)
	text = []byte(strings.ReplaceAll(string(text), applicationID(1), name))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
}

// runLogs reads a folder of logs into a lake, and returns the requests of the store.
func runLogs(t *testing.T, logs, out string) (Summary, map[string]int, error) {
	t.Helper()
	return runLogsUntil(t.Context(), t, nil, logs, out)
}

// runLogsUntil is runLogs with a context that onRow may end.
func runLogsUntil(ctx context.Context, t *testing.T, onRow func(), logs, out string) (Summary, map[string]int, error) {
	t.Helper()
	from, err := source.NewLogs(t.Context(), aws.Config{}, logs, "team-a")
	require.NoError(t, err)
	return runSource(ctx, t, onRow, from, out)
}

// runSource is runLogsUntil with any source.
func runSource(ctx context.Context, t *testing.T, onRow func(), from source.Source, out string) (Summary, map[string]int, error) {
	t.Helper()
	folder, err := lake.NewFolder(out)
	require.NoError(t, err)
	s := &countingStore{Store: folder, counts: map[string]int{}, onRow: onRow}
	kept, err := lake.Open(t.Context(), s, "")
	require.NoError(t, err)
	lease, err := kept.Lock(t.Context(), "test")
	require.NoError(t, err)
	r := &runner{
		o: Options{BatchSize: 1, ClusterThreads: 1, AppThreads: 2, EndpointFailures: 1}, source: from, lake: kept, progress: silent{},
	}
	err = r.run(ctx)
	require.NoError(t, lease.Unlock(t.Context()))
	require.NoError(t, folder.Close())
	return r.summary, s.counts, err
}

func clusterRow(t *testing.T, out string) tables.ClusterSummary {
	return onlyRow[tables.ClusterSummary](t, out)
}

// onlyRow returns the only row of a table.
func onlyRow[T any, P interface {
	*T
	tables.Row
}](t *testing.T, out string) T {
	t.Helper()
	rows := rowsOf[T, P](t, out)
	require.Len(t, rows, 1)
	return rows[0]
}

// rowsOf returns the rows of a table.
func rowsOf[T any, P interface {
	*T
	tables.Row
}](t *testing.T, out string) (rows []T) {
	t.Helper()
	folder, err := lake.NewFolder(out)
	require.NoError(t, err)
	defer func() { require.NoError(t, folder.Close()) }()
	kept, err := lake.Open(t.Context(), folder, "")
	require.NoError(t, err)
	for row, err := range lake.Read[T, P](t.Context(), kept, lake.Filter{}) {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

// Of an application that is complete a run asks for its manifest and its row, once, and
// the cluster's row counts it as when it was read. It lists the manifests once for a cluster.
func TestRequestsForCompleteApplications(t *testing.T) {
	const n = 5
	logs, out := t.TempDir(), t.TempDir()
	for i := range n {
		addLog(t, logs, i+1)
	}
	first, _, err := runLogs(t, logs, out)
	require.NoError(t, err)
	require.Equal(t, n, first.ApplicationsRead)
	before := clusterRow(t, out)
	require.NotZero(t, before.TotalTasks)
	require.NotZero(t, before.TotalExecutors)

	second, requests, err := runLogs(t, logs, out)
	require.NoError(t, err)
	require.Equal(t, n, second.ApplicationsCurrent)
	require.Zero(t, second.Objects)
	require.Equal(t, before, clusterRow(t, out))
	require.Equal(t, n, requests["_manifest/attempts"])
	require.Equal(t, n, requests["applications/dt=2023-11-14"], requests)
	require.Equal(t, 1, requests["list"])

	addLog(t, logs, n+1)
	_, _, err = runLogs(t, logs, out)
	require.NoError(t, err)
	after := clusterRow(t, out)
	require.Equal(t, before.TotalTasks/n*(n+1), after.TotalTasks)
	require.Equal(t, before.TotalExecutors/n*(n+1), after.TotalExecutors)
}

// The totals of a cluster count what the lake has of it: also applications that the source
// no longer lists, whether or not the run that read others in between was interrupted.
func TestUnlistedApplicationsAreCounted(t *testing.T) {
	logs, out := t.TempDir(), t.TempDir()
	addLog(t, logs, 1)
	addLog(t, logs, 2)
	_, _, err := runLogs(t, logs, out)
	require.NoError(t, err)
	before := clusterRow(t, out)
	require.EqualValues(t, 2, before.ReadApplications)

	for n := range 2 {
		require.NoError(t, os.Remove(filepath.Join(logs, applicationID(n+1))))
	}
	addLog(t, logs, 3)
	_, _, err = runLogs(t, logs, out)
	require.NoError(t, err)
	after := clusterRow(t, out)
	require.EqualValues(t, 3, after.ReadApplications)
	require.EqualValues(t, 3, after.TotalApplications)
	require.Equal(t, before.TotalTasks/2*3, after.TotalTasks)
	require.Equal(t, before.TotalExecutors/2*3, after.TotalExecutors)

	// As an interrupted run leaves it: the row of the cluster is that of an earlier run.
	require.NoError(t, os.RemoveAll(filepath.Join(out, "cluster_summaries")))
	require.NoError(t, os.RemoveAll(filepath.Join(out, "_manifest/clusters")))
	_, _, err = runLogs(t, logs, out)
	require.NoError(t, err)
	require.Equal(t, after, clusterRow(t, out))
}

// A row in the lake that cannot be read is reported by name with its remedy, which helps.
// What is new is read all the same.
func TestUnreadableRow(t *testing.T) {
	logs, out := t.TempDir(), t.TempDir()
	addLog(t, logs, 1)
	_, _, err := runLogs(t, logs, out)
	require.NoError(t, err)
	found, err := filepath.Glob(filepath.Join(out, "applications/dt=*/*.parquet"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, os.WriteFile(found[0], []byte("no Parquet"), 0o600))
	addLog(t, logs, 2)
	summary, _, err := runLogs(t, logs, out)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{summary.ApplicationsRead, summary.ApplicationsFailed})
	require.Len(t, summary.Incomplete, 1)
	require.Equal(t, applicationID(1), summary.Incomplete[0].Application)
	require.Contains(t, summary.Incomplete[0].Reason, "read table applications: applications/dt=2023-11-14/"+filepath.Base(found[0]))
	require.Contains(t, summary.Incomplete[0].Reason, damagedRemedy)
	require.EqualValues(t, 1, clusterRow(t, out).ReadApplications)

	require.NoError(t, os.Remove(found[0]))
	summary, _, err = runLogs(t, logs, out)
	require.NoError(t, err)
	require.Contains(t, summary.Incomplete[0].Reason, "table applications has no row of it, although its manifest says so")

	err = Locked(t.Context(), aws.Config{}, Options{Output: out}, "test", func(kept *lake.Lake, _ Place) error {
		_, err := kept.Delete(t.Context(), lake.Filter{ApplicationID: applicationID(1)}, false)
		return err
	})
	require.NoError(t, err)
	summary, _, err = runLogs(t, logs, out)
	require.NoError(t, err)
	require.Empty(t, summary.Incomplete)
	require.EqualValues(t, 2, clusterRow(t, out).ReadApplications)
}

// A run that is interrupted while it reads the lake blames no application.
func TestInterruptedWhileReadingTheLake(t *testing.T) {
	logs, out := t.TempDir(), t.TempDir()
	addLog(t, logs, 1)
	_, _, err := runLogs(t, logs, out)
	require.NoError(t, err)
	addLog(t, logs, 2)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	summary, _, err := runLogsUntil(ctx, t, interrupt, logs, out)
	require.NoError(t, err)
	require.ErrorIs(t, ctx.Err(), context.Canceled, "it was interrupted")
	require.Zero(t, summary.ApplicationsFailed)
	require.Empty(t, summary.Incomplete)
}

// lines collects what is printed.
type lines struct {
	silent
	said []string
}

func (l *lines) Printf(format string, args ...any) {
	l.said = append(l.said, fmt.Sprintf(format, args...))
}

// A long discovery says every two seconds how far it has come.
func TestProgressOfDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		printed := &lines{}
		listed := listing(printed, Options{})
		for n := range 5 {
			listed(50 * n)
			time.Sleep(time.Second)
		}
		require.Equal(t, []string{
			"listing clusters at EMR's request quota: 100 so far", "listing clusters at EMR's request quota: 200 so far",
		}, printed.said)
	})
}

// An application of which an interrupted commit has left rows, and which is not read again,
// keeps them.
func TestInterruptedCommitOfAnApplicationThatIsNotRead(t *testing.T) {
	s, out := startServer(t), t.TempDir()
	require.Equal(t, 1, s.run(t, out).ApplicationsRead)
	manifests, err := filepath.Glob(filepath.Join(out, "_manifest", "attempts", "*.json"))
	require.NoError(t, err)
	require.Len(t, manifests, 1)
	text, err := os.ReadFile(manifests[0])
	require.NoError(t, err)
	writing := strings.Replace(string(text), `"schema_version"`, `"writing": true, "schema_version"`, 1)
	require.NotEqual(t, writing, string(text))
	require.NoError(t, os.WriteFile(manifests[0], []byte(writing), 0o600))
	for _, endpoint := range []string{"environment", "allexecutors", "sql", "jobs", "stages", "logs"} {
		s.status[endpoint] = 500
	}
	require.Equal(t, 1, s.run(t, out).ApplicationsFailed)
	onlyRow[tables.Application](t, out)
}
