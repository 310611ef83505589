package history_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/history"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// running is the name of the application that is read while it runs.
const running = "history held"

// The UI of a running driver has the rows that the event log has once it has ended, and
// says that more may come.
func TestRunningDriver(t *testing.T) {
	r, err := theRun()
	require.NoError(t, err)
	own := &run{tree: r.tree, java: r.java, dir: t.TempDir()}
	own.events = filepath.Join(own.dir, "events")
	require.NoError(t, own.prepare())
	held := application{mode: "held", master: "local[2]", conf: []string{"spark.ui.enabled=true", "spark.ui.port=0"}}
	ended := make(chan error, 1)
	go func() { ended <- own.submit(held) }()
	work := filepath.Join(own.dir, "work", held.mode)
	var ui string
	err = testenv.Poll(t.Context(), 2*serverTimeout, 100*time.Millisecond, func(context.Context) error {
		select {
		case err := <-ended:
			return poll.Permanent(err)
		default:
		}
		text, err := os.ReadFile(filepath.Join(work, "ui"))
		ui = string(text)
		return err
	})
	require.NoError(t, err)

	client, err := history.Open(ui, quick())
	require.NoError(t, err)
	attempts := listed(t, client, 1)
	require.Len(t, attempts, 1)
	live, summary := fromREST(t, client, attempts[0])
	require.False(t, summary.Final)
	requireComplete(t, attempts[0], summary)
	require.Positive(t, live.counts[tables.Table((*tables.SQLNode)(nil))])
	_, err = client.UI(attempts[0].app.ID, "").Logs(t.Context())
	require.ErrorIs(t, err, history.ErrNotFound, "only history servers hand out logs")

	require.NoError(t, os.WriteFile(filepath.Join(work, "go"), nil, 0o600))
	require.NoError(t, <-ended)
	logs, err := eventlog.Find(os.DirFS(own.events), ".")
	require.NoError(t, err)
	require.Len(t, logs, 1)
	after := newSink()
	summary, err = fold.Log(t.Context(), logs[0], cluster, fold.Options{Tasks: true}, after)
	require.NoError(t, err)
	require.True(t, summary.Final)
	for _, d := range compare(after.rows, live.rows) {
		if table := string(d.table); strings.HasPrefix(table, "applications") || table == "executors" {
			continue // they go on
		}
		_, err := explained(d, running)
		require.NoError(t, err, d.String())
	}
}
