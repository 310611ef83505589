package phases

import (
	"cmp"
	"slices"
	"strings"
)

// wall classifies the instants of [begin, end).
type wall struct {
	*Engine
	begin, end int64
}

// clamp returns the part of [from, to) that is in the wall clock.
func (w *wall) clamp(from, to int64) (int64, int64) { return max(from, w.begin), min(to, w.end) }

func (w *wall) add(p *pile, from, to int64) { p.add(w.clamp(from, to)) }

// taskTimes returns when a task ran, and when something was written.
func (w *wall) taskTimes() (union, union) {
	tasks, writes := slices.Clone(pile(w.tasks)), slices.Clone(pile(w.written))
	writing := w.writingJobs()
	byExecution := map[int64]*written{}
	for _, s := range w.stages {
		isWriter := s.job != nobody && writing[s.job]
		if isWriter {
			writes = append(writes, s.results...)
		}
		execution := w.executionOf(s.job)
		if execution == noExecution {
			continue
		}
		x := of(byExecution, execution, written{})
		x.any = x.any || s.wrote || isWriter && s.result
		x.lastFinish = max(x.lastFinish, s.lastFinish)
	}
	for _, t := range w.running {
		to := int64(never)
		if executor, ok := w.executors[t.executor]; ok {
			to = executor.to
		}
		from, to := w.clamp(t.launched, to)
		tasks.add(from, to)
		s := w.stages[t.stage]
		if s == nil || s.job == nobody || !writing[s.job] || w.jobs[s.job].highest != t.stage {
			continue
		}
		writes.add(from, to)
		if x := byExecution[w.executionOf(s.job)]; x != nil {
			x.any = true
		}
	}
	w.addCommits(&writes, byExecution)
	return tasks.union(), writes.union()
}

// executionOf returns the execution that a job is part of; noExecution if none. Spark's
// threads inherit the id of the execution that started them, and a pool keeps its threads:
// a job that starts after the execution's end only carries the id.
func (w *wall) executionOf(id int64) int64 {
	j := w.jobs[id]
	if j == nil || !w.within(id, j.execution) {
		return noExecution
	}
	return j.execution
}

// within reports whether a job starts before the end of an execution.
func (w *wall) within(id, execution int64) bool {
	x := w.executions[execution]
	return x == nil || w.jobs[id].from <= x.to
}

// written is what is known of the writing of an execution's own jobs.
type written struct {
	any        bool // a task of them writes
	lastFinish int64
}

// writingJobs returns the jobs whose result tasks write because of the plan: of an
// execution that writes, its own jobs' and its parts', the latest. Earlier ones
// prepare: broadcasts, and with adaptive execution a job per stage.
func (w *wall) writingJobs() map[int64]bool {
	latest := map[int64]int64{} // by execution
	note := func(execution, id int64) {
		if x := w.executions[execution]; x == nil || !x.writes {
			return
		}
		if known, ok := latest[execution]; !ok || id > known {
			latest[execution] = id
		}
	}
	for id := range w.jobs {
		execution := w.executionOf(id)
		note(execution, id)
		if x := w.executions[execution]; x != nil && x.root != execution && w.within(id, x.root) {
			note(x.root, id)
		}
	}
	jobs := map[int64]bool{}
	for _, id := range latest {
		jobs[id] = true
	}
	return jobs
}

// addCommits adds when executions that write had no task left: the driver moves or
// completes what the tasks wrote.
func (w *wall) addCommits(writes *pile, byExecution map[int64]*written) {
	openJob := map[int64]bool{} // by execution
	for id, j := range w.jobs {
		if j.from != never && j.to == never {
			openJob[w.executionOf(id)] = true
		}
	}
	for id, wrote := range byExecution {
		x := w.executions[id]
		if !wrote.any || x == nil || wrote.lastFinish == 0 {
			continue
		}
		if x.to == never && openJob[id] {
			continue
		}
		w.add(writes, wrote.lastFinish, x.to)
	}
}

// submit returns the time from submission until the application master ran.
func (w *wall) submit() (submit union) {
	if w.cluster && w.started {
		submit.add(w.clamp(w.begin, w.start))
	}
	return submit
}

// idle returns the intervals in which a session server ran no job, SQL execution, stage
// attempt or operation of Spark Connect; nil for other applications.
func (w *wall) idle() (idle union) {
	if !w.session {
		return nil
	}
	from := w.begin
	if w.started {
		from = w.start
	}
	idle.add(from, w.end)
	var busy pile
	for _, j := range w.jobs {
		busy.add(j.from, j.to)
	}
	for _, x := range w.executions {
		busy.add(x.from, x.to)
	}
	for number, o := range w.operations {
		session, _, _ := strings.Cut(number, ".")
		to := o.to
		for _, closed := range w.closed[session] { // the server ends them, and may not say so
			if closed >= o.from {
				to = min(to, closed)
			}
		}
		busy.add(o.from, to)
	}
	for _, s := range w.attempts {
		if s.submitted > 0 {
			busy.add(s.submitted, cmp.Or(s.completed, never))
		}
	}
	return idle.without(busy.union())
}
