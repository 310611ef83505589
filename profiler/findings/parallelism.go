package findings

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// presence is when a stage's attempt ran, and how many cores its tasks used on average.
type presence struct {
	from, to tables.Millis
	cores    float64
}

// sequential is a stage with few tasks.
type sequential struct {
	stage
	from, to tables.Millis
	cores    float64 // of the executors meanwhile
}

// noteParallelism notes when a stage ran. If it has fewer tasks than the executors had cores
// meanwhile, lowParallelism judges it once all stages are known: others may have used them.
func (a *application) noteParallelism(s *stage) {
	from, to := s.SubmissionTime, s.CompletionTime
	if from <= 0 || to <= from {
		return
	}
	a.presences = append(a.presences, presence{from, to, float64(s.ExecutorRunTime) / float64(to-from)})
	rule := rules.Get(rules.LowParallelism)
	cores := a.cores(from, to)
	if cores <= 0 || s.NumTasks <= 0 || float64(s.ExecutorRunTime-s.ShuffleFetchWaitTime) < rule.Floor(rules.MinRunTime) {
		return
	}
	f := ofStage(rules.LowParallelism, s, float64(s.NumTasks)/cores)
	if f == nil {
		return
	}
	if costsShare(f, s, 1-*f.Value); a.found.weigh(f) { // others do not make it worse
		a.sequential = append(a.sequential, sequential{stage{StageRow: new(*s.StageRow)}, from, to, cores})
	}
}

// lowParallelism finds stages with fewer tasks than cores that no other stage used. The impact
// is what the stage would have saved had these cores shared its work.
func lowParallelism(a *application) {
	for i := range a.sequential {
		s := &a.sequential[i]
		others := -float64(s.ExecutorRunTime) / float64(s.to-s.from) // it is in presences, too
		for _, p := range a.presences {
			if overlap := min(s.to, p.to) - max(s.from, p.from); overlap > 0 {
				others += p.cores * float64(overlap) / float64(s.to-s.from)
			}
		}
		free := max(float64(s.NumTasks), s.cores-max(0, others))
		f := ofStage(rules.LowParallelism, &s.stage, float64(s.NumTasks)/free)
		if f == nil {
			continue
		}
		costsShare(f, &s.stage, 1-*f.Value)
		f.Summary = fmt.Sprintf("%s had %s for %s.", s.title(), counted(s.NumTasks, "task"), counted(int64(free), "free core"))
		s.cite(f, "num_tasks", s.NumTasks)
		s.cite(f, "duration_ms", known(s.DurationMillis))
		a.moreTasks(f, &s.stage, free)
		a.found.add(f)
	}
}

// moreTasks says how a stage gets as many tasks as there are cores for it.
func (a *application) moreTasks(f *tables.Finding, s *stage, cores float64) {
	switch {
	case s.ShuffleReadBytes > 0:
		f.Advice = "Use as many partitions as the application has cores, or a multiple."
		if s.NumTasks == 1 {
			f.Advice += " A total, a global sort or a limit needs one: aggregate by a key first."
		}
		most := known(a.MaxTotalCores)
		for _, property := range []string{"spark.sql.shuffle.partitions", "spark.default.parallelism"} {
			if now, set := number(a.settings[property]); set && now < float64(most) {
				a.change(f, property, fmt.Sprint(most))
			}
		}
	case s.InputBytes > 0:
		f.Advice = "Read smaller partitions, if the files can be split; else write more files, or call repartition after reading."
		if each := float64(s.InputBytes) / cores; each >= rules.Get(rules.LowParallelism).Floor(rules.MinPartition) {
			a.change(f, "spark.sql.files.maxPartitionBytes", fmt.Sprint(int64(each)))
		}
	default:
		f.Advice = "Give the source more partitions (numSlices, numPartitions), or call repartition."
	}
}
