// Package stepcause finds why a job failed in the logs of its EMR step: the exception with the
// line of the user's code that raised it, or else how the program ended. It reads lines,
// wherever they are kept.
package stepcause

import (
	"fmt"
	"path"
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
