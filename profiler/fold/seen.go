package fold

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// seen tracks what an application's events show, and what they show to be missing.
type seen struct {
	jobs, lostJobs ids // with a start; with only an end
	attempts       attempts
	openJobs       int64
	openStages     int64 // attempts
	tasks          ids   // with a start or an end
	taskRows       ids   // written to the table tasks

	lostEnds    int64 // started tasks that lack the end their stage needed
	lostTasks   int64 // tasks of completed stages without any event
	waiting     int64 // tasks of open stages without any event so far
	summaries   int64 // stages with quantiles
	partial     int64 // stages whose quantiles lack tasks
	sql         ids   // executions with a start
	lostSQL     ids   // executions with events but no start
	openSQL     int64
	writtenSQL  ids
	unknownPlan bool // of any execution
}

// indices is the set of indexes of a stage's successful tasks.
type indices struct {
	bits  []uint64 // of the low ones
	count int64
	high  ids // of 64 × lowIndexes and more
}

// lowIndexes bounds the bits of a stage, whatever the index of its only task: 8 KiB.
const lowIndexes = 1 << 10 // 64 each

func (x *indices) add(index int64) {
	word := int(index >> 6)
	if index < 0 {
		return
	}
	if word >= lowIndexes {
		if x.high.add(index) {
			x.count++
		}
		return
	}
	for len(x.bits) <= word {
		x.bits = append(x.bits, 0)
	}
	if bit := uint64(1) << (index & 63); x.bits[word]&bit == 0 {
		x.bits[word] |= bit
		x.count++
	}
}

// stage counts the tasks that an attempt lacks when it is done or the log ends. Tasks of an
// open attempt may follow later, unless the application ended.
func (s *seen) stage(done *stage, ended bool) {
	row := &done.row
	short := int64(0)
	if row.Status == StageComplete || row.Status == StageActive {
		short = max(0, row.NumTasks-done.indices.count)
	}
	lost := min(short, row.NumActiveTasks)
	s.lostEnds += lost
	if row.Status == StageComplete || ended {
		s.lostTasks += short - lost
	} else {
		s.waiting += short - lost
	}
	if row.NumCompleteTasks > 0 {
		s.summaries++
		if short > 0 {
			s.partial++
		}
	}
}

// plan counts an execution when it is written.
func (s *seen) plan(x *execution) {
	if !x.started {
		s.lostSQL.add(x.row.SQLID)
	}
	if !x.ended {
		s.openSQL++
	}
	s.unknownPlan = s.unknownPlan || x.plan == nil
}

// upTo returns how many ids there must have been, given that they count up from 0.
func upTo(sets ...*ids) (count int64) {
	for _, set := range sets {
		if set.count > 0 {
			count = max(count, upToID(set.largest))
		}
	}
	return count
}

// closeCompleteness writes what is missing. Spark numbers jobs, stages, tasks and executions
// consecutively, so gaps show; a stage says how many tasks it has.
func (l *listener) closeCompleteness() error {
	s := &l.seen
	for _, e := range []endpoint{
		l.applicationCompleteness(),
		l.counted(Jobs, upTo(&s.jobs, &s.lostJobs), s.jobs.count-s.openJobs, "jobs have no start or no end"),
		l.counted(Stages, s.attempts.expected(), s.attempts.seen()-s.openStages, "stage attempts have no event or no end"),
		l.tasksCompleteness(),
		l.counted(TaskSummaries, s.summaries, s.summaries-s.partial, "summaries lack tasks"),
		l.executorsCompleteness(),
		l.sqlCompleteness(),
		l.plansCompleteness(),
		l.environmentsCompleteness(),
	} {
		e.final = l.ended || !l.log.InProgress
		if err := l.complete(e); err != nil {
			return err
		}
	}
	return nil
}

// counted returns an endpoint whose number of rows is known, unless compaction left none.
func (l *listener) counted(name string, expected, whole int64, missing string) endpoint {
	reason, why := l.cause()
	if expected == 0 && l.log.Compacted {
		return endpoint{name: name, reason: reason, detail: "no events are left: " + why}
	}
	return endpoint{
		name: name, expected: &expected, seen: whole, reason: reason,
		detail: fmt.Sprintf("%d of %d %s: %s", expected-whole, expected, missing, why),
	}
}

// cause returns why events are missing, if any are.
func (l *listener) cause() (reason Reason, detail string) {
	switch {
	case l.log.Compacted:
		return Compaction, "the history server compacted the log"
	case l.lost.Cause == eventlog.Denied:
		return Unavailable, "a file of the log cannot be opened: " + l.lost.Reason
	case l.lost.Cause == eventlog.Unread:
		return DroppedEvents, "an event could not be read: " + l.lost.Reason
	case l.lost.Cause == eventlog.Absent:
		return MissingParts, l.lost.Reason
	case l.lost.Cause != "":
		return Truncation, "the log lacks events: " + l.lost.Reason
	}
	return l.causeOfEnd()
}

// causeOfEnd returns why the last events are missing, if any are.
func (l *listener) causeOfEnd() (reason Reason, detail string) {
	switch {
	case !l.ended && l.log.InProgress:
		return InProgress, "Spark has not closed the log: the application is running, or its driver was killed"
	case l.summary.Report.Truncated != "":
		return Truncation, "the log is truncated at " + l.summary.Report.Truncated
	case !l.ended && l.summary.Report.Following != "":
		return MissingParts, l.summary.Report.Following
	case !l.ended:
		return Truncation, "the log lacks the end of the application"
	}
	return DroppedEvents, "the driver dropped events, or the cluster lost them"
}

// applicationCompleteness blames a missing part for the start only: a log ends after it.
func (l *listener) applicationCompleteness() endpoint {
	whole := int64(0)
	if l.started && l.ended {
		whole = 1
	}
	e := l.counted(Applications, 1, whole, "application has no start or no end")
	if l.started && l.lost.Cause == eventlog.Absent {
		var why string
		e.reason, why = l.causeOfEnd()
		e.detail = "1 of 1 application has no end: " + why
	}
	return e
}

func (l *listener) tasksCompleteness() endpoint {
	s := &l.seen
	gaps := upTo(&s.tasks) - s.tasks.count
	whole := s.tasks.count - s.lostEnds
	missing := max(gaps, s.lostTasks) + s.lostEnds + s.waiting
	return l.counted(Tasks, whole+missing, whole, "tasks have no event or no end")
}

func (l *listener) executorsCompleteness() endpoint {
	whole := int64(len(l.executors))
	all := whole
	for id := range l.namedExecutors {
		if l.executors[id] == nil {
			all++
		}
	}
	e := l.counted(Executors, all, whole, "executors have no start")
	if l.log.Compacted {
		e.expected, e.detail = nil, "the history server compacted the log, and left out executors that had been removed"
	}
	return e
}

// sqlCompleteness counts executions from the first that was seen: if a driver has several
// contexts one after the other, execution ids of the later ones do not begin at 0.
func (l *listener) sqlCompleteness() endpoint {
	s := &l.seen
	expected := upTo(&s.sql, &s.lostSQL)
	if expected > 0 && !l.log.Compacted {
		first := s.sql.smallest
		if s.lostSQL.count > 0 && (s.sql.count == 0 || s.lostSQL.smallest < first) {
			first = s.lostSQL.smallest
		}
		expected -= first
	}
	whole := s.sql.count
	if !l.ended { // when the context stops, the end of the last one may not be logged
		whole -= s.openSQL
	}
	return l.counted(SQLExecutions, expected, whole, "executions have no start or no end")
}

func (l *listener) plansCompleteness() endpoint {
	rows := l.summary.Rows[tables.Table((*tables.SQLNode)(nil))]
	e := l.counted(SQLNodes, rows, rows, "")
	if sql := l.sqlCompleteness(); l.seen.unknownPlan || sql.expected == nil || *sql.expected > sql.seen {
		e.expected, e.detail = nil, "executions or their plans are missing: "+sql.detail
	}
	return e
}

func (l *listener) environmentsCompleteness() endpoint {
	rows := l.summary.Rows[tables.Table((*tables.Environment)(nil))]
	e := l.counted(Environments, rows, rows, "")
	if l.environments == nil {
		_, why := l.cause()
		e.expected, e.detail = nil, "no event has the Spark properties: "+why
	}
	return e
}
