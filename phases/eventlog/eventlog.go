// Package eventlog reads the event logs of Spark 3.4 to 4.0: plain or compressed, one
// file or a folder of rolled files, complete or cut off. It hands over one typed event
// at a time and keeps none; its memory is that of the longest line.
//
// It leaves out what this project does not use, and judges nothing: package phases does.
package eventlog

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"github.com/emr-observatory/emr-observatory/phases"
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
}

// Lines reads the lines of an uncompressed log and hands their events to take. name is
// for errors. Only the last line may be incomplete.
func Lines(r io.Reader, name string, take func(phases.Event)) (Report, error) {
	var report Report
	lines := bufio.NewReaderSize(r, 64<<10)
	var long []byte // a line that exceeds the buffer
	for number := 1; ; number++ {
		line, err := readLine(lines, &long)
		report.Bytes += int64(len(line))
		cut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !cut {
			return report, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		line = bytes.TrimSpace(line)
		event, decodeErr := phases.Event(nil), error(nil)
		if len(line) > 0 {
			event, decodeErr = decode(line)
		}
		var types *json.SemanticError
		switch {
		case errors.As(decodeErr, &types):
			event = phases.Lost{Reason: fmt.Sprintf("%s:%d: %v", name, number, types)}
			report.Unread = cmp.Or(report.Unread, fmt.Sprintf("%s:%d: %v", name, number, types))
		case decodeErr != nil && !cut:
			return report, fmt.Errorf("%s:%d: read event: %w", name, number, decodeErr)
		case decodeErr != nil, errors.Is(err, io.ErrUnexpectedEOF):
			report.Truncated = fmt.Sprintf("%s:%d", name, number)
		}
		if event != nil {
			report.Events++
			take(event)
		} else if len(line) > 0 && decodeErr == nil {
			report.Skipped++
		}
		if cut {
			return report, nil
		}
	}
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
