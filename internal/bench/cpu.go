package main

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/emr-observatory/emr-observatory/internal/processes"
	"github.com/emr-observatory/emr-observatory/platform"
)

// jobCPU attributes the CPU time between a job's submission and its end to
// processes and threads, in seconds and relative to the job's own. Processes that
// ran before count with the CPU time used during the job, part of which they use
// without a job too.
//
// Threads are read once a second. What they use in the last second of a JVM, and
// the launcher's thread on an executor, which ends before it is seen, counts as
// the job's own; jvm_start_cpu_s has both. So does what telemetry does on other
// threads: the plugin's listener in one of Spark's (jvm_listener_cpu_share has it),
// async-profiler in the signal handlers and allocations of the application's
// (estimated by profiler_sampling_cpu_ratio), and the log appender, which copies
// events on the thread that logs.
type jobCPU struct {
	// The job's processes, spark-submit and Python included, without the threads
	// below.
	Own float64 `json:"job_own_cpu_s"`
	// The launcher's threads for metrics and logs.
	LauncherThreads      float64 `json:"job_launcher_threads_cpu_s"`
	LauncherThreadsShare float64 `json:"job_launcher_threads_cpu_share"`
	// The launcher's profiling threads, which start, stop, read and send recordings,
	// and async-profiler's own, which does not sample.
	ProfilerThreads      float64 `json:"job_profiler_threads_cpu_s"`
	ProfilerThreadsShare float64 `json:"job_profiler_threads_cpu_share"`
	// The collectors of all nodes.
	NodeCollectors      float64 `json:"job_node_collectors_cpu_s"`
	NodeCollectorsShare float64 `json:"job_node_collectors_cpu_share"`
	// Of the control node, which shares the job's cores only in the local cloud: its
	// collector, the redelivery proxy, and the stores.
	ControlCollector      float64 `json:"job_control_collector_cpu_s"`
	ControlCollectorShare float64 `json:"job_control_collector_cpu_share"`
	Redelivery            float64 `json:"job_redelivery_cpu_s"`
	RedeliveryShare       float64 `json:"job_redelivery_cpu_share"`
	Stores                float64 `json:"job_stores_cpu_s"`
	StoresShare           float64 `json:"job_stores_cpu_share"`
}

// consumer is what a process's or a thread's CPU time is attributed to.
type consumer string

const (
	noConsumer       consumer = ""
	ownProcesses     consumer = "job"
	launcherThreads  consumer = "launcher"
	profilerThreads  consumer = "profiler"
	nodeCollectors   consumer = "node collectors"
	controlCollector consumer = "control node's collector"
	redeliveryProxy  consumer = "redelivery"
	telemetryStores  consumer = "stores"
)

var (
	jobProcess = regexp.MustCompile(processes.SparkClass)
	stores     = []platform.Workload{
		platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs, platform.WorkloadTempo, platform.WorkloadPyroscope,
	}
)

// consumerOf attributes a process by its command line.
func consumerOf(args []string) consumer {
	executable := args[0]
	for _, w := range platform.Workloads() {
		switch {
		case w.Executable == "" || w.Executable != executable:
		case w.Name == platform.WorkloadCollector:
			return controlCollector
		case slices.Contains(stores, w.Name):
			return telemetryStores
		}
	}
	switch {
	case executable == platform.NodeCollectorBinary:
		return nodeCollectors
	case filepath.Base(executable) == "observatory" && len(args) > 1 && args[1] == "redeliver":
		return redeliveryProxy
	case jobProcess.MatchString(strings.Join(args, " ")):
		return ownProcesses
	}
	return noConsumer
}

// consumerOfThread attributes a thread of a job's JVM by its name, of which the
// kernel keeps 15 bytes.
func consumerOfThread(name string) consumer {
	switch {
	case strings.HasPrefix(name, "observatory-pro"), strings.HasPrefix(name, "Async-profiler"):
		return profilerThreads
	case strings.HasPrefix(name, "observatory-"):
		return launcherThreads
	}
	return noConsumer
}

// consumers attributes processes by PID. What a job's process has started, such
// as Python, is part of the job.
func consumers(found []processes.Process) map[int]consumer {
	parents, known := map[int]int{}, map[int]consumer{}
	for _, p := range found {
		parents[p.PID], known[p.PID] = p.Parent, consumerOf(p.Args)
	}
	for pid, c := range known {
		for ancestor, ok := parents[pid]; ok && c == noConsumer; ancestor, ok = parents[ancestor] {
			if known[ancestor] == ownProcesses {
				c = ownProcesses
			}
		}
		known[pid] = c
	}
	return known
}

// task is a process, or one of its threads.
type task struct{ pid, tid int } // tid 0 is the whole process

// cpuTime is a task's CPU time in seconds: before the job, and when last seen.
type cpuTime struct {
	consumer     consumer
	before, last float64
}

// cpuLedger keeps the CPU time of each process and telemetry thread as last seen:
// tasks that have ended still count. The first record is from before the job.
type cpuLedger map[task]cpuTime

// record adds what processes and telemetry threads have used so far. A process that
// exits while being read is not an error.
func (l *cpuLedger) record(found []processes.Process) error {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return err
	}
	first := *l == nil
	if first {
		*l = cpuLedger{}
	}
	known := consumers(found)
	for _, p := range found {
		c := known[p.PID]
		if c == noConsumer {
			continue
		}
		l.add(task{pid: p.PID}, c, p.CPU, first)
		if c == ownProcesses {
			for tid, t := range telemetryThreads(proc, p.PID) {
				l.add(task{p.PID, tid}, t.consumer, t.last, first)
			}
		}
	}
	return nil
}

func (l cpuLedger) add(t task, c consumer, seconds float64, first bool) {
	known := l[t]
	if first {
		known.before = seconds
	}
	l[t] = cpuTime{c, known.before, seconds}
}

// telemetryThreads returns the telemetry threads of a process by id, with their CPU
// time. It reads one file for each thread of the process.
func telemetryThreads(proc procfs.FS, pid int) map[int]cpuTime {
	found := map[int]cpuTime{}
	threads, err := proc.AllThreads(pid)
	if err != nil { // the process has ended
		return found
	}
	for _, thread := range threads {
		stat, err := thread.Stat()
		if err != nil {
			continue
		}
		if c := consumerOfThread(stat.Comm); c != noConsumer {
			found[thread.PID] = cpuTime{consumer: c, last: stat.CPUTime()}
		}
	}
	return found
}

// attribute sums up the ledger. A job without telemetry threads is an error: it
// would look as if they cost nothing.
func (l cpuLedger) attribute() (jobCPU, error) {
	used := map[consumer]float64{}
	for _, t := range l {
		used[t.consumer] += t.last - t.before
	}
	own := used[ownProcesses] - used[launcherThreads] - used[profilerThreads]
	for _, c := range []consumer{launcherThreads, profilerThreads, nodeCollectors, controlCollector, redeliveryProxy, telemetryStores} {
		if used[c] <= 0 || own <= 0 {
			return jobCPU{}, errors.New("no CPU time of the job's " + string(c) + " was seen")
		}
	}
	return jobCPU{
		Own:             own,
		LauncherThreads: used[launcherThreads], LauncherThreadsShare: used[launcherThreads] / own,
		ProfilerThreads: used[profilerThreads], ProfilerThreadsShare: used[profilerThreads] / own,
		NodeCollectors: used[nodeCollectors], NodeCollectorsShare: used[nodeCollectors] / own,
		ControlCollector: used[controlCollector], ControlCollectorShare: used[controlCollector] / own,
		Redelivery: used[redeliveryProxy], RedeliveryShare: used[redeliveryProxy] / own,
		Stores: used[telemetryStores], StoresShare: used[telemetryStores] / own,
	}, nil
}
