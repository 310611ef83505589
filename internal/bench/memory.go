package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"

	"github.com/emr-observatory/emr-observatory/localcloud"
)

// settle is how long after a job its last executors are gone (Spark's
// dynamicAllocation.executorIdleTimeout) and memory has come to rest.
const settle = time.Minute

func (c cloud) idle(ctx context.Context, r *result, _ options) error {
	if err := rest(ctx, settle); err != nil {
		return err
	}
	var err error
	if r.IdleMiB, err = memory(c.state); err != nil {
		return err
	}
	r.IdleGiB = total(r.IdleMiB) / 1024
	return nil
}

// rest waits, unless it is interrupted.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// memory is the proportional set size, in MiB, of all processes of a local
// cloud, by what they run.
func memory(state string) (map[string]float64, error) {
	all, err := processes(state)
	if err != nil {
		return nil, err
	}
	found := map[string]float64{}
	for _, p := range all {
		if size, err := p.ProcSMapsRollup(); err == nil { // else it has ended
			found[p.name] += float64(size.Pss) / (1 << 20)
		}
	}
	return found, nil
}

// process is one of a local cloud, by what it runs.
type process struct {
	procfs.Proc
	name string
}

// processes are all of a local cloud; there are some.
func processes(state string) (found []process, err error) {
	region, err := localcloud.Find(state)
	if err != nil {
		return nil, err
	}
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	parents := map[int]int{}
	for _, p := range all {
		if stat, err := p.Stat(); err == nil {
			parents[p.PID] = stat.PPID
		}
	}
	for _, p := range all {
		if line, err := p.CmdLine(); err == nil && len(line) > 0 && below(parents, p.PID, region.PID) {
			found = append(found, process{p, called(line)})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no process of the local cloud in %s", state)
	}
	return found, nil
}

func below(parents map[int]int, pid, ancestor int) bool {
	for pid != ancestor {
		parent, ok := parents[pid]
		if !ok {
			return false
		}
		pid = parent
	}
	return true
}

var java = regexp.MustCompile(`Dproc_(\w+)|(SparkSubmit|ExecutorLauncher|CoarseGrainedExecutorBackend|HistoryServer)`)

// called names what a command line runs.
func called(line []string) string {
	if m := java.FindStringSubmatch(strings.Join(line, " ")); m != nil {
		return m[1] + m[2]
	}
	return filepath.Base(line[0])
}

func total(mib map[string]float64) (sum float64) {
	for v := range maps.Values(mib) {
		sum += v
	}
	return sum
}

// watch looks at a local cloud's memory once a second until stopped; peak is
// the look with the highest total.
func watch(ctx context.Context, state string) (stop func(), peak func() map[string]float64) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	var highest map[string]float64
	done.Go(func() {
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if now, err := memory(state); err == nil && total(now) > total(highest) {
				highest = now
			}
		}
	})
	return func() { cancel(); done.Wait() }, func() map[string]float64 { return highest }
}

// worked is the CPU time of the whole machine since its start, in seconds.
func worked() (float64, error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, err
	}
	stat, err := proc.Stat()
	t := stat.CPUTotal
	return t.User + t.Nice + t.System + t.IRQ + t.SoftIRQ, err
}

// load is the machine's load average of the last minute.
func load() float64 {
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
