// Package progress prints what a command does: one line per event, with the time
// since the command began. Lines, not bars: they read the same in a terminal and
// in CI.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Log prints lines. It may be used by several goroutines.
type Log struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
}

// New starts the clock of a command.
func New(out io.Writer) *Log { return &Log{out: out, start: time.Now()} }

// Printf prints one line.
func (l *Log) Printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%5s  %s\n", time.Since(l.start).Round(time.Second), fmt.Sprintf(format, args...))
}

// Step prints the outcome of one step. It is the progress function of the packages
// that build and fetch.
func (l *Log) Step(name, message string, elapsed time.Duration) {
	l.Printf("%-18s %s (%s)", name, message, elapsed.Round(time.Second))
}

// StepUnlessReady is like Step, without the lines of what was ready already.
func (l *Log) StepUnlessReady(name, message string, elapsed time.Duration) {
	if !strings.HasPrefix(message, "ready") {
		l.Step(name, message, elapsed)
	}
}

// Writer returns a writer that prints every line written to it, except blank ones.
func (l *Log) Writer() io.Writer { return &lineWriter{log: l} }

type lineWriter struct {
	log     *Log
	partial string // the line that has not ended yet
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.partial += string(b)
	for {
		line, rest, ok := strings.Cut(w.partial, "\n")
		if !ok {
			return len(b), nil
		}
		w.partial = rest
		if line = strings.TrimRight(line, "\r "); line != "" {
			w.log.Printf("%s", line)
		}
	}
}
