// Package stepcause finds why a job failed in the logs of its EMR step: the exception with the
// line of the user's code that raised it, or else how the program ended. It reads lines,
// wherever they are kept.
package stepcause

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Cause is why a job failed, as its own log tells: the exception, and the line of
// the user's code that raised it.
type Cause struct {
	Exception string `json:"exception"`      // type and message, on one line
	File      string `json:"file,omitempty"` // of the user's line; a path for Python, a name for the JVM
	Line      int    `json:"line,omitempty"`
	Function  string `json:"function,omitempty"`
	Code      string `json:"code,omitempty"` // the line itself, if the log quotes it
	Log       string `json:"log"`            // that says so, as Search.Add names it
	// LastLines are what a job without an exception printed last, besides log events.
	LastLines []string `json:"lastLines,omitempty"`
}

// Longest parts of a cause, in bytes. A stage's failure may quote a whole plan.
const (
	maxException = 1000
	maxPart      = 300
)

// String formats the exception, and on further lines where the user's code raised it, or what
// the job printed last.
func (c Cause) String() string {
	if len(c.LastLines) > 0 {
		return c.Exception + "; the job's last lines:\n  " + strings.Join(c.LastLines, "\n  ")
	}
	place := ""
	if c.File != "" {
		place = path.Base(c.File)
		if c.Line > 0 {
			place += fmt.Sprintf(":%d", c.Line)
		}
	}
	if c.Function != "" {
		place = strings.TrimPrefix(place+", in "+c.Function, ", ")
	}
	if place == "" {
		return c.Exception
	}
	if c.Code != "" {
		place += ": " + c.Code
	}
	return c.Exception + "\n  at " + place
}

// weight is how surely a message is the cause of a job's failure.
type weight int

// The weights, lightest first. The heaviest message is the cause, of equal ones the last.
const (
	noCause    weight = iota
	echo              // says only that the application failed
	handled           // logged as less than an error: Spark or the job may have recovered from it
	printed           // written without a logger
	logged            // logged as an error
	conclusive        // ended the program
)

// finding is a possible cause.
type finding struct {
	Cause
	weight weight
	python bool // begins with a Python traceback: its own line is Python's
}

// clip makes text valid and at most limit bytes long.
func clip(text string, limit int) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "?"))
	if len(text) <= limit {
		return text
	}
	const ellipsis = "…"
	return strings.ToValidUTF8(text[:limit-len(ellipsis)], "") + ellipsis
}

// Search joins what the logs of a step tell. Its zero value is ready to use.
type Search struct {
	best   finding
	ending ending
	own    string // the log whose last lines are the job's, or else the one with the exit code
	driver bool   // a driver's own log was read
	memory string // the error of an executor that ran out of memory
}

// Kind is what a log is of.
type Kind int

// Kinds of logs.
const (
	Output     Kind = iota // what the step's program printed
	Controller             // EMR's, about that program
	Driver                 // of a driver in cluster mode, which ran in a container
)

// Add adds what was found in a log.
func (s *Search) Add(log string, kind Kind, f *Finder) {
	found := f.cause()
	if found.weight > s.best.weight {
		s.best = found
		s.best.Log = log
	}
	ended := f.ended
	if kind == Controller {
		ended.lines = nil
	}
	if len(ended.lines) > 0 || len(s.ending.lines) == 0 && ended.text() != "" {
		s.own = log
	}
	s.ending.merge(ended)
	s.driver = s.driver || kind == Driver
}

// WantsController reports whether EMR's own log may say more than what was added: how the
// program ended, since no exception says why.
func (s *Search) WantsController() bool { return s.best.weight < printed }

// WantsDriver reports whether the driver ran in cluster mode, and its own log, which was not
// added yet, may say why it failed.
func (s *Search) WantsDriver() bool {
	return s.best.weight < printed && s.ending.cluster && !s.driver
}

// lostExecutor matches what Spark says of an executor that has gone. YARN calls the node bad
// where the JVM ended itself.
var lostExecutor = regexp.MustCompile(`ExecutorLostFailure|Container from a bad node`)

// OutOfMemory is the exception of a JVM whose heap is full.
const OutOfMemory = "java.lang.OutOfMemoryError"

// WantsExecutors reports whether the log of an executor may say more than what was added: why it
// has gone.
func (s *Search) WantsExecutors() bool {
	return s.best.weight > noCause && s.memory == "" && lostExecutor.MatchString(s.best.Exception)
}

// container matches the ids of YARN's containers.
var container = regexp.MustCompile(`\bcontainer_[0-9e_]+\b`)

// LostContainer returns the id of the executor's container whose loss ended the application, ""
// if no log names it.
func (s *Search) LostContainer() string { return container.FindString(s.best.Exception) }

// AddExecutor adds a line of an executor's log. Only OutOfMemory is looked for in it.
func (s *Search) AddExecutor(line string) {
	if at := strings.Index(line, OutOfMemory); at >= 0 && s.memory == "" {
		s.memory = clip(line[at:], maxPart)
	}
}

// Cause returns the cause, nil if no log names one: the exception that most surely ended the
// program, or else how it ended, with what the job printed last. A warning is the cause only
// if nothing says how the program ended.
func (s *Search) Cause() *Cause {
	text, cause := s.ending.text(), s.best.Cause
	switch {
	case s.WantsDriver() && s.best.weight > noCause:
		if code := s.ending.code(); code != 0 {
			cause.Exception = fmt.Sprintf("exit code %d", code)
		}
		cause.Exception = clip(cause.Exception+"; the driver's own log, which says why, could not be read", maxException)
	case s.best.weight >= printed, s.best.weight > noCause && text == "":
	case text == "":
		return nil
	default:
		cause = Cause{Exception: text, Log: s.own, LastLines: s.ending.lines}
	}
	if s.memory != "" && lostExecutor.MatchString(cause.Exception) {
		cause.Exception = clip(s.memory+" in an executor; "+cause.Exception, maxException)
	}
	return &cause
}
