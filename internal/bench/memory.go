package main

import (
	"context"
	"maps"
	"time"
)

// settleTime is how long after a job its last executors have ended (Spark's
// dynamicAllocation.executorIdleTimeout) and memory is steady.
const settleTime = time.Minute

func (c cloud) measureIdleMemory(ctx context.Context, r *result, _ options) error {
	if err := sleep(ctx, settleTime); err != nil {
		return err
	}
	found, err := processes(c.state)
	if err != nil {
		return err
	}
	r.IdleMiB = memoryOf(found)
	r.IdleGiB = total(r.IdleMiB) / 1024
	return nil
}

// memoryOf returns the proportional set size in MiB, by program. It costs several
// hundred milliseconds of CPU time: the kernel walks every page table.
func memoryOf(found []process) map[string]float64 {
	mib := map[string]float64{}
	for _, p := range found {
		if size, err := p.ProcSMapsRollup(); err == nil { // else it has ended
			mib[programName(p.args)] += float64(size.Pss) / (1 << 20)
		}
	}
	return mib
}

func total(mib map[string]float64) (sum float64) {
	for v := range maps.Values(mib) {
		sum += v
	}
	return sum
}
