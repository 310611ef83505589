package tools_test

import (
	"context"
	"io"
	"iter"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/profiler/tools"
)

// distant is a store whose requests take as long as S3's, each page of a listing too, and are counted.
type distant struct {
	lake.Store

	requests, inFlight atomic.Int64
	alone              atomic.Int64 // requests that began while no other ran: these add up
}

func (s *distant) request() {
	s.requests.Add(1)
	if s.inFlight.Add(1) == 1 {
		s.alone.Add(1)
	}
	time.Sleep(30 * time.Millisecond)
	s.inFlight.Add(-1)
}

func (s *distant) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	s.request()
	return s.Store.Get(ctx, key)
}

func (s *distant) Folders(ctx context.Context, prefix string) ([]string, error) {
	s.request()
	return s.Store.Folders(ctx, prefix)
}

func (s *distant) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		s.request()
		n := 0
		for key, err := range s.Store.List(ctx, prefix) {
			if n++; n%1000 == 0 {
				s.request()
			}
			if !yield(key, err) {
				return
			}
		}
	}
}

// Each question of the guide over a compacted lake of a thousand applications waits for few requests
// one after the other, however many it takes.
func TestQuestionsOverAThousandApplications(t *testing.T) {
	testenv.RequireLong(t, "TestQuestionsOfTheGuide asks over sixteen, profiler/lake TestThousandApplicationsAreListedInASecond lists them")
	folder := plantedFolder(t)
	l, err := newLake(t.Context(), folder)
	require.NoError(t, err)
	for n := range 1000 {
		a := app("j-0MANY", n, noon.AddDate(0, 0, -n/25))
		put(t, l, a, stageRow(a, 1, int64(n)),
			&tables.Job{Attempt: a.Attempt, JobID: 1}, &tables.SQL{Attempt: a.Attempt, SQLID: 1})
	}
	judged(t, l)
	began := time.Now()
	_, err = l.Compact(t.Context(), nil)
	require.NoError(t, err)
	t.Logf("compacted in %s", time.Since(began).Round(time.Millisecond))

	near, err := lake.NewFolder(folder)
	require.NoError(t, err)
	store := &distant{Store: near}
	far, err := lake.Open(t.Context(), store, "")
	require.NoError(t, err)
	s := connectTo(t, tools.NewAt(tools.FromLake(far), os.Stderr, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)), nil)
	text, err := os.ReadFile(guide)
	require.NoError(t, err)
	ask := func(tool string, in map[string]any) (alone int64) {
		requests, alone, began := store.requests.Load(), store.alone.Load(), time.Now()
		out := rowsOf(t, s, tool, in)
		took := time.Since(began)
		requests, alone = store.requests.Load()-requests, store.alone.Load()-alone
		t.Logf("%5d ms, %4d requests, %3d of them alone: %s %v", took.Milliseconds(), requests, alone, tool, in)
		require.NotEmpty(t, out.Verdict)
		return alone
	}
	// Of each of the 25 latest applications the manifest, the findings and three tables.
	require.Less(t, ask("getsloweststages", map[string]any{"id": "j-0MANY"}), int64(40))
	want := expected()
	for _, row := range questionRow.FindAllStringSubmatch(string(text), -1) {
		require.Less(t, ask(row[2], want[row[1]].arguments(t, row[3])), int64(50), row[0])
	}
}
