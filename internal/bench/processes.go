package main

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

// everySecond calls look once a second until it fails or stop is called, which
// returns look's error.
func everySecond(ctx context.Context, look func() error) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	var err error
	done.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if err = look(); err != nil {
				return
			}
		}
	})
	return func() error { cancel(); done.Wait(); return err }
}

// sleep returns early with an error if ctx is cancelled.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// machineCPU returns the CPU time of the whole machine since its start, in seconds.
func machineCPU() (float64, error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, err
	}
	stat, err := proc.Stat()
	t := stat.CPUTotal
	return t.User + t.Nice + t.System + t.IRQ + t.SoftIRQ, err
}

// loadAverage returns the load average of the last minute, or 0 if it cannot be read.
func loadAverage() float64 {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	average, err := proc.LoadAvg()
	if err != nil {
		return 0
	}
	return average.Load1
}
