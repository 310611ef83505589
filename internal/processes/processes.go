// Package processes reads what the processes of a local cloud use: CPU time and
// memory. It measures the machine on which it runs, and never a cloud in AWS.
package processes

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/emr-observatory/emr-observatory/localcloud"
)

// Process is a process of a local cloud.
type Process struct {
	procfs.Proc
	Parent int
	CPU    float64 // seconds since its start, all threads
	Args   []string
}

// Of lists all processes of the local cloud with a state folder. None is an error.
func Of(state string) ([]Process, error) {
	region, err := localcloud.Find(state)
	if err != nil {
		return nil, fmt.Errorf("find the local cloud in %s: %w", state, err)
	}
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	parents := map[int]int{}
	cpu := map[int]float64{}
	for _, p := range all {
		if stat, err := p.Stat(); err == nil { // else it has ended
			parents[p.PID], cpu[p.PID] = stat.PPID, stat.CPUTime()
		}
	}
	var found []Process
	for _, p := range all {
		if args, err := p.CmdLine(); err == nil && len(args) > 0 && isDescendant(parents, p.PID, region.PID) {
			found = append(found, Process{p, parents[p.PID], cpu[p.PID], args})
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

// SparkClass matches the main classes of a job's JVMs.
const SparkClass = `SparkSubmit|ApplicationMaster|ExecutorLauncher|CoarseGrainedExecutorBackend`

var javaProgram = regexp.MustCompile(`Dproc_(\w+)|(` + SparkClass + `|HistoryServer)`)

// program shortens a command line to what it runs: a Java class, or else the
// executable's file name.
func program(args []string) string {
	if m := javaProgram.FindStringSubmatch(strings.Join(args, " ")); m != nil {
		return m[1] + m[2]
	}
	return filepath.Base(args[0])
}

// Memory returns the proportional set size in MiB, by program. It costs several
// hundred milliseconds of CPU time: the kernel walks every page table.
func Memory(found []Process) map[string]float64 {
	mib := map[string]float64{}
	for _, p := range found {
		if size, err := p.ProcSMapsRollup(); err == nil { // else it has ended
			mib[program(p.Args)] += float64(size.Pss) / (1 << 20)
		}
	}
	return mib
}

// Total returns the sum over all programs.
func Total(mib map[string]float64) (sum float64) {
	for _, v := range mib {
		sum += v
	}
	return sum
}
