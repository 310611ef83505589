package spans

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
)

// root returns the topmost execution that an execution is part of.
func (a *assembly) root(id int64) int64 {
	for x := a.executions[id]; x != nil && x.from > 0 && x.begin.root != id; x = a.executions[id] {
		if !a.open(x.begin.root, x.from) {
			break // its start is lost, or its thread kept the id: this one is the topmost
		}
		id = x.begin.root
	}
	return id
}

// open reports whether an execution started and had not ended at a time.
func (a *assembly) open(execution, at int64) bool {
	x := a.executions[execution]
	return x != nil && x.from > 0 && (x.to == 0 || at <= x.to)
}

// sqlOf returns the topmost execution that a job is part of, and whether there is one.
func (a *assembly) sqlOf(job int64) (int64, bool) {
	j := a.jobs[job]
	if j.begin.Execution == nil {
		return 0, false
	}
	root := a.root(*j.begin.Execution)
	return root, a.open(root, j.from) && a.open(*j.begin.Execution, j.from)
}

// end returns when something ended: what the log leaves open lasts to its end.
func (a *assembly) end(to int64) int64 { return cmp.Or(to, a.result.End) }

// firstJobs returns the properties of each root execution's first job.
func (a *assembly) firstJobs() map[int64]eventlog.JobProperties {
	first := map[int64]eventlog.JobProperties{}
	for _, id := range slices.Sorted(maps.Keys(a.jobs)) {
		root, inSQL := a.sqlOf(id)
		if _, known := first[root]; !known && inSQL && a.jobs[id].from > 0 {
			first[root] = a.jobs[id].begin
		}
	}
	return first
}

// sqlSpans makes the spans of root executions. An execution belongs where its first
// job does, else where its session's configuration and tags say.
func (a *assembly) sqlSpans(first map[int64]eventlog.JobProperties) {
	for _, id := range slices.Sorted(maps.Keys(a.executions)) {
		x := a.executions[id]
		if x.from == 0 || a.root(id) != id {
			continue
		}
		properties, hasJob := first[id]
		if !hasJob {
			properties = x.begin.session
		}
		in, kept := a.within(a.jobPlace(properties, a.place))
		if !kept {
			a.dropped++
			continue
		}
		s := a.span(in, platform.SpanSQL, strconv.FormatInt(id, 10), "sql "+strconv.FormatInt(id, 10), x.from, a.end(x.to))
		a.set(s, platform.AttributeExecutionID, id)
		a.describe(s, x.begin.description)
		a.fail(s, x.failure)
		if in.batch == "" && in.operation == "" {
			a.link(s, in)
		} else if in.batch != "" && !a.batch(in, x.from, a.end(x.to), x.failure) {
			continue
		}
		if a.take(in.trace, s) {
			in.parent = s.SpanId
			a.keptSQL[id] = in
		}
	}
}

// batch makes the span of a micro-batch, or widens it.
func (a *assembly) batch(in place, from, to int64, failure string) bool {
	s := a.batches[in.batch]
	if s == nil {
		number := in.batch[strings.LastIndexByte(in.batch, '.')+1:]
		s = a.span(place{trace: in.trace}, platform.SpanBatch, in.batch, "batch "+number, from, to)
		a.link(s, in)
		if !a.take(in.trace, s) {
			return false
		}
		a.batches[in.batch] = s
	}
	s.StartTimeUnixNano, s.EndTimeUnixNano = min(s.StartTimeUnixNano, nanos(from)), max(s.EndTimeUnixNano, nanos(to))
	if s.Status == nil {
		a.fail(s, failure)
	}
	return true
}

func (a *assembly) jobSpans() {
	for _, id := range slices.Sorted(maps.Keys(a.jobs)) {
		j := a.jobs[id]
		if j.from == 0 {
			continue
		}
		in := a.jobPlace(j.begin, a.place)
		root, inSQL := a.sqlOf(id)
		if inSQL {
			var kept bool
			if in, kept = a.keptSQL[root]; !kept {
				a.dropped++
				continue
			}
		} else if in.batch != "" && !a.batch(in, j.from, a.end(j.to), j.failure) {
			continue
		}
		if !inSQL {
			var kept bool
			if in, kept = a.within(in); !kept {
				a.dropped++
				continue
			}
		}
		s := a.span(in, platform.SpanJob, strconv.FormatInt(id, 10), "job "+strconv.FormatInt(id, 10), j.from, a.end(j.to))
		a.set(s, platform.AttributeJobID, id)
		a.describe(s, j.begin.Description)
		a.fail(s, j.failure)
		if !inSQL && in.batch == "" && in.operation == "" {
			a.link(s, in)
		}
		if a.take(in.trace, s) {
			in.parent = s.SpanId
			a.keptJobs[id] = in
		}
	}
}

func (a *assembly) stageSpans() {
	for _, key := range a.sortedAttempts() {
		stage := a.attempts[key]
		if stage.from == 0 {
			continue // skipped: its output was there
		}
		job, listed := a.stageJob[key.stage]
		in, kept := a.keptJobs[job]
		if !listed || !kept {
			a.dropped++
			continue
		}
		number := strconv.FormatInt(key.stage, 10) + "." + strconv.FormatInt(key.number, 10)
		s := a.span(in, platform.SpanStage, number, "stage "+number, stage.from, a.end(stage.to))
		a.set(s, platform.AttributeJobID, job)
		a.set(s, platform.AttributeStageID, key.stage)
		a.set(s, platform.AttributeStageAttempt, key.number)
		a.describe(s, stage.begin)
		a.fail(s, stage.failure)
		if a.take(in.trace, s) {
			in.parent = s.SpanId
			a.kept[key] = in
		}
	}
}

func (a *assembly) sortedAttempts() []attempt {
	return slices.SortedFunc(maps.Keys(a.attempts), func(x, y attempt) int {
		return cmp.Or(cmp.Compare(x.stage, y.stage), cmp.Compare(x.number, y.number))
	})
}

// taskSpans makes the spans of tasks, those that failed or were the longest before
// those of the sample.
func (a *assembly) taskSpans() {
	var tasks []ended
	for _, p := range a.tasks {
		tasks = append(append(tasks, p.slow...), p.certain...)
	}
	slices.SortFunc(tasks, func(x, y ended) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.ID, y.ID))
	})
	for _, task := range tasks {
		in, kept := a.kept[attempt{task.StageID, task.StageAttempt}]
		if !kept {
			a.dropped++
			continue
		}
		number := strconv.FormatInt(task.ID, 10)
		s := a.span(in, platform.SpanTask, number, "task "+number, task.Launched, task.Finished)
		a.set(s, platform.AttributeTaskID, task.ID)
		a.set(s, platform.AttributeTaskAttempt, task.Attempt)
		a.set(s, platform.AttributeTaskPartition, task.Index)
		a.set(s, platform.AttributeTaskKept, rank(task).String())
		a.set(s, platform.AttributeStageID, task.StageID)
		a.set(s, platform.AttributeStageAttempt, task.StageAttempt)
		if task.failed() {
			a.failWithin(s, task.failure, taskMessageLimit)
		}
		if a.afford(in.trace, s) {
			a.executors[task.Executor] = append(a.executors[task.Executor], s)
		}
	}
}

// reason is why a task has a span, in the order in which the budget is spent.
type reason int

func (r reason) String() string { return [...]string{"failed", "slow", "sample"}[r] }

func rank(task ended) reason {
	switch {
	case task.failed():
		return 0
	case task.sampled():
		return 2
	}
	return 1
}
