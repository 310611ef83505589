package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

const (
	// maxTries is how often reading an application may end the process: a history that needs more
	// memory than there is does so each time, and runs would never come to what is behind it.
	maxTries = 3

	// triedAgain is when an application is tried once more that was given up: its log, or the
	// memory, may be another. A log that grows is no reason to try at once: its job may grow it
	// for each run.
	triedAgain = 24 * time.Hour

	// endTimeout is for the note that an application was read. The run may have been interrupted.
	endTimeout = 10 * time.Second
)

// suspectsLast returns how often reading each application was begun and not ended, and moves those
// of which any was behind the others.
func (r *runner) suspectsLast(ctx context.Context, chosen []source.Application) map[tables.Attempt]lake.Tries {
	tries, failed := make([]lake.Tries, len(chosen)), make([]error, len(chosen))
	each(lakeReads, chosen, func(i int, a source.Application) { tries[i], failed[i] = r.lake.Tries(ctx, a.ID) })
	if err := errors.Join(failed...); err != nil && ctx.Err() == nil {
		r.failLake(err)
	}
	of := map[tables.Attempt]lake.Tries{}
	for i, a := range chosen {
		of[a.ID] = tries[i]
	}
	slices.SortStableFunc(chosen, func(a, b source.Application) int { return min(of[a.ID].Count, 1) - min(of[b.ID].Count, 1) })
	return of
}

// try reads an application, and keeps account of it outside the process. One whose reading ended
// an earlier process is read alone: what was read beside it is equally suspect until it has been
// read.
func (r *runner) try(ctx context.Context, c *reading, a source.Application, tries lake.Tries) {
	if again := tries.Last.Add(triedAgain); tries.Count >= maxTries && r.now.Before(again) {
		err := fmt.Errorf("reading it ended the profiler %d times, the last time at %s: it is tried again after %s; "+
			"if memory ran out, give the profiler more", tries.Count, tries.Last.UTC().Format(time.RFC3339), again.UTC().Format(time.RFC3339))
		r.failed(c, a, err)
		r.missing(ctx, a, fold.Limited, err.Error())
		return
	}
	if tries.Count > 0 {
		r.reads.Lock()
		defer r.reads.Unlock()
	} else {
		r.reads.RLock()
		defer r.reads.RUnlock()
	}
	if ctx.Err() != nil || !r.writable() {
		return // while it waited for the others
	}
	if err := r.lake.BeginTry(ctx, a.ID, lake.Tries{Count: tries.Count + 1, Last: time.Now()}); err != nil {
		if ctx.Err() == nil {
			r.failLake(err)
		}
		return
	}
	r.application(ctx, c, a)
	ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := r.lake.EndTry(ended, a.ID); err != nil {
		r.failLake(err)
	}
}
