package lake_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// dying is a store that fails all changes but the next left ones, as if its writer had died.
type dying struct {
	lake.Store
	left int
}

var errDead = errors.New("dead")

func (d *dying) alive() error {
	if d.left--; d.left < 0 {
		return errDead
	}
	return nil
}

func (d *dying) Put(ctx context.Context, key string, body io.ReadSeeker) error {
	if err := d.alive(); err != nil {
		return err
	}
	return d.Store.Put(ctx, key, body)
}

func (d *dying) Delete(ctx context.Context, key string) error {
	if err := d.alive(); err != nil {
		return err
	}
	return d.Store.Delete(ctx, key)
}

// A commit, removal or compaction that is interrupted after any change, and then repeated, leaves what an
// undisturbed writer leaves, even if the source has changed since: other rows, other
// tables, another day.
func TestInterruptedAtEveryStep(t *testing.T) {
	app, done := &tables.Application{Attempt: attempt}, &tables.Application{Attempt: attempt, Completed: true}
	job, phase := &tables.Job{Attempt: attempt, JobID: 1}, &tables.Phase{Attempt: attempt, Phase: "compute"}
	put := func(rows ...tables.Row) func(*lake.Lake) error {
		return func(l *lake.Lake) error {
			b, err := l.Begin(attempt, start.AddDate(0, 0, len(rows)%2))
			if err != nil {
				return err
			}
			for _, row := range rows {
				if err := b.Put(row); err != nil {
					return err
				}
			}
			_, err = b.Commit(t.Context(), true, "v1")
			return err
		}
	}
	remove := func(l *lake.Lake) error {
		_, err := l.Delete(t.Context(), lake.Filter{ClusterID: attempt.ClusterID}, false)
		if err == nil {
			err = l.SetJudgedBy(t.Context(), "v1")
		}
		return err
	}
	// judge ends a step with findings: some, others, or none.
	judge := func(step func(*lake.Lake) error, found ...tables.Finding) func(*lake.Lake) error {
		return func(l *lake.Lake) error {
			err := step(l)
			if err == nil {
				_, err = l.SetFindings(t.Context(), attempt, found, "v1")
			}
			if err == nil {
				err = l.SetJudgedBy(t.Context(), "v1")
			}
			return err
		}
	}
	skew, spill := tables.Finding{Attempt: attempt, Finding: "skew"}, tables.Finding{Attempt: attempt, Finding: "spill"}
	// compacted ends a step with a compaction.
	compacted := func(step func(*lake.Lake) error) func(*lake.Lake) error {
		return func(l *lake.Lake) error {
			err := step(l)
			if err == nil {
				_, err = l.Compact(t.Context(), nil)
			}
			return err
		}
	}
	steps := []func(*lake.Lake) error{
		compacted(judge(put(app, job), skew)), compacted(judge(put(done, phase), skew, spill)), compacted(judge(put(done, job, phase))),
		compacted(remove),
	}
	// in runs steps in a lake, each with a writer of its own; that of the second step dies after
	// left changes.
	in := func(dir string, steps []func(*lake.Lake) error, left int) (died bool) {
		store := &dying{Store: folder(t, dir), left: 1 << 30}
		for i, step := range steps {
			l, err := lake.Open(t.Context(), store, "history/")
			require.NoError(t, err)
			lease, err := l.Lock(t.Context(), "test")
			require.NoError(t, err)
			if i == 1 {
				store.left = left
			}
			err = step(l)
			require.True(t, err == nil || errors.Is(err, errDead) && i == 1, "%v", err)
			died = died || err != nil
			store.left = 1 << 30
			require.NoError(t, lease.Unlock(t.Context()))
		}
		return died
	}
	thirds := steps[2:] // other rows, and none
	if testenv.Long() {
		thirds = steps
	}
	deaths := 0
	for _, first := range steps[:2] {
		for _, second := range append(steps, put(done, phase)) { // the last one is not judged
			for _, third := range thirds {
				undisturbed := t.TempDir()
				in(undisturbed, []func(*lake.Lake) error{put(app), third}, 1<<30)
				for left := 0; ; left++ {
					dir := t.TempDir()
					died := in(dir, []func(*lake.Lake) error{first, second, third}, left)
					require.Equal(t, files(t, undisturbed), files(t, dir))
					if !died {
						break
					}
					deaths++
				}
			}
		}
	}
	t.Logf("%d deaths", deaths)
}
