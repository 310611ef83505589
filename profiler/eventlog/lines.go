package eventlog

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// Report says what a reader met besides the events.
type Report struct {
	Events  int64 // that were handed over
	Skipped int64 // of kinds that this project does not use
	Bytes   int64 // uncompressed
	// Truncated names the place of a last line, or compressed block, that is cut off:
	// the driver was killed, or still writes.
	Truncated string
	// Unread is the first event whose fields have other types than Spark's, with its
	// place: a changed build of Spark. Such events are left out, and said to be lost.
	Unread string
	// Damaged is the first text in the log that is no event, with its place. What can be
	// read after it is read.
	Damaged string
}

// Lines reads the lines of an uncompressed log and hands their events to take. name is
// for errors. Only the last line may be incomplete.
func Lines(ctx context.Context, r io.Reader, name string, take func(Event) error) (Report, error) {
	l := lines{decoder: &decoder{words: words{}}, take: take}
	err := l.read(ctx, r, name)
	return l.report, err
}

// lines reads the files of a log.
type lines struct {
	*decoder
	take   func(Event) error
	report Report
}

func (l *lines) read(ctx context.Context, r io.Reader, name string) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var long []byte // a line that exceeds the buffer
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read event log %s: %w", name, err)
		}
		line, err := readLine(in, &long)
		l.report.Bytes += int64(len(line))
		cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !cut {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			err := l.line(line, fmt.Sprintf("%s:%d", name, number), cut)
			if err != nil {
				return err
			}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			l.report.Truncated = fmt.Sprintf("%s:%d", name, number)
		}
		if cut {
			return nil
		}
	}
}

// line hands over the event of a line.
func (l *lines) line(line []byte, place string, last bool) error {
	event, err := l.decode(line)
	var types *json.SemanticError
	switch {
	case errors.As(err, &types):
		l.report.Unread = cmp.Or(l.report.Unread, fmt.Sprintf("%s: %v", place, types))
		event = &Lost{Cause: Unread, Reason: fmt.Sprintf("%s: %v", place, types)}
	case err != nil && last:
		l.report.Truncated = place
		return nil
	case err != nil:
		return fmt.Errorf("%s: read event: %w", place, err)
	}
	if event == nil {
		l.report.Skipped++
		return nil
	}
	l.report.Events++
	return l.take(event)
}

// readLine returns the next line, in memory that the next call overwrites.
func readLine(r *bufio.Reader, long *[]byte) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	*long = (*long)[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		*long = append(*long, line...)
		line, err = r.ReadSlice('\n')
	}
	*long = append(*long, line...)
	return *long, err
}
