package phases_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

// account is a job's own division of its wall clock. It is painted millisecond by
// millisecond over what the job and its tasks noted and what they logged, so that it
// shares neither events nor arithmetic with the engines.
type account struct {
	begin, end int64
	labels     []platform.Phase // by millisecond since begin
}

// clockLine is a line of job.py's clock.
type clockLine struct {
	What   string `json:"what"`
	At     int64  `json:"at"`
	Action string `json:"action"`
	Kind   string `json:"kind"`
	Waits  bool   `json:"waits"`
}

// ownTask is a task, from its launch to its end in the driver's log.
type ownTask struct {
	stage    int
	action   string
	from, to int64 // to is 0 if the executor was killed
}

// notes are all clocks of a run.
type notes struct {
	lines []clockLine
	tasks map[int]*ownTask
	log   []logLine
}

// at returns when the job noted something for the first time, 0 if it did not.
func (n notes) at(what string) int64 {
	for _, l := range n.lines {
		if l.What == what {
			return l.At
		}
	}
	return 0
}

// notes reads the clocks of a run.
func (r *run) notes(t *testing.T) notes {
	t.Helper()
	n := notes{tasks: map[int]*ownTask{}}
	text, err := os.ReadFile(r.clock())
	require.NoError(t, err)
	for line := range bytes.Lines(text) {
		var l clockLine
		require.NoError(t, json.Unmarshal(line, &l))
		n.lines = append(n.lines, l)
	}
	files, err := filepath.Glob(r.path("clock/" + r.application(t) + "-*.tasks"))
	require.NoError(t, err)
	for _, file := range files {
		n.readTasks(t, file)
	}
	n.log = r.readLogs(t)
	n.timeTasks()
	return n
}

func (n *notes) readTasks(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var what, action string
		var id, stage int
		var at int64
		_, _ = fmt.Sscan(lines.Text(), &what, &id, &stage, &at, &action)
		switch what {
		case "begin":
			n.tasks[id] = &ownTask{stage: stage, action: action, from: at}
		case "end":
			n.tasks[id].to = at
		}
	}
}

// account divides the wall clock by the run's clocks. begin is the submission, end
// the call of stop, unless until says that the driver was killed then, or stopped by
// itself.
func (r *run) account(t *testing.T, until int64) account {
	t.Helper()
	n := r.notes(t)
	if until == 0 {
		until = n.at("stop")
	}
	a := account{begin: r.submitted.UnixMilli(), end: until}
	a.labels = make([]platform.Phase, a.end-a.begin)
	a.paint(a.begin, a.end, platform.PhaseDriver)
	n.paintConstructor(t, &a, r.job)
	ends := map[string]int64{}
	for _, l := range n.lines {
		if l.What == "end" {
			ends[l.Action] = l.At
		}
	}
	for _, kind := range []string{"compute", "write"} { // what is written last takes precedence
		for _, l := range n.lines {
			if l.What != "begin" {
				continue
			}
			end, ended := ends[l.Action]
			if !ended {
				end = until
			}
			n.paintAction(t, &a, l, end, kind)
		}
	}
	return a
}

// paintConstructor paints the time before the context was there. A static job's waits
// until the executor is there; on a busy machine it returns hundreds of milliseconds later.
func (n notes) paintConstructor(t *testing.T, a *account, j job) {
	t.Helper()
	context := n.logged(t, logContext, 0)
	switch {
	case j.inCluster:
		a.paint(a.begin, context, platform.PhaseSubmit)
		if j.static() {
			a.paint(n.logged(t, logDriver, context), n.logged(t, logReady, context), platform.PhaseResourceWait)
		}
	case j.static():
		a.paint(context, n.logged(t, logReady, context), platform.PhaseResourceWait)
	default:
		driver := n.logged(t, logDriver, context)
		require.LessOrEqual(t, n.logged(t, logAccepted, context), driver, "the driver's block manager starts once YARN has accepted")
		a.paint(context, driver, platform.PhaseResourceWait)
	}
}

// paintAction paints what was computed, or written, by an action.
func (n notes) paintAction(t *testing.T, a *account, l clockLine, end int64, kind string) {
	t.Helper()
	last, lastEnd := 0, int64(0)
	for _, task := range n.tasks {
		if task.action == l.Action {
			last, lastEnd = max(last, task.stage), max(lastEnd, task.to)
		}
	}
	if kind == "compute" {
		n.paintWait(t, a, l)
	}
	for _, task := range n.tasks {
		if task.action != l.Action {
			continue
		}
		writes := l.Kind != "compute" && task.stage == last
		to := task.to
		if to == 0 {
			to = end
		}
		switch {
		case writes && kind == "write":
			a.paint(task.from, to, platform.PhaseWrite)
		case !writes && kind == "compute":
			a.paint(task.from, to, platform.PhaseCompute)
		}
	}
	if l.Kind == "write" && kind == "write" {
		a.paint(lastEnd, end, platform.PhaseWrite) // the commit, which without SQL is the driver's: no event tells of it
	}
}

// paintWait paints the wait of an action for an executor if none was there: because it
// is the first, or the test took the others.
func (n notes) paintWait(t *testing.T, a *account, l clockLine) {
	t.Helper()
	launched := n.logged(t, logTask, l.At)
	atFirst := launched == n.logged(t, logTask, 0)
	if !atFirst && !l.Waits {
		return
	}
	asked := n.logged(t, logStage, l.At)
	until := launched
	if !atFirst { // an idle executor is no reason to wait, unless none ran a task before
		until = n.logged(t, logExecutor, asked)
	}
	a.paint(asked, until, platform.PhaseResourceWait)
}

func (a account) paint(from, to int64, phase platform.Phase) {
	for at := max(from, a.begin); at < min(to, a.end); at++ {
		a.labels[at-a.begin] = phase
	}
}

// phases returns the milliseconds of each phase.
func (a account) phases() map[platform.Phase]int64 {
	sums := map[platform.Phase]int64{}
	for _, label := range a.labels {
		sums[label]++
	}
	return sums
}
