package main

import (
	"context"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/processes"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
)

// settleTime is how long after a job memory is steady: its last executors have ended (Spark's
// dynamicAllocation.executorIdleTimeout), the profiler has read the job, and the history server of
// the persistent UI from which it read, which is EMR's and not the platform's, has stopped.
const settleTime = persistentui.IdleTime + 90*time.Second

func (c cloud) measureIdleMemory(ctx context.Context, r *result, _ options) error {
	if err := sleep(ctx, settleTime); err != nil {
		return err
	}
	found, err := processes.Of(c.state)
	if err != nil {
		return err
	}
	r.IdleMiB = processes.Memory(found)
	r.IdleGiB = processes.Total(r.IdleMiB) / 1024
	return nil
}
