package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// application is what the rules know of an application besides the stage at hand.
type application struct {
	tables.Application
	release   string
	settings  map[string]string // Spark properties
	phases    map[string]tables.Phase
	executors []tables.Executor // without the driver
	found     found
	missing   map[rules.ID]string // why a rule could not be judged

	runTime  float64           // milliseconds of all tasks
	computed float64           // milliseconds of stages that write, as far as their tasks computed or waited for shuffles
	runTimes map[int64]float64 // the same by stage
	outside  map[int64]float64 // the part in which they did not compute in the JVM, nor collect garbage, nor wait for a shuffle
	outputs  map[int64]output  // of stages that write
	retries  []attempt         // of stages, after the first
	failure  map[int64]string  // why the latest attempt of a stage failed
	cause    string            // why the last stage or SQL execution that failed did
	cited    string            // the row that says so

	warm       int          // how many of the executors, in the order of their starts, have run a stage
	presences  []presence   // of stages
	sequential []sequential // stages with few tasks
}

// output has the bytes that tasks wrote, and those that they read for it. Spark knows of no byte
// written where S3A's magic committer completes the files later.
type output struct{ written, read int64 }

// attempt is an attempt of a stage that was not the first.
type attempt struct {
	tables.Stage
	from, to tables.Millis
	cause    string // why the attempt before it failed; "" if it had not
}

func newApplication(rows Rows) (*application, error) {
	a := &application{
		Application: rows.Application, release: rows.Release,
		settings: map[string]string{}, phases: map[string]tables.Phase{}, missing: map[rules.ID]string{},
		failure: map[int64]string{}, runTimes: map[int64]float64{}, outside: map[int64]float64{}, outputs: map[int64]output{},
		found: found{wall: rows.Application.DurationMillis, rules: map[rules.ID]*ofRule{}},
	}
	for row, err := range rows.Environment {
		if err != nil {
			return nil, err // names the table
		}
		if row.Section == "spark" && !row.Masked {
			a.settings[row.Name] = row.Value
		}
	}
	for row, err := range rows.Phases {
		if err != nil {
			return nil, err // names the table
		}
		a.phases[row.Phase] = row
	}
	for row, err := range rows.Executors {
		if err != nil {
			return nil, err // names the table
		}
		if row.ExecutorID != fold.DriverExecutor {
			a.executors = append(a.executors, row)
		}
	}
	slices.SortStableFunc(a.executors, func(x, y tables.Executor) int { return cmp.Compare(x.AddTime, y.AddTime) })
	return a, nil
}

// warms reports whether a stage is the first of an executor.
func (a *application) warms(s *stage) bool {
	before := a.warm
	for a.warm < len(a.executors) && a.executors[a.warm].AddTime <= s.CompletionTime {
		a.warm++
	}
	return a.warm > before
}

// sum adds a stage to what the application's own rules judge.
func (a *application) sum(s *stage) {
	a.runTime += float64(s.ExecutorRunTime)
	a.runTimes[s.StageID] += float64(s.ExecutorRunTime)
	computed := float64(s.ExecutorCPUTime)/nanos + float64(s.ShuffleFetchWaitTime+s.JVMGCTime)
	a.outside[s.StageID] += max(0, float64(s.ExecutorRunTime)-computed-float64(s.ShuffleWriteTime)/nanos)
	if s.OutputBytes > 0 || s.OutputRecords > 0 {
		o := a.outputs[s.StageID]
		o.written, o.read = o.written+s.OutputBytes, o.read+s.InputBytes+s.ShuffleReadBytes
		a.outputs[s.StageID] = o
		a.computed += min(1, computed/max(1, float64(s.ExecutorRunTime))) * float64(known(s.DurationMillis))
	}
	if s.StageAttemptID > 0 {
		a.retries = append(a.retries, attempt{s.Stage, s.SubmissionTime, s.CompletionTime, a.failure[s.StageID]})
	}
	if s.FailureReason != nil {
		a.failure[s.StageID] = firstLine(*s.FailureReason)
		a.cause, a.cited = a.failure[s.StageID], string(stagesTable)+"/"+s.key()+"/failure_reason="
	}
}

// lack notes why a rule could not be judged, the first time.
func (a *application) lack(id rules.ID, format string, args ...any) {
	if a.missing[id] == "" {
		a.missing[id] = fmt.Sprintf(format, args...)
	}
}

// notChecked returns a row for each rule of applications that could not be judged, or not for
// every stage, and for those that tables cannot show.
func (a *application) notChecked() (all []tables.Finding) {
	for _, rule := range rules.All() {
		if rule.NotInTables != "" && rule.Subject == rules.OfApplication {
			a.lack(rule.ID, "%s", rule.NotInTables)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.missing)) {
		all = append(all, tables.Finding{
			Finding: string(id), Severity: string(rules.Info), NotChecked: a.missing[id],
			Summary: fmt.Sprintf("Not checked (%s): %s.", rules.Get(id).Title, a.missing[id]),
		})
	}
	return all
}

// cores returns the executors' cores between two times, on average.
func (a *application) cores(from, to tables.Millis) float64 {
	if to <= from {
		return 0
	}
	total := int64(0)
	for _, x := range a.executors {
		begin, end := max(from, x.AddTime), min(to, cmp.Or(x.RemoveTime, to))
		if x.AddTime > 0 && end > begin {
			total += x.TotalCores * (end - begin)
		}
	}
	return float64(total) / float64(to-from)
}

// enough reports whether a stage is long enough for a finding that claims no time.
func (a *application) enough(s *stage, least float64) bool {
	wall := known(a.DurationMillis)
	return wall <= 0 || float64(known(s.DurationMillis)) >= least*float64(wall)
}
