package stepcause

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// maxLastLines is how many of the job's last lines stand for its cause.
const maxLastLines = 5

// ending is how a program ended, as one of a step's logs tells.
type ending struct {
	// Exit codes, 0 = not known: of the step's process (EMR's controller), of a driver in
	// cluster mode (Spark's ApplicationMaster), and of the container that it ran in (YARN).
	process, driver, container int
	cluster                    bool // the driver ran in cluster mode
	early                      bool // it ended its JVM before Spark knew how the application ended
	lines                      []string
}

var (
	processExit   = regexp.MustCompile(`(?:ended with exit code|Step failed with exitCode) (-?\d+)`)
	driverExit    = regexp.MustCompile(`User application exited with (?:status )?(-?\d+)`)
	containerExit = regexp.MustCompile(`exited with +exitCode: (-?\d+)`)
)

// Texts of Spark's YARN client and ApplicationMaster about drivers in cluster mode.
const (
	clusterFailed  = "finished with failed status"
	clusterMessage = "Application diagnostics message: "
	endedEarly     = "Shutdown hook called before final status was reported"
)

// add reads a line. own reports whether the job printed it, or logged it as an error.
func (e *ending) add(line string, own bool) {
	if strings.Contains(line, "exit") { // the others cannot match
		for shape, code := range map[*regexp.Regexp]*int{processExit: &e.process, driverExit: &e.driver, containerExit: &e.container} {
			if found := shape.FindStringSubmatch(line); found != nil {
				*code, _ = strconv.Atoi(found[1]) // 0 beyond an int: not known
			}
		}
	}
	e.early = e.early || strings.Contains(line, endedEarly)
	e.cluster = e.cluster || e.early || strings.Contains(line, clusterFailed) || strings.Contains(line, clusterMessage)
	if own {
		e.lines = append(e.lines, clip(line, maxPart))
		e.lines = e.lines[max(0, len(e.lines)-maxLastLines):]
	}
}

// merge adds what another log tells. Its lines replace the others.
func (e *ending) merge(other ending) {
	for _, code := range []struct{ to, from *int }{
		{&e.process, &other.process}, {&e.driver, &other.driver}, {&e.container, &other.container},
	} {
		if *code.from != 0 {
			*code.to = *code.from
		}
	}
	e.cluster, e.early = e.cluster || other.cluster, e.early || other.early
	if len(other.lines) > 0 {
		e.lines = other.lines
	}
}

// code is the driver's exit code, 0 if it is not known.
func (e *ending) code() int {
	if !e.cluster {
		return e.process
	}
	return cmp.Or(e.driver, e.container) // the process was the client
}

// text says how the program ended without an exception, "" if that is not known.
func (e *ending) text() string {
	const without = " without an exception"
	switch code := e.code(); {
	case code != 0:
		return fmt.Sprintf("exit code %d", code) + without + signalOf(code)
	case e.early:
		return "exit" + without + ": the driver's JVM ended before Spark had the application's final status (System.exit, or a signal)"
	}
	return ""
}

// signalOf names the signal that an exit code of a shell or of Java stands for.
func signalOf(code int) string {
	const shell = 128
	switch signal := syscall.Signal(code - shell); {
	case signal == syscall.SIGKILL:
		return ": killed by signal 9, as by YARN or by the kernel when memory runs out"
	case code > shell && signal <= syscall.SIGSYS:
		return fmt.Sprintf(": ended by signal %d (%s)", int(signal), signal)
	}
	return ""
}
