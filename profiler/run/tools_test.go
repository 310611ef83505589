package run_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// toolsOf returns what the tools read of a source.
func toolsOf(t *testing.T, from source.Source) tools.Rows {
	t.Helper()
	rows, done, err := tools.FromSource(t.Context(), from)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, done()) })
	return rows
}

// The tools answer call after call from a cluster's event logs in S3, find applications
// that have come since, and say why a cluster has no history.
func TestToolsReadAClusterOfEMR(t *testing.T) {
	w := newWorld(t)
	id := w.cluster("etl", logsInS3)
	w.step(id, appID(1))
	old := w.cluster("old", func(c *types.Cluster) { c.ReleaseLabel = aws.String("emr-5.20.0") })
	w.end(old, time.Hour)
	found := func(rows tools.Rows) (ids []string, failed error) {
		call, done := context.WithCancel(t.Context()) // the server ends each call's context
		defer done()
		for row, err := range rows.Applications(call, lake.Filter{}) {
			ids, failed = append(ids, row.ApplicationID), err
		}
		return ids, failed
	}
	open := func(cluster string) source.Source {
		o := w.options()
		o.ClusterARN = "arn:aws:elasticmapreduce:" + region + ":" + account + ":cluster/" + cluster
		from, err := run.Source(t.Context(), w.aws, o)
		require.NoError(t, err)
		return from
	}
	from := open(id)
	rows := toolsOf(t, from)
	for n, want := range [][]string{{appID(1)}, {appID(1), appID(2)}} {
		require.NoError(t, w.s3.Put(t.Context(), bucket, "spark-logs/"+appID(n+1), logOf(t, "adaptive", appID(n+1))))
		ids, err := found(rows)
		require.NoError(t, err)
		require.ElementsMatch(t, want, ids)
	}
	listed, err := from.Discover(t.Context())
	require.NoError(t, err)
	ended, end := context.WithCancel(t.Context())
	_, err = from.Open(ended, listed[0])
	require.NoError(t, err)
	end()
	cluster, err := from.Open(t.Context(), listed[0]) // shares the list of the call that has ended
	require.NoError(t, err)
	_, err = cluster.Applications[0].Log.Read(t.Context(), func(eventlog.Event) error { return nil })
	require.NoError(t, err)

	gone := w.cluster("gone") // behind a persistent UI
	w.ran(gone, "adaptive", appID(3))
	w.end(gone, time.Hour)
	rows = toolsOf(t, open(gone))
	for range 3 {
		ids, err := found(rows)
		require.NoError(t, err)
		require.Equal(t, []string{appID(3)}, ids)
	}
	require.Equal(t, 1, w.made(source.OpCreatePersistentUI), "calls of tools share a UI")

	_, err = found(toolsOf(t, open(old)))
	require.ErrorContains(t, err, "release emr-5.20.0 is older than emr-5.25.0")
}

// stagesOf returns the rows of stages of an attempt.
func stagesOf(t *testing.T, rows tools.Rows, id tables.Attempt) (found []tables.StageRow) {
	t.Helper()
	held, err := rows.Held(t.Context(), id)
	require.NoError(t, err)
	for row, err := range lake.ReadHeld[tables.StageRow](t.Context(), held) {
		require.NoError(t, err)
		found = append(found, row)
	}
	return found
}

// Behind a persistent UI, the tools read an application once, from its event log. If its
// server does not send that, they use its REST API.
func TestToolsReadAPersistentUI(t *testing.T) {
	for name, fault := range map[string]string{"event log": "", "REST": `{"kind": "server-error", "path": "/logs$"}`} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.ran(w.cluster("etl"), "adaptive", appID(1))
			id := w.cluster("gone")
			w.ran(id, "adaptive", appID(1))
			w.end(id, time.Hour)
			o := w.options()
			o.ClusterARN = "arn:aws:elasticmapreduce:" + region + ":" + account + ":cluster/" + id
			from, err := run.Source(t.Context(), w.aws, o)
			require.NoError(t, err)
			rows, faults := toolsOf(t, from), filepath.Join(w.uis.Dir, persistentui.FaultFile)
			require.NoError(t, os.WriteFile(faults, []byte("["+fault+"]"), 0o600))
			attempt := tables.Attempt{Cluster: tables.Cluster{ClusterID: id}, ApplicationID: appID(1)}
			read := func() (found []tables.StageRow, of tables.Application) {
				found = stagesOf(t, rows, attempt)
				for row, err := range rows.Applications(t.Context(), lake.Filter{}) {
					require.NoError(t, err)
					of = row
				}
				return found, of
			}
			first, of := read()
			require.NotEmpty(t, first)
			require.Equal(t, map[string]tables.Source{"event log": tables.SourceLogs, "REST": tables.SourceREST}[name], of.Source)
			require.Positive(t, of.NumJobs, "the row has the counts of what was read")
			require.NoError(t, os.WriteFile(faults, []byte(`[{"kind": "server-error", "path": "/(logs|stages|jobs)"}]`), 0o600))
			again, _ := read()
			require.Equal(t, first, again)

			described := w.made(source.OpDescribeCluster)
			for row, err := range rows.Applications(t.Context(), lake.Filter{ApplicationID: appID(1)}) {
				require.NoError(t, err)
				require.NotEmpty(t, stagesOf(t, rows, row.Attempt))
			}
			require.Equal(t, described+2, w.made(source.OpDescribeCluster), "discovery and the cluster, once for both")
		})
	}
}
