package main

import (
	"context"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/processes"
)

// settleTime is how long after a job its last executors have ended (Spark's
// dynamicAllocation.executorIdleTimeout) and memory is steady.
const settleTime = time.Minute

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
