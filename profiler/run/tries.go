package run

import (
	"context"
	"fmt"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/source"
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

// try reads an application, and keeps account of it outside the process. One whose reading ended
// an earlier process is read alone: what was read beside it was as suspect, and is cleared by
// being read.
func (r *runner) try(ctx context.Context, c *reading, a source.Application) {
	tries, err := r.lake.Tries(ctx, a.ID)
	if err != nil {
		if ctx.Err() == nil {
			r.failLake(err)
		}
		return
	}
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
	if err := r.lake.BeginTry(ctx, a.ID, lake.Tries{Count: tries.Count + 1, Last: r.now}); err != nil {
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
