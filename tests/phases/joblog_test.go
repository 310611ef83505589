package phases_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the job's own log says, of its driver and its executors: when Spark did what
// no code of the job is called for. Notes beside it would come late on a busy machine.
var (
	// SparkContext: its constructor begins, and its stop.
	logContext = regexp.MustCompile(`^SparkContext: Running Spark version `)
	logStop    = regexp.MustCompile(`^SparkContext: SparkContext is stopping `)
	// YarnClientSchedulerBackend has waited for YARN to run the application master.
	logAccepted = regexp.MustCompile(`^YarnClientSchedulerBackend: Application \S+ has started running\.`)
	// The scheduler backend has the executors that the context's constructor waits for.
	logReady = regexp.MustCompile(`^\w+SchedulerBackend: SchedulerBackend is ready for scheduling `)
	// The driver hears of its own block manager, and of that of an executor, which can
	// run tasks from now on.
	logDriver   = regexp.MustCompile(`^BlockManagerMasterEndpoint: Registering block manager .* BlockManagerId\(driver,`)
	logExecutor = regexp.MustCompile(`^BlockManagerMasterEndpoint: Registering block manager .* BlockManagerId\(\d+,`)
	logLost     = regexp.MustCompile(`^YarnScheduler: Lost executor `)
	// A stage has tasks to run, one of them is sent to an executor, and its result is there.
	logStage    = regexp.MustCompile(`^DAGScheduler: Submitting \S+Stage .* which has no missing parents`)
	logTask     = regexp.MustCompile(`^TaskSetManager: Starting task .*\(TID (\d+)\)`)
	logFinished = regexp.MustCompile(`^TaskSetManager: Finished task .*\(TID (\d+)\)`)
)

type logLine struct {
	at   int64
	text string
}

// logOf matches a line of logPattern.
var logOf = regexp.MustCompile(`^(\d{13}) \w+ (.*)`)

// readLogs reads what driver and executors wrote, in order of time.
func (r *run) readLogs(t *testing.T) (lines []logLine) {
	t.Helper()
	files, err := filepath.Glob(r.path("logs/" + r.application(t) + "/*/stderr"))
	require.NoError(t, err)
	for _, file := range append(files, r.output) {
		log, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range bytes.Lines(log) {
			if found := logOf.FindSubmatch(line); found != nil {
				at, err := strconv.ParseInt(string(found[1]), 10, 64)
				require.NoError(t, err)
				lines = append(lines, logLine{at, string(found[2])})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b logLine) int { return cmp.Compare(a.at, b.at) })
	return lines
}

// timeTasks sets when the driver sent each task to its executor and when it had the
// result. The executor's own clock is later and earlier, by up to half a second for a few
// tasks on a busy machine.
func (n notes) timeTasks() {
	for _, l := range n.log {
		if task := n.task(logTask, l); task != nil {
			task.from = l.at
		}
		if task := n.task(logFinished, l); task != nil {
			task.to = l.at
		}
	}
}

// task returns the task that a line names, nil if it is no such line or the job did not
// note the task.
func (n notes) task(line *regexp.Regexp, l logLine) *ownTask {
	found := line.FindStringSubmatch(l.text)
	if found == nil {
		return nil
	}
	id, _ := strconv.Atoi(found[1])
	return n.tasks[id]
}

// logged returns when a line was written, not before an instant.
func (n notes) logged(t *testing.T, line *regexp.Regexp, since int64) int64 {
	t.Helper()
	i := slices.IndexFunc(n.log, func(l logLine) bool { return l.at >= since && line.MatchString(l.text) })
	require.GreaterOrEqual(t, i, 0, "no log has a line %s since %d", line, since)
	return n.log[i].at
}
