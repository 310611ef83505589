// Package history measures how fast event logs are read: a real one, multiplied to the
// size of a long application's, against encoding/json.
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

	"github.com/emr-observatory/emr-observatory/profiler/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Source is the log that is multiplied, relative to the repository.
const Source = "profiler/eventlog/testdata/spark4/eventlog_v2_app-20261124085717-0000"

// Result compares readers of the same log. A run is a process of its own, with one
// processor; seconds are of CPU time, of that process and its collector of garbage.
type Result struct {
	Bytes, Events int64   // of the log, uncompressed
	PerSecond     float64 // events, decoded: median
	RowsPerSecond float64 // events whose rows are written as Parquet: median
	MBPerSecond   float64 // 10^6 bytes, uncompressed: median
	// OverStandard is PerSecond relative to that of encoding/json with types, on the
	// first tenth of the log: median of pairs.
	OverStandard float64
	PeakMiB      float64 // largest resident set of a run
	// FirstAnswer is what Spark's history server takes, see FirstAnswer; OverServer is
	// that relative to the time in which all rows of the same log are written.
	FirstAnswer, OverServer float64
}

// reader is a way to read a log.
type reader string

const (
	ours     reader = "eventlog"
	rows     reader = "fold" // reads by eventlog, folds, and writes the tables to a lake in a folder
	standard reader = "encoding/json"
)

// standardShare is the part of a log that the slower reader reads.
const standardShare = 10

// run is what a process prints.
type run struct {
	Events, Bytes int64
	Seconds       float64
	PeakBytes     int64
}

// Measure multiplies the log of Source, in folder, to a size in bytes, and reads it in
// turns of processes, one of each reader; and once by Spark's history server.
func Measure(ctx context.Context, folder string, size int64, pairs int) (r Result, err error) {
	if pairs < 1 || size < 1 {
		return r, fmt.Errorf("measure the reading of event logs: %d pairs, %d bytes: each must be at least 1", pairs, size)
	}
	dir, err := os.MkdirTemp("", "bench-history-")
	if err != nil {
		return r, fmt.Errorf("measure the reading of event logs: %w", err)
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
				limit = size / standardShare
			}
			if runs[by], err = start(ctx, by, path, limit); err != nil {
				return r, err
			}
		}
		slices.Reverse(order)
		mine, other, whole := runs[ours], runs[standard], runs[rows]
		r.Events, r.Bytes = mine.Events, mine.Bytes
		r.PeakMiB = max(r.PeakMiB, float64(mine.PeakBytes)/(1<<20), float64(whole.PeakBytes)/(1<<20))
		rowsPerSecond = append(rowsPerSecond, float64(whole.Events)/whole.Seconds)
		rowsSeconds = append(rowsSeconds, whole.Seconds)
		perSecond = append(perSecond, float64(mine.Events)/mine.Seconds)
		mbPerSecond = append(mbPerSecond, float64(mine.Bytes)/1e6/mine.Seconds)
		ratios = append(ratios, perSecond[len(perSecond)-1]*other.Seconds/float64(other.Events))
	}
	r.PerSecond, r.MBPerSecond, r.OverStandard = median(perSecond), median(mbPerSecond), median(ratios)
	r.RowsPerSecond = median(rowsPerSecond)
	if r.FirstAnswer, err = FirstAnswer(ctx, path); err != nil {
		return r, err
	}
	r.OverServer = r.FirstAnswer / median(rowsSeconds)
	return r, nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// ReadCommand is the first argument of this program as a process that reads a log.
const ReadCommand = "history-read"

// start runs this program again to read a log, on one processor.
func start(ctx context.Context, by reader, path string, limit int64) (r run, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, fmt.Errorf("read a log by %s: %w", by, err)
	}
	cmd := exec.CommandContext(ctx, self, ReadCommand, string(by), path, strconv.FormatInt(limit, 10))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("read a log by %s: %w", by, err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("read a log by %s: its result: %w", by, err)
	}
	return r, nil
}

// Run reads a log as the arguments of ReadCommand say, and prints its events, bytes, CPU time and memory.
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
	return json.NewEncoder(out).Encode(r) // of a pipe to the parent
}

// readEvents hands the events of a log to take.
func readEvents(ctx context.Context, path string, take func(eventlog.Event) error) (run, error) {
	log, err := eventlog.Open(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return run{}, err // it names the file
	}
	report, err := log.Read(ctx, take)
	if err == nil && report.Truncated+report.Unread+report.Damaged != "" {
		err = fmt.Errorf("read %s: %+v", path, report)
	}
	return run{Events: report.Events, Bytes: report.Bytes}, err
}

// writeRows writes the rows of a log to a lake beside it, without those of tasks.
func writeRows(ctx context.Context, path string) (r run, err error) {
	log, err := eventlog.Open(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return r, err // it names the file
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "lake-")
	if err != nil {
		return r, fmt.Errorf("write the rows of %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	folder, err := lake.NewFolder(dir)
	if err != nil {
		return r, err // it names the folder
	}
	tablesOf, err := lake.Open(ctx, folder, "")
	if err != nil {
		return r, err // as above
	}
	lease, err := tablesOf.Lock(ctx, ReadCommand)
	if err != nil {
		return r, err // as above
	}
	defer func() { err = errors.Join(err, lease.Unlock(ctx)) }()
	cluster := tables.Cluster{ClusterID: ReadCommand}
	batch, err := tablesOf.Begin(tables.Attempt{Cluster: cluster, ApplicationID: "application"}, time.Unix(0, 0))
	if err != nil {
		return r, err // as above
	}
	summary, err := fold.Log(ctx, log, cluster, fold.Options{}, batch)
	if err != nil {
		batch.Discard()
		return r, err // it names the log
	}
	if _, err := batch.Commit(ctx, summary.Final, ""); err != nil {
		return r, err // as above
	}
	return run{Events: summary.Report.Events, Bytes: summary.Report.Bytes}, nil
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// peakBytes is the largest resident set that this process had.
func peakBytes() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("read the memory of this process: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10, err // the kernel's own line
		}
	}
	return 0, errors.New("read the memory of this process: no VmHWM in /proc/self/status")
}
