package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progress prints one line per thing that happens, with the time since the
// command began. Lines, not bars: they read the same in a terminal and in CI.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, start: time.Now()} }

func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := time.Since(p.start).Round(time.Second)
	fmt.Fprintf(p.out, "%5s  %s\n", d, fmt.Sprintf(format, args...))
}

// news is part without what was ready before.
func (p *progress) news(name, message string, elapsed time.Duration) {
	if !strings.HasPrefix(message, "ready") {
		p.part(name, message, elapsed)
	}
}

// part is the Progress of the packages that build and fetch.
func (p *progress) part(name, message string, elapsed time.Duration) {
	p.say("%-18s %s (%s)", name, message, elapsed.Round(time.Second))
}
