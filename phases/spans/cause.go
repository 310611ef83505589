package spans

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/phases/redaction"
)

// causeLimit is how many characters of a failure are searched for its cause: an event log
// keeps 16 KiB of a text, and the driver's spans must be those of its log.
const causeLimit = 8 << 10

// Texts of Python's and Java's traces, and of Spark about the task that failed a stage
// (traceback.py, Throwable.printStackTrace, DAGScheduler, TaskSetManager).
const (
	traceback    = "Traceback (most recent call last):"
	causedBy     = "Caused by: "
	recentTask   = "most recent failure: Lost task "
	taskID       = "(TID "
	endOfTask    = "): "
	driverTrace  = "Driver stacktrace:"
	anotherError = "During handling of the above exception, another exception occurred:"
	directCause  = "The above exception was the direct cause of the following exception:"
)

// causeFirst returns a failure that begins with its cause, which Spark puts behind traces:
// the exception of a Python worker follows its frames, and that of a JVM the exceptions it
// caused. Spans keep the beginning. observatory.spark.Causes does the same.
func causeFirst(failure string) string {
	cause := causeOf(redaction.Cut(failure, causeLimit))
	if cause == "" || strings.HasPrefix(failure, cause) {
		return failure
	}
	return cause + "\n" + failure
}

// causeOf returns the last exception of a failure's text, "" if the text begins with it.
func causeOf(text string) string {
	var cause []string
	inTraceback, inCause := false, false
	begin := func(line string) {
		inTraceback, inCause, cause = strings.HasSuffix(line, traceback), true, []string{line}
	}
	for line := range strings.SplitSeq(text, "\n") {
		nested, isNested := strings.CutPrefix(line, causedBy)
		failed, isTask := afterTask(line)
		switch {
		case isNested:
			begin(nested)
		case isTask:
			begin(failed)
		case strings.HasSuffix(line, traceback):
			inTraceback, inCause = true, false
		case inTraceback && line != "" && line[0] != ' ' && line[0] != '\t':
			begin(line)
		case inTraceback:
		case endsCause(line):
			inCause = false
		case inCause:
			cause = append(cause, line)
		}
	}
	return strings.TrimRight(strings.Join(cause, "\n"), " \t\n")
}

// afterTask returns what follows the name of the task that failed a stage.
func afterTask(line string) (failure string, found bool) {
	_, failure, found = strings.Cut(line, recentTask)
	if found {
		_, failure, found = strings.Cut(failure, taskID)
	}
	if found {
		_, failure, found = strings.Cut(failure, endOfTask)
	}
	return failure, found
}

// endsCause reports whether a line is no more of an exception's message.
func endsCause(line string) bool {
	frame, indented := strings.CutPrefix(line, "\t")
	return line == driverTrace || line == anotherError || line == directCause ||
		indented && (strings.HasPrefix(frame, "at ") || strings.HasPrefix(frame, "...") || strings.HasPrefix(frame, "Suppressed: "))
}
