package eventlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
)

// Report says what a reader met besides the events.
type Report struct {
	Events  int64 // that were handed over
	Skipped int64 // of kinds that this project does not use
	Bytes   int64 // uncompressed
	// Truncated names the place of a last line, or compressed block, that is cut off:
	// the driver was killed, or still writes.
	Truncated string
	// Following says that a file after the last one is missing, and which.
	Following string
	// Unread is the first event whose fields have other types than Spark's, with its
	// place: a changed build of Spark. Such events are left out, and said to be lost.
	Unread string
	// Damaged is the first text in the log that is no event, with its place. What can be
	// read after it is read.
	Damaged string
}

// noEvents is how much text without an event shows that a file is no event log.
const noEvents = 1 << 20

// lines reads the files of a log.
type lines struct {
	*decoder
	take   func(Event) error
	report Report
	buffer []byte
	cut    bool // the file is cut off
	// damage is the first one while there was no event.
	damage error
}

func newLines(take func(Event) error) *lines {
	return &lines{decoder: newDecoder(), take: take, buffer: make([]byte, bufferSize)}
}

// read reads the text of a file. It returns an error if the file cannot be read, not if
// the text is damaged or ends too early.
func (l *lines) read(text io.Reader, from *stored, name string) error {
	in := newInput(text, l.buffer)
	l.input = in
	before := l.report.Bytes
	number := 0
	for in.next() {
		number++
		if err := l.line(place{name, number}); err != nil {
			return err
		}
		l.report.Bytes = before + in.size
		if l.damage != nil && l.report.Bytes > noEvents {
			return l.damage
		}
	}
	l.report.Bytes = before + in.size
	return l.ended(in.err, from, place{name, number})
}

// ended takes account of how a file ended.
func (l *lines) ended(err error, from *stored, at place) error {
	switch {
	case from.err != nil:
		return fmt.Errorf("read event log %s: %w", at, from.err)
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		l.cutOff(at)
		return nil
	}
	return l.lost(Damaged, at, err)
}

func (l *lines) cutOff(at place) {
	l.report.Truncated, l.cut = at.String(), true
}

// none returns the error of a text that has no event at all.
func (l *lines) none() error {
	if l.report.Events+l.report.Skipped > 0 {
		return nil
	}
	return l.damage
}

// place is a line of a file.
type place struct {
	name   string
	number int
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.name, p.number) }

// line hands over the event of a line.
func (l *lines) line(at place) error {
	if l.peek() == 0 {
		return nil // an empty line
	}
	event, err := l.decode()
	if err != nil {
		return l.failed(at, err)
	}
	l.damage = nil
	if event == nil {
		l.report.Skipped++
		return nil
	}
	l.report.Events++
	if err := l.take(event); err != nil || !l.shortened {
		return err
	}
	return l.lost(Unread, at, fmt.Errorf("elements of lists beyond %d MiB of one event are left out", maxLine>>20))
}

// failed reports a line of which no event could be made.
func (l *lines) failed(at place, err error) error {
	var types *typeError
	switch {
	case errors.As(err, &types):
		return l.lost(Unread, at, err)
	case l.last && errors.Is(err, errLine):
		l.cutOff(at)
		return nil
	}
	return l.lost(Damaged, at, err)
}

// lost says that something could not be read.
func (l *lines) lost(cause Cause, at place, err error) error {
	text := fmt.Sprintf("%s: %v", at, err)
	if cause == Unread {
		l.report.Unread = cmp.Or(l.report.Unread, text)
	} else {
		l.report.Damaged = cmp.Or(l.report.Damaged, text)
		if l.report.Events+l.report.Skipped == 0 {
			l.damage = cmp.Or(l.damage, fmt.Errorf("%s: read event: %w", at, err))
		}
	}
	return l.take(&Lost{Cause: cause, Reason: text})
}
