package phases_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
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
			if job, ok := event.(*eventlog.JobStart); ok && executionOf(job) >= 0 && !want.isPart(job, executionOf(job)) {
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
	conf       eventlog.EnvironmentUpdate
	driver     int64
	launch     int64 // first of any task
	events     []eventlog.Event
}

const never = math.MaxInt64

func oracleOf(events []eventlog.Event) *oracle {
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
		case *eventlog.EnvironmentUpdate:
			o.conf = *v
		case *eventlog.ApplicationStart:
			o.started, o.start = true, v.Time
			see(v.Time)
		case *eventlog.ApplicationEnd:
			ended = v.Time
			see(v.Time)
		case *eventlog.BlockManagerAdded:
			if v.Executor == "driver" {
				o.driver = v.Time
			}
			see(v.Time)
		case *eventlog.ExecutorAdded:
			see(v.Time)
		case *eventlog.ExecutorRemoved:
			see(v.Time)
		case *eventlog.ExecutorExcluded:
			see(v.Time)
		case *eventlog.JobStart:
			see(v.Time)
		case *eventlog.JobEnd:
			see(v.Time)
		case *eventlog.SQLStart:
			see(v.Time)
		case *eventlog.SQLEnd:
			see(v.Time)
		case *eventlog.OperationStarted:
			see(v.Time)
		case *eventlog.OperationEnded:
			see(v.Time)
		case *eventlog.SessionClosed:
			see(v.Time)
		case *eventlog.StageSubmitted:
			see(v.Submitted)
		case *eventlog.StageCompleted:
			see(v.Submitted, v.Completed)
		case *eventlog.TaskStart:
			see(v.Launched)
			o.launch = min(o.launch, v.Launched)
		case *eventlog.TaskEnd:
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
func pick[T eventlog.Event](o *oracle, fits func(T) bool) (found T, ok bool) {
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
		case *eventlog.TaskEnd:
			if v.Launched <= at && at < v.Finished {
				runs = true
				writes = writes || o.isWrite(v)
			}
		case *eventlog.TaskStart:
			if o.runs(v, at) {
				runs = true
				writes = writes || o.opensWrite(v)
			}
		}
	}
	return runs, writes
}

// executionOf returns the SQL execution that a job carries, -1 if none.
func executionOf(job *eventlog.JobStart) int64 {
	if job.Properties.Execution == nil {
		return -1
	}
	return *job.Properties.Execution
}

func stagesOf(job *eventlog.JobStart) (ids []int64) {
	for _, stage := range job.Stages {
		ids = append(ids, stage.ID)
	}
	return ids
}

// jobOf returns the latest job that lists a stage.
func (o *oracle) jobOf(stage int64) (latest *eventlog.JobStart, ok bool) {
	for _, event := range o.events {
		if v, is := event.(*eventlog.JobStart); is && slices.Contains(stagesOf(v), stage) && (!ok || v.ID > latest.ID) {
			latest, ok = v, true
		}
	}
	return latest, ok
}

func (o *oracle) rootOf(execution int64) int64 {
	if v, ok := pick(o, func(e *eventlog.SQLStart) bool { return e.ID == execution }); ok && v.Root != nil {
		return *v.Root
	}
	return execution
}

// isPart tells whether a job is one of an execution's own: it starts before its end.
func (o *oracle) isPart(job *eventlog.JobStart, execution int64) bool {
	end, ended := pick(o, func(e *eventlog.SQLEnd) bool { return e.ID == execution })
	return executionOf(job) == execution && execution >= 0 && (!ended || job.Time <= end.Time)
}

// isNested tells whether a job is an execution's, or one's within it.
func (o *oracle) isNested(job *eventlog.JobStart, execution int64) bool {
	end, ended := pick(o, func(e *eventlog.SQLEnd) bool { return e.ID == execution })
	own := executionOf(job)
	return o.isPart(job, own) && (own == execution || o.rootOf(own) == execution) &&
		(!ended || job.Time <= end.Time)
}

func (o *oracle) writesByPlan(job *eventlog.JobStart) bool {
	for execution := range int64(3) {
		if !o.isNested(job, execution) {
			continue
		}
		_, started := pick(o, func(e *eventlog.SQLStart) bool { return e.ID == execution && hasWriter(e.Plan) })
		_, updated := pick(o, func(e *eventlog.SQLPlan) bool { return e.ID == execution && hasWriter(e.Plan) })
		_, later := pick(o, func(e *eventlog.JobStart) bool {
			return e.ID > job.ID && o.isNested(e, execution)
		})
		if (started || updated) && !later {
			return true
		}
	}
	return false
}

// hasWriter looks for the only operator of randomEvents that writes.
func hasWriter(plan eventlog.PlanNode) bool { return plan.Children[0].Name == writeCommand }

func (o *oracle) isWrite(v *eventlog.TaskEnd) bool {
	job, listed := o.jobOf(v.StageID)
	return v.Type == "ResultTask" && (v.Metrics != nil && v.Metrics.OutputRecords > 0 || listed && o.writesByPlan(job))
}

func (o *oracle) opensWrite(v *eventlog.TaskStart) bool {
	job, listed := o.jobOf(v.StageID)
	return listed && slices.Max(stagesOf(job)) == v.StageID && o.writesByPlan(job)
}

func (o *oracle) committing(at int64) bool {
	for execution := range int64(3) {
		var wrote bool
		var latest int64
		for _, event := range o.events {
			switch v := event.(type) {
			case *eventlog.TaskEnd:
				if job, ok := o.jobOf(v.StageID); ok && o.isPart(job, execution) {
					wrote = wrote || o.isWrite(v)
					latest = max(latest, v.Finished)
				}
			case *eventlog.TaskStart:
				_, ended := pick(o, func(e *eventlog.TaskEnd) bool { return e.ID == v.ID })
				if job, ok := o.jobOf(v.StageID); ok && o.isPart(job, execution) && !ended {
					wrote = wrote || o.opensWrite(v)
				}
			}
		}
		_, started := pick(o, func(e *eventlog.SQLStart) bool { return e.ID == execution })
		_, planned := pick(o, func(e *eventlog.SQLPlan) bool { return e.ID == execution })
		end, ended := pick(o, func(e *eventlog.SQLEnd) bool { return e.ID == execution })
		_, open := pick(o, func(e *eventlog.JobStart) bool {
			_, over := pick(o, func(f *eventlog.JobEnd) bool { return f.ID == e.ID })
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
	command := o.conf.System["sun.java.command"]
	if command == "" || command[len(command)-1] != 'l' || o.started && at < o.start || o.stageOpen(at) {
		return false
	}
	_, job := pick(o, func(e *eventlog.JobStart) bool {
		over, ended := pick(o, func(f *eventlog.JobEnd) bool { return f.ID == e.ID })
		return e.Time <= at && (!ended || at < over.Time)
	})
	_, sql := pick(o, func(e *eventlog.SQLStart) bool {
		over, ended := pick(o, func(f *eventlog.SQLEnd) bool { return f.ID == e.ID })
		return e.Time <= at && (!ended || at < over.Time)
	})
	_, operation := pick(o, func(e *eventlog.OperationStarted) bool {
		_, ended := pick(o, func(f *eventlog.OperationEnded) bool { return f.Tag == e.Tag && f.Time <= at })
		_, closed := pick(o, func(f *eventlog.SessionClosed) bool { return e.Time <= f.Time && f.Time <= at })
		return e.Time <= at && !ended && !closed
	})
	return !job && !sql && !operation
}
