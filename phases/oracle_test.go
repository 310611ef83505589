package phases_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/phases"
	"github.com/emr-observatory/emr-observatory/platform"
)

// The engine computes with unions of intervals. The oracle asks, for each millisecond
// on its own, whether a rule of testdata/logs/README.md applies, and shares no code
// with the engine.
func TestEngineAgreesWithTheRulesAtEachInstant(t *testing.T) {
	seen := map[platform.Phase]int{}
	kept := 0 // jobs that carry the id of an execution that has ended
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 7))
		events := randomEvents(random)
		want := oracleOf(events)
		random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		got := divide(events)
		requireWhole(t, got)
		for _, event := range events {
			if job, ok := event.(phases.JobStart); ok && job.Execution >= 0 && !want.isPart(job, job.Execution) {
				kept++
			}
		}
		require.Equal(t, want.begin, got.Begin, "seed %d", seed)
		require.Equal(t, want.end, got.End, "seed %d", seed)
		for at := want.begin; at < want.end; at++ {
			i := slices.IndexFunc(got.Segments, func(s phases.Segment) bool { return s.From <= at && at < s.To })
			require.Equal(t, want.phase(at), got.Segments[i].Phase, "seed %d at %d: %s", seed, at, described(events))
			seen[got.Segments[i].Phase]++
		}
	}
	for _, phase := range platform.Phases() {
		require.Greater(t, seen[phase], 100, "instants of %s", phase)
	}
	t.Logf("%d jobs kept the id of an ended execution", kept)
	require.Greater(t, kept, 30)
}

// oracle answers by the rules, from the events.
type oracle struct {
	begin, end int64
	started    bool
	start      int64
	conf       phases.EnvironmentUpdate
	driver     int64
	launch     int64 // first of any task
	events     []phases.Event
}

const never = math.MaxInt64

func oracleOf(events []phases.Event) *oracle {
	o := &oracle{driver: never, launch: never, events: slices.Clone(events)}
	first, last, ended := int64(never), int64(0), int64(0)
	see := func(times ...int64) {
		for _, time := range times {
			if time > 0 {
				first, last = min(first, time), max(last, time)
			}
		}
	}
	for _, event := range events {
		switch v := event.(type) {
		case phases.EnvironmentUpdate:
			o.conf = v
		case phases.ApplicationStart:
			o.started, o.start = true, v.Time
			see(v.Time)
		case phases.ApplicationEnd:
			ended = v.Time
			see(v.Time)
		case phases.BlockManagerAdded:
			if v.Executor == "driver" {
				o.driver = v.Time
			}
			see(v.Time)
		case phases.ExecutorAdded:
			see(v.Time)
		case phases.ExecutorRemoved:
			see(v.Time)
		case phases.ExecutorExcluded:
			see(v.Time)
		case phases.JobStart:
			see(v.Time)
		case phases.JobEnd:
			see(v.Time)
		case phases.SQLStart:
			see(v.Time)
		case phases.SQLEnd:
			see(v.Time)
		case phases.StageSubmitted:
			see(v.Submitted)
		case phases.StageCompleted:
			see(v.Submitted, v.Completed)
		case phases.TaskStart:
			see(v.Launched)
			o.launch = min(o.launch, v.Launched)
		case phases.TaskEnd:
			see(v.Launched, v.Finished)
			o.launch = min(o.launch, v.Launched)
		}
	}
	o.begin, o.end = first, last
	if o.started {
		o.begin = o.start
	}
	if ended > 0 {
		o.end = ended
	}
	var submitted int64
	if _, err := fmt.Sscan(o.conf.Spark["spark.app.submitTime"], &submitted); err == nil && first != never {
		o.begin = min(o.begin, submitted)
	}
	if first == never {
		o.begin, o.end = 0, 0
	}
	o.end = max(o.begin, o.end)
	return o
}

// pick returns the first event of a type that fits.
func pick[T phases.Event](o *oracle, fits func(T) bool) (found T, ok bool) {
	for _, event := range o.events {
		if v, is := event.(T); is && fits(v) {
			return v, true
		}
	}
	return found, false
}

func (o *oracle) phase(at int64) platform.Phase {
	tasks, writes := o.tasksAt(at)
	switch {
	case writes || o.committing(at):
		return platform.PhaseWrite
	case tasks:
		return platform.PhaseCompute
	case o.waiting(at):
		return platform.PhaseResourceWait
	case o.started && o.cluster() && at < o.start:
		return platform.PhaseSubmit
	case o.idle(at):
		return platform.PhaseIdle
	}
	return platform.PhaseDriver
}

func (o *oracle) cluster() bool { return o.conf.Spark["spark.submit.deployMode"] == "cluster" }

func (o *oracle) local() bool { return o.conf.Spark["spark.master"] == "local[4]" }

func (o *oracle) tasksAt(at int64) (runs, writes bool) {
	for _, event := range o.events {
		switch v := event.(type) {
		case phases.TaskEnd:
			if v.Launched <= at && at < v.Finished {
				runs = true
				writes = writes || o.isWrite(v)
			}
		case phases.TaskStart:
			if o.runs(v, at) {
				runs = true
				writes = writes || o.opensWrite(v)
			}
		}
	}
	return runs, writes
}

// jobOf returns the latest job that lists a stage.
func (o *oracle) jobOf(stage int64) (latest phases.JobStart, ok bool) {
	for _, event := range o.events {
		if v, is := event.(phases.JobStart); is && slices.Contains(v.Stages, stage) && (!ok || v.ID > latest.ID) {
			latest, ok = v, true
		}
	}
	return latest, ok
}

func (o *oracle) rootOf(execution int64) int64 {
	if v, ok := pick(o, func(e phases.SQLStart) bool { return e.ID == execution }); ok {
		return v.Root
	}
	return execution
}

// isPart tells whether a job is one of an execution's own: it starts before its end.
func (o *oracle) isPart(job phases.JobStart, execution int64) bool {
	end, ended := pick(o, func(e phases.SQLEnd) bool { return e.ID == execution })
	return job.Execution != phases.NoExecution && job.Execution == execution && (!ended || job.Time <= end.Time)
}

// isNested tells whether a job is an execution's, or one's within it.
func (o *oracle) isNested(job phases.JobStart, execution int64) bool {
	end, ended := pick(o, func(e phases.SQLEnd) bool { return e.ID == execution })
	return o.isPart(job, job.Execution) && (job.Execution == execution || o.rootOf(job.Execution) == execution) &&
		(!ended || job.Time <= end.Time)
}

func (o *oracle) writesByPlan(job phases.JobStart) bool {
	for execution := range int64(3) {
		if !o.isNested(job, execution) {
			continue
		}
		_, started := pick(o, func(e phases.SQLStart) bool { return e.ID == execution && e.Writes })
		_, updated := pick(o, func(e phases.SQLPlan) bool { return e.ID == execution && e.Writes })
		_, later := pick(o, func(e phases.JobStart) bool {
			return e.ID > job.ID && o.isNested(e, execution)
		})
		if (started || updated) && !later {
			return true
		}
	}
	return false
}

func (o *oracle) isWrite(v phases.TaskEnd) bool {
	job, listed := o.jobOf(v.StageID)
	return v.Type == "ResultTask" && (v.Metrics.RecordsWritten > 0 || v.Metrics.BytesWritten > 0 || listed && o.writesByPlan(job))
}

func (o *oracle) opensWrite(v phases.TaskStart) bool {
	job, listed := o.jobOf(v.StageID)
	return listed && slices.Max(job.Stages) == v.StageID && o.writesByPlan(job)
}

func (o *oracle) committing(at int64) bool {
	for execution := range int64(3) {
		var wrote bool
		var latest int64
		for _, event := range o.events {
			switch v := event.(type) {
			case phases.TaskEnd:
				if job, ok := o.jobOf(v.StageID); ok && o.isPart(job, execution) {
					wrote = wrote || o.isWrite(v)
					latest = max(latest, v.Finished)
				}
			case phases.TaskStart:
				_, ended := pick(o, func(e phases.TaskEnd) bool { return e.ID == v.ID })
				if job, ok := o.jobOf(v.StageID); ok && o.isPart(job, execution) && !ended {
					wrote = wrote || o.opensWrite(v)
				}
			}
		}
		_, started := pick(o, func(e phases.SQLStart) bool { return e.ID == execution })
		_, planned := pick(o, func(e phases.SQLPlan) bool { return e.ID == execution })
		end, ended := pick(o, func(e phases.SQLEnd) bool { return e.ID == execution })
		_, open := pick(o, func(e phases.JobStart) bool {
			_, over := pick(o, func(f phases.JobEnd) bool { return f.ID == e.ID })
			return o.isPart(e, execution) && !over
		})
		if !wrote || latest == 0 || at < latest || !started && !planned && !ended {
			continue
		}
		if ended && at < end.Time || !ended && !open {
			return true
		}
	}
	return false
}

func (o *oracle) waiting(at int64) bool {
	if o.local() {
		return false
	}
	if o.started && !o.cluster() && at >= o.start && at < o.driver {
		return true
	}
	return o.constructing(at) || o.stageOpen(at) && (at < o.launch || !o.served(at))
}

func (o *oracle) idle(at int64) bool {
	if o.conf.Command == "" || o.conf.Command[len(o.conf.Command)-1] != 'l' || o.started && at < o.start || o.stageOpen(at) {
		return false
	}
	_, job := pick(o, func(e phases.JobStart) bool {
		over, ended := pick(o, func(f phases.JobEnd) bool { return f.ID == e.ID })
		return e.Time <= at && (!ended || at < over.Time)
	})
	_, sql := pick(o, func(e phases.SQLStart) bool {
		over, ended := pick(o, func(f phases.SQLEnd) bool { return f.ID == e.ID })
		return e.Time <= at && (!ended || at < over.Time)
	})
	return !job && !sql
}
