// Package history measures how fast event logs are read. It multiplies a real log to the
// size of a long application's, and compares with encoding/json and Spark's history server.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/internal/bench/stats"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Source is the path of the log that is multiplied, relative to the repository.
const Source = "eventlog/testdata/spark4/eventlog_v2_app-20261124085717-0000"

// Result compares readers of the same log, zstd in. Each run is a separate process with
// one processor. Its seconds are CPU time, including garbage collection.
type Result struct {
	LogMB         float64 `json:"history_parse_log_mb"`           // of the log, uncompressed
	PerSecond     float64 `json:"history_parse_events_per_cpu_s"` // events decoded: median
	RowsPerSecond float64 `json:"history_rows_events_per_cpu_s"`  // events whose rows are written as Parquet: median
	MBPerSecond   float64 `json:"history_parse_mb_per_cpu_s"`     // 10^6 bytes, uncompressed: median
	// OverStandard is RowsPerSecond relative to the events per second that encoding/json
	// decodes, without rows, from the first tenth of the log: median of pairs.
	OverStandard float64 `json:"history_rows_over_encoding_json_ratio"`
	PeakMiB      float64 `json:"history_parse_mib"` // largest resident set of a run
	// FirstAnswer is the result of the function FirstAnswer, and TunedAnswer with a JVM that
	// has more memory and all JIT tiers, in seconds. OverServer and OverTuned are these
	// relative to the time in which all rows of the same log are written.
	FirstAnswer float64 `json:"history_server_first_answer_s"`
	OverServer  float64 `json:"history_server_first_answer_over_rows_ratio"`
	TunedAnswer float64 `json:"history_server_tuned_first_answer_s"`
	OverTuned   float64 `json:"history_server_tuned_first_answer_over_rows_ratio"`
}

// reader is a way to read a log.
type reader string

const (
	ours     reader = "eventlog"
	rows     reader = "fold" // reads with eventlog, folds, and writes the tables to a lake in a folder
	standard reader = "encoding/json"
)

// standardDivisor divides the size of a log into what the slower reader reads of it.
const standardDivisor = 10

// run is the result that a process prints.
type run struct {
	Events, Bytes int64
	Seconds       float64
	PeakBytes     int64
}

// Measure multiplies the log Source in folder to a size in bytes. It reads the log with
// each reader in turn, pairs times, and once with Spark's history server.
func Measure(ctx context.Context, folder string, size int64, pairs int) (r Result, err error) {
	if pairs < 1 || size < 1 {
		return r, fmt.Errorf("measure event log readers: %d pairs, %d bytes: each must be at least 1", pairs, size)
	}
	dir, err := os.MkdirTemp("", "bench-history-")
	if err != nil {
		return r, fmt.Errorf("measure event log readers: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "multiplied.zstd")
	if err := multiplyInto(ctx, path, filepath.Join(folder, Source), size); err != nil {
		return r, err
	}
	order := []reader{ours, standard, rows}
	var perSecond, rowsPerSecond, mbPerSecond, ratios, rowsSeconds []float64
	for range pairs {
		runs := map[reader]run{}
		for _, by := range order {
			limit := int64(0)
			if by == standard {
				limit = size / standardDivisor
			}
			if runs[by], err = runReader(ctx, by, path, limit); err != nil {
				return r, err
			}
		}
		slices.Reverse(order)
		mine, other, whole := runs[ours], runs[standard], runs[rows]
		r.LogMB = float64(mine.Bytes) / 1e6
		r.PeakMiB = max(r.PeakMiB, float64(mine.PeakBytes)/(1<<20), float64(whole.PeakBytes)/(1<<20))
		rowsPerSecond = append(rowsPerSecond, float64(whole.Events)/whole.Seconds)
		rowsSeconds = append(rowsSeconds, whole.Seconds)
		perSecond = append(perSecond, float64(mine.Events)/mine.Seconds)
		mbPerSecond = append(mbPerSecond, float64(mine.Bytes)/1e6/mine.Seconds)
		ratios = append(ratios, rowsPerSecond[len(rowsPerSecond)-1]*other.Seconds/float64(other.Events))
	}
	r.PerSecond, r.MBPerSecond, r.OverStandard = stats.Median(perSecond), stats.Median(mbPerSecond), stats.Median(ratios)
	r.RowsPerSecond = stats.Median(rowsPerSecond)
	if r.TunedAnswer, err = FirstAnswer(ctx, path, tuned...); err != nil {
		return r, err
	}
	if r.FirstAnswer, err = FirstAnswer(ctx, path); err != nil {
		return r, err
	}
	r.OverServer, r.OverTuned = r.FirstAnswer/stats.Median(rowsSeconds), r.TunedAnswer/stats.Median(rowsSeconds)
	return r, nil
}

// ReadCommand is the first argument that makes this program a process that reads a log.
const ReadCommand = "history-read"

// runReader runs this program as a process that reads a log on one processor, with the
// environment of the workload: it limits the heap.
func runReader(ctx context.Context, by reader, path string, limit int64) (r run, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, fmt.Errorf("read a log with %s: %w", by, err)
	}
	record, err := platform.Workloads().Get(platform.WorkloadProfiler)
	if err != nil {
		return r, err // the error names the workload
	}
	workload, err := workloadconfig.Profiler(record, workloadconfig.Settings{})
	if err != nil {
		return r, fmt.Errorf("configure a reader of logs: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, ReadCommand, string(by), path, strconv.FormatInt(limit, 10))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	for name, value := range workload.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("read a log with %s: %w", by, err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("read a log with %s: decode its result: %w", by, err)
	}
	return r, nil
}

// Run reads a log as the arguments of ReadCommand say, and prints events, bytes, CPU time and memory.
func Run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 3 {
		return fmt.Errorf("%s: needs a reader, a file and a number of bytes", ReadCommand)
	}
	limit, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", ReadCommand, err)
	}
	began := cpuSeconds()
	var r run
	switch reader(args[0]) {
	case ours:
		r, err = readEvents(ctx, args[1], func(eventlog.Event) error { return nil })
	case rows:
		r, err = writeRows(ctx, args[1])
	default:
		r, err = readStandard(args[1], limit)
	}
	if err != nil {
		return err
	}
	r.Seconds = cpuSeconds() - began
	if r.PeakBytes, err = peakBytes(); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r) // errors of the pipe to the parent need no context
}

// readEvents passes the events of a log to take.
func readEvents(ctx context.Context, path string, take func(eventlog.Event) error) (run, error) {
	log, err := eventlog.Open(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return run{}, err // the error names the file
	}
	report, err := log.Read(ctx, take)
	if err == nil && report.Truncated+report.Unread+report.Damaged != "" {
		err = fmt.Errorf("read %s: %+v", path, report)
	}
	return run{Events: report.Events, Bytes: report.Bytes}, err
}

// writeRows writes the rows of a log, except tasks, to a lake next to it.
func writeRows(ctx context.Context, path string) (r run, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), "lake-")
	if err != nil {
		return r, fmt.Errorf("write the rows of %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	kept, lease, err := openLake(ctx, dir)
	if err != nil {
		return r, err // the error names the folder
	}
	defer func() { err = errors.Join(err, lease.Unlock(ctx)) }()
	summary, err := writeLog(ctx, kept, path, time.Unix(0, 0))
	return run{Events: summary.Report.Events, Bytes: summary.Report.Bytes}, err
}

// openLake opens and locks a lake in a folder.
func openLake(ctx context.Context, dir string) (*lake.Lake, *lake.Lease, error) {
	folder, err := lake.NewFolder(dir)
	if err != nil {
		return nil, nil, err // the error names the folder
	}
	kept, err := lake.Open(ctx, folder, "")
	if err != nil {
		return nil, nil, err // as above
	}
	lease, err := kept.Lock(ctx, "bench")
	return kept, lease, err // as above
}

// writeLog writes the rows of a log, except tasks, as those of an application that started at a time.
func writeLog(ctx context.Context, kept *lake.Lake, path string, start time.Time) (summary fold.Summary, err error) {
	log, err := eventlog.Open(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return summary, err // the error names the file
	}
	cluster := tables.Cluster{ClusterID: "bench"}
	batch, err := kept.Begin(tables.Attempt{Cluster: cluster, ApplicationID: "application"}, start)
	if err != nil {
		return summary, err // as above
	}
	defer batch.Discard()
	if summary, err = fold.Log(ctx, log, cluster, fold.Options{}, batch); err != nil {
		return summary, err // the error names the log
	}
	_, err = batch.Commit(ctx, summary.Final, "")
	return summary, err // as above
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// peakBytes returns the peak resident set size of this process.
func peakBytes() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("read the memory of this process: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10, err // cannot fail: the kernel writes the line
		}
	}
	return 0, errors.New("read the memory of this process: no VmHWM in /proc/self/status")
}
