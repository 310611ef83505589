package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/klauspost/compress/zstd"
)

// multiplied is the log of an application that repeats its jobs. Each copy of the jobs has
// its own ids and times.
type multiplied struct {
	begin, end [][]byte   // lines about the application and its executors
	body       []template // jobs and SQL executions, with their stages and tasks
}

// template is a line whose numbers differ from copy to copy.
type template struct {
	parts [][]byte // before, between and after the numbers
	// Each number is first in the first copy, and increases by step from copy to copy.
	first, step []int64
	flush       bool // Spark flushes after it, which ends a zstd frame
}

// series maps fields to the series that their numbers count, such as stage ids.
var series = map[string]string{
	"Job ID": "job", "Stage ID": "stage", "Stage IDs": "stage", "Parent IDs": "stage", "Task ID": "task",
	"executionId": "sql", "rootExecutionId": "sql", "spark.sql.execution.id": "sql", "spark.sql.execution.root.id": "sql",
	"accumulatorId": "accumulator", "ID": "accumulator", "accumUpdates": "accumulator",
	"Submission Time": "time", "Completion Time": "time", "Launch Time": "time", "Finish Time": "time", "time": "time", "Timestamp": "time",
}

// field matches a field whose value is a number, a list of numbers or a list of pairs.
var field = regexp.MustCompile(`"([A-Za-z. ]+)":("?[0-9]+"?|\[[0-9,\[\]]+\])`)

var number = regexp.MustCompile(`[0-9]+`)

// singleEvent matches events that belong to no job and are not repeated.
var singleEvent = regexp.MustCompile(`^\{"Event":"SparkListener(LogStart|Application|Environment|Executor|BlockManager|ResourceProfile)`)

// unflushed matches events after which Spark does not flush (org.apache.spark.scheduler.EventLoggingListener).
var unflushed = regexp.MustCompile(`^\{"Event":"SparkListener(Task|StageSubmitted)`)

// multiplyInto multiplies the log in a folder of rolled files to a size, and writes it as zstd.
func multiplyInto(ctx context.Context, path, folder string, size int64) (err error) {
	lines, err := readLines(folder)
	if err != nil {
		return fmt.Errorf("read the event log to multiply: %w", err)
	}
	m := newMultiplied(lines)
	if len(m.body) == 0 {
		return fmt.Errorf("multiply the event log %s: it has no jobs", folder)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("multiply an event log: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriterSize(file, 1<<20)
	if err := m.write(ctx, out, size); err != nil {
		return fmt.Errorf("multiply an event log: %w", err)
	}
	return out.Flush() // the error names the file
}

func readLines(folder string) (lines [][]byte, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "events_*"))
	if err != nil {
		return nil, err // the caller adds context
	}
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err // as above
	}
	defer decoder.Close()
	for _, name := range names {
		packed, err := os.ReadFile(name)
		if err != nil {
			return nil, err // as above
		}
		text, err := decoder.DecodeAll(packed, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		lines = slices.AppendSeq(lines, bytes.Lines(text))
	}
	return lines, nil
}

func newMultiplied(lines [][]byte) multiplied {
	var m multiplied
	last, firstTime := map[string]int64{}, int64(0)
	for _, line := range lines {
		if singleEvent.Match(line) {
			if len(m.body) == 0 {
				m.begin = append(m.begin, line)
			} else {
				m.end = append(m.end, line)
			}
			continue
		}
		m.body = append(m.body, template{})
		eachNumber(line, func(of string, n int64, _, _ int) {
			last[of] = max(last[of], n)
			if of == "time" && (firstTime == 0 || n < firstTime) {
				firstTime = n
			}
		})
	}
	last["time"] -= firstTime
	i := 0
	for _, line := range lines {
		if singleEvent.Match(line) {
			continue
		}
		t := &m.body[i]
		i++
		t.flush = !unflushed.Match(line)
		at := 0
		eachNumber(line, func(of string, n int64, from, to int) {
			t.parts, t.first, t.step = append(t.parts, line[at:from]), append(t.first, n), append(t.step, last[of]+1)
			at = to
		})
		t.parts = append(t.parts, line[at:])
	}
	return m
}

// eachNumber calls found for each number of a line that belongs to a series.
func eachNumber(line []byte, found func(of string, n int64, from, to int)) {
	for _, f := range field.FindAllSubmatchIndex(line, -1) {
		name := string(line[f[2]:f[3]])
		of, ok := series[name]
		if !ok {
			continue
		}
		for i, digits := range number.FindAllIndex(line[f[4]:f[5]], -1) {
			from, to := f[4]+digits[0], f[4]+digits[1]
			n, err := strconv.ParseInt(string(line[from:to]), 10, 64)
			if err != nil || name == "accumUpdates" && i%2 == 1 || of == "time" && n == 0 {
				continue // too large, an accumulator's value, or no time
			}
			found(of, n, from, to)
		}
	}
}

// write writes copies until the text has the size. The frames have no checksums, like Spark's.
func (m multiplied) write(ctx context.Context, out io.Writer, size int64) error {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		return err // the caller adds context
	}
	var text, packed []byte
	written := int64(0)
	flush := func() error {
		packed = encoder.EncodeAll(text, packed[:0])
		written += int64(len(text))
		text = text[:0]
		_, err := out.Write(packed)
		return err
	}
	text = append(text, bytes.Join(m.begin, nil)...)
	for n := int64(0); written < size; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range m.body {
			text = m.body[i].append(text, n)
			if !m.body[i].flush {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
		}
	}
	text = append(text, bytes.Join(m.end, nil)...)
	return flush()
}

// append appends the line for a copy.
func (t *template) append(text []byte, copies int64) []byte {
	for i, first := range t.first {
		text = append(text, t.parts[i]...)
		text = strconv.AppendInt(text, first+copies*t.step[i], 10)
	}
	return append(text, t.parts[len(t.parts)-1]...)
}
