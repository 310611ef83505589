package submit

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
	Log       string `json:"log"`            // s3:// URI of the log that says so
}

// Longest parts of a cause, in bytes. A stage's failure may quote a whole plan.
const (
	maxException = 1000
	maxPart      = 300
)

// String formats the exception, and on a second line where the user's code raised it.
func (c Cause) String() string {
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
	handled           // a warning, or an error that Spark or the job may have recovered from
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
