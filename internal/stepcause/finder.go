package stepcause

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

const tracebackHeader = "Traceback (most recent call last):"

// Shapes of lines that Spark, Hadoop, Python and the JVM print.
var (
	pythonFrame = regexp.MustCompile(`^\s+File "([^"]+)", line (\d+)(?:, in (.+))?$`)
	jvmFrame    = regexp.MustCompile(`^\s+at ([^\s(]+)\(([^):]*)(?::(\d+))?\)`)
	// exceptionName matches the class of a JVM exception with its message.
	exceptionName  = regexp.MustCompile(`(?:[A-Za-z_]\w*\.)+[\w$]*(?:Exception|Error|Failure|Throwable)(?:: .*|:?$)`)
	inThread       = regexp.MustCompile(`^Exception in thread "([^"]*)" (.+)`)
	diagnostics    = regexp.MustCompile(`^\s*(?:.*Application diagnostics message|diagnostics): (.+)`)
	lostTask       = regexp.MustCompile(`most recent failure: Lost task \S+ in stage \S+ \(TID \d+\) \([^)]*\): (.+)`)
	killed         = regexp.MustCompile(`(?i)exit ?(?:status|code|code is):? (?:137|143)\b|container killed by YARN`)
	killedByShell  = regexp.MustCompile(`line \d+:\s+\d+ Killed\b`)
	startFailed    = regexp.MustCompile(`^(?:Error: )?Failed to load class .+|^\S*python\S*: can't open file .+`)
	jvmOutOfMemory = regexp.MustCompile(`^# (java\.lang\.OutOfMemoryError: .+)`)
	// onlyFailed matches messages that say no more than that the application failed.
	onlyFailed = regexp.MustCompile(`finished with failed status|SparkUserAppException|User application exited with|` +
		`SparkContext was shut down|Shutdown hook called before final status`)
	// pending matches what YARN reports of an application that has not failed.
	pending = regexp.MustCompile(`^(?:N/A|\[?[^\]]*\]? ?` +
		`(?:AM container is launched|Scheduler has assigned|Application is (?:added|Activated)).*)$`)
)

// Finder finds the cause of a job's failure in one of its logs, read line by line. It keeps
// one possible cause besides the best, so its size does not depend on the log's. Its zero
// value is ready to use.
type Finder struct {
	best, now finding
	ended     ending // how the program ended

	follows    weight // of a line after the log event that was read last
	previous   string // the last line that is not empty
	traceback  bool   // within a Python traceback, up to its exception
	wantsCode  bool   // the next line may quote the user's line
	ownFrame   bool   // the current stack trace has reached the user's code
	suppressed bool   // within an exception that another one suppressed
}

// Add reads one line.
func (f *Finder) Add(line string) {
	line = strings.TrimRight(line, "\r")
	if strings.TrimSpace(line) == "" {
		return
	}
	event, isEvent := parseEvent(line)
	within := f.traceback
	switch {
	case isEvent:
		f.end()
		f.follows = event.level.follows
		f.addMessage(event.message, event.level)
		for _, more := range event.lines {
			f.addLine(more)
		}
	default:
		f.addLine(line)
	}
	f.ended.add(line, event.level == failure || !isEvent && !within && !f.traceback && !isOfException(line))
	f.previous = line
}

// isOfException reports whether a line begins an exception of the JVM or belongs to one.
func isOfException(line string) bool {
	at := exceptionName.FindStringIndex(line)
	return strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "Caused by: ") || at != nil && at[0] == 0
}

// addMessage reads the first line of a log event.
func (f *Finder) addMessage(message string, level level) {
	exception, weight := exceptionName.FindString(message), level.inline
	switch found := diagnostics.FindStringSubmatch(message); {
	case found != nil:
		f.beginDiagnostics(found[1])
	case strings.Contains(message, "User class threw exception") && exception != "":
		f.begin(exception, conclusive)
	case exception != "":
		f.begin(exception, weight)
	case killed.MatchString(message) && !level.isInformation:
		_, text, _ := strings.Cut(message, ": ") // after the logger's name
		f.begin(cmp.Or(text, message), handled)
	}
	if strings.HasSuffix(message, tracebackHeader) {
		f.begin(cmp.Or(exception, message), max(f.now.weight, weight))
		f.traceback = true
	}
}

// addLine reads a line that is not the first of a log event.
func (f *Finder) addLine(line string) {
	frame := jvmFrame.FindStringSubmatch(line)
	switch {
	case strings.Contains(line, tracebackHeader):
		f.beginTraceback(line)
	case f.traceback:
		f.addTraceback(line)
	case frame != nil:
		f.addFrame(frame)
	case strings.HasPrefix(strings.TrimSpace(line), "Suppressed: "):
		f.suppressed = true
	case f.now.weight != noCause && f.continues(line):
	default:
		f.addFirst(line)
	}
}

// continues reads a line that belongs to the possible cause, and reports whether it does.
func (f *Finder) continues(line string) bool {
	nested, isCause := strings.CutPrefix(line, "Caused by: ")
	inJVM, isPy4J := strings.CutPrefix(line, ": ")                                  // follows the exception of a Py4JJavaError
	more, isDetail := strings.CutPrefix(line, "Failing this attempt.Diagnostics: ") // of an application master
	switch {
	case isCause:
		f.nest(nested)
	case isPy4J && exceptionName.MatchString(inJVM):
		f.nest(inJVM)
	case isDetail:
		f.now.Exception = clip(f.now.Exception+" "+more, maxException)
	default:
		return false
	}
	return true
}

// addFirst reads a line that may begin a possible cause.
func (f *Finder) addFirst(line string) {
	thread, yarn := inThread.FindStringSubmatch(line), diagnostics.FindStringSubmatch(line)
	memory, syntax := jvmOutOfMemory.FindStringSubmatch(line), pythonFrame.FindStringSubmatch(line)
	exception := exceptionName.FindString(line)
	switch {
	case thread != nil && thread[1] == "main":
		f.begin(thread[2], conclusive)
	case thread != nil:
		f.begin(thread[2], logged)
	case yarn != nil:
		f.beginDiagnostics(yarn[1])
	case memory != nil:
		f.begin(memory[1], conclusive)
	case startFailed.MatchString(line):
		f.begin(line, conclusive)
	case syntax != nil && syntax[3] == "": // a file that Python cannot parse has no header
		f.begin(line, conclusive)
		f.now.python, f.traceback = true, true
		f.addTraceback(line)
	case strings.HasPrefix(line, "Caused by: "):
		f.begin(exception, cmp.Or(f.follows, printed))
	case exception != "" && strings.HasPrefix(line, exception) && !f.inMessage():
		f.begin(line, cmp.Or(f.follows, printed))
	case killedByShell.MatchString(line):
		f.begin(line, logged)
	case strings.HasPrefix(line, "Error: "), killed.MatchString(line) && f.now.weight == noCause:
		f.begin(line, printed)
	}
}

// inMessage reports whether the line still belongs to the message of the possible cause.
func (f *Finder) inMessage() bool {
	return f.now.weight != noCause && !strings.HasPrefix(strings.TrimSpace(f.previous), "at ") && !strings.HasPrefix(f.previous, "\t...")
}

// beginDiagnostics begins with what YARN says of an application.
func (f *Finder) beginDiagnostics(text string) {
	if pending.MatchString(text) {
		return
	}
	_, thrown, found := strings.Cut(text, "User class threw exception: ")
	if !found {
		thrown = text
	}
	weight := conclusive
	if code := containerExit.FindStringSubmatch(text); code != nil && !killed.MatchString(text) {
		weight = echo // the driver's own log says why
	}
	f.begin(thrown, weight)
}

// begin ends the possible cause that was read, and begins another.
func (f *Finder) begin(exception string, weight weight) {
	f.end()
	f.now.weight = weight
	f.nest(exception)
}

// nest goes on to the exception that caused the one before.
func (f *Finder) nest(exception string) {
	if strings.HasSuffix(exception, tracebackHeader) { // the exception follows its frames
		f.traceback = true
	}
	if onlyFailed.MatchString(exception) && f.now.Exception == "" {
		f.now.weight = echo
	}
	if task := lostTask.FindStringSubmatch(exception); task != nil {
		exception = task[1]
	}
	f.now.Exception = clip(exception, maxException)
	f.ownFrame, f.suppressed = false, false
}

// end compares the possible cause that was read with the best so far.
func (f *Finder) end() {
	if f.now.Exception != "" && f.now.weight >= f.best.weight {
		f.best = f.now
	}
	f.now = finding{}
	f.traceback, f.wantsCode, f.ownFrame, f.suppressed = false, false, false, false
}

// cause returns what the lines read so far tell; its weight is noCause if they tell nothing.
func (f *Finder) cause() finding {
	f.end()
	return f.best
}

// beginTraceback begins a Python traceback, which may belong to the cause so far.
func (f *Finder) beginTraceback(line string) {
	before, _, _ := strings.Cut(line, tracebackHeader)
	switch {
	case strings.HasPrefix(line, "Caused by: ") && f.now.weight != noCause, f.now.weight != noCause && followedByTraceback(f.previous):
	case before == "":
		f.begin("", conclusive)
		f.now.python = true
	case strings.HasPrefix(before, ": ") && f.now.weight != noCause: // of a Py4JJavaError
	default:
		f.begin(cmp.Or(exceptionName.FindString(before), before), cmp.Or(f.follows, printed))
	}
	f.traceback, f.wantsCode = true, false
}

// followedByTraceback reports whether the traceback after this line belongs to the
// exception before it: it was raised while handling that, or in a worker.
func followedByTraceback(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, "another exception occurred:") || strings.HasSuffix(line, "cause of the following exception:") ||
		strings.HasSuffix(line, "stack trace below.")
}

// addTraceback reads a line of a Python traceback, the exception included.
func (f *Finder) addTraceback(line string) {
	if frame := pythonFrame.FindStringSubmatch(line); frame != nil {
		f.wantsCode = isOwnPython(frame[1])
		if f.wantsCode {
			number, _ := strconv.Atoi(frame[2]) // 0 beyond an int: the line is left out
			f.now.File, f.now.Line = clip(frame[1], maxPart), number
			f.now.Function, f.now.Code = clip(frame[3], maxPart), ""
		}
		return
	}
	if strings.HasPrefix(line, " ") {
		if f.wantsCode && strings.Trim(line, " ~^") != "" {
			f.now.Code, f.wantsCode = clip(line, maxPart), false
		}
		return
	}
	f.traceback, f.wantsCode = false, false
	f.nest(line)
}

// addFrame reads a frame of a JVM's stack trace.
func (f *Finder) addFrame(frame []string) {
	if f.now.weight == noCause || f.now.python || f.ownFrame || f.suppressed || !isOwnJVM(frame[1]) {
		return
	}
	f.ownFrame = true
	number, _ := strconv.Atoi(frame[3]) // 0: compiled without line numbers
	f.now.File, f.now.Line, f.now.Code = clip(frame[2], maxPart), number, ""
	f.now.Function = clip(frame[1][strings.LastIndexByte(frame[1], '/')+1:], maxPart)
}
