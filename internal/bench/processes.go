package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"

	"github.com/emr-observatory/emr-observatory/localcloud"
)

// process is a process of a local cloud.
type process struct {
	procfs.Proc
	parent int
	cpu    float64 // seconds since its start, all threads
	args   []string
}

// processes lists all processes of a local cloud. None is an error.
func processes(state string) ([]process, error) {
	region, err := localcloud.Find(state)
	if err != nil {
		return nil, err
	}
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	parents := map[int]int{}
	cpu := map[int]float64{}
	for _, p := range all {
		if stat, err := p.Stat(); err == nil { // else it has ended
			parents[p.PID], cpu[p.PID] = stat.PPID, stat.CPUTime()
		}
	}
	var found []process
	for _, p := range all {
		if args, err := p.CmdLine(); err == nil && len(args) > 0 && isDescendant(parents, p.PID, region.PID) {
			found = append(found, process{p, parents[p.PID], cpu[p.PID], args})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no process of the local cloud in %s", state)
	}
	return found, nil
}

// isDescendant reports whether pid is ancestor or descends from it.
func isDescendant(parents map[int]int, pid, ancestor int) bool {
	for pid != ancestor {
		parent, ok := parents[pid]
		if !ok {
			return false
		}
		pid = parent
	}
	return true
}

// sparkClass matches the main classes of a job's JVMs.
const sparkClass = `SparkSubmit|ApplicationMaster|ExecutorLauncher|CoarseGrainedExecutorBackend`

var javaProgram = regexp.MustCompile(`Dproc_(\w+)|(` + sparkClass + `|HistoryServer)`)

// programName shortens a command line to what it runs: a Java class, or else the
// executable's file name.
func programName(args []string) string {
	if m := javaProgram.FindStringSubmatch(strings.Join(args, " ")); m != nil {
		return m[1] + m[2]
	}
	return filepath.Base(args[0])
}

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
