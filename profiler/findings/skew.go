package findings

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// skew finds stages of which a few tasks take much longer than the others. The impact is the
// time by which the longest exceeded the median, but no more than the stage would have saved
// had it lasted only as long as its median task.
func skew(a *application, s *stage) *tables.Finding {
	rule, d := rules.Get(rules.Skew), s.durations()
	if d == nil || s.NumCompleteTasks <= 1 {
		return nil
	}
	middle, longest := d[tables.Median], d[tables.Highest]
	high, name := longest, "longest"
	if float64(s.NumCompleteTasks) >= rule.Floor(rules.SkewFewTasks) {
		if s.summary.DurationP95 == nil {
			a.lack(rules.Skew, "table task_summaries has no duration_p95: an earlier version wrote it")
			return nil
		}
		high, name = *s.summary.DurationP95, "95th percentile"
	}
	f := ofStage(rules.Skew, s, high/max(1, middle))
	if f == nil || s.warming && !s.unevenData() {
		return nil
	}
	saved := longest - middle
	if s.DurationMillis != nil {
		saved = min(saved, float64(*s.DurationMillis)-max(middle, a.balanced(s)))
	}
	if saved < rule.Floor(rules.SkewExcess) {
		return nil
	}
	costs(f, saved)
	f.Summary = fmt.Sprintf("%s waited for its slowest tasks: of %d, the median took %s, the longest %s", s.title(), s.NumCompleteTasks,
		millis(middle), millis(longest))
	if high != longest {
		f.Summary += fmt.Sprintf(", and the %s %s", name, millis(high))
	}
	f.Summary += "."
	s.citeSummary(f, "duration", d)
	s.cite(f, "num_complete_tasks", s.NumCompleteTasks)
	a.explainSkew(f, s)
	return f
}

// balanced returns how long the stage would have lasted if the executors' cores had shared its
// tasks' time evenly, in milliseconds; 0 if that is unknown.
func (a *application) balanced(s *stage) float64 {
	cores := a.cores(s.SubmissionTime, s.CompletionTime)
	if cores <= 0 {
		return 0
	}
	return float64(s.ExecutorRunTime) / cores
}

// unevenData reports whether the tasks' input explains that some took longer. Where it does
// not, the first tasks of an executor are slow: its JVM loads and compiles their code.
func (s *stage) unevenData() bool {
	return uneven(s.summary.ShuffleReadBytes, rules.SkewCauseBytes) || uneven(s.summary.InputBytes, rules.SkewCauseBytes) ||
		uneven(s.summary.InputRecords, rules.SkewCauseRecords)
}

// explainSkew says what to change. If the tasks' input is uneven, too, the advice is about
// that.
func (a *application) explainSkew(f *tables.Finding, s *stage) {
	read, input, records := s.summary.ShuffleReadBytes, s.summary.InputBytes, s.summary.InputRecords
	switch {
	case uneven(read, rules.SkewCauseBytes):
		s.citeSummary(f, "shuffle_read_bytes", read)
		f.Advice = fmt.Sprintf("One key holds most rows: a task read %s of shuffled data, the median one %s. A join splits such a "+
			"partition with adaptive execution; an aggregation does not: add a random number to the key, aggregate by both, then by the "+
			"key alone. Filter out rows first whose key is null or a default value.", size(read[tables.Highest]), size(read[tables.Median]))
		a.splitSkewed(f, read)
	case uneven(input, rules.SkewCauseBytes):
		s.citeSummary(f, "input_bytes", input)
		f.Advice = fmt.Sprintf("The input is uneven: a task read %s, the median one %s. Files that cannot be split (gzip, or one large row "+
			"group) cause this: write splittable files of similar size, or call repartition after reading.",
			size(input[tables.Highest]), size(input[tables.Median]))
		a.change(f, "spark.sql.files.maxPartitionBytes", fmt.Sprint(int64(max(1, input[tables.Median]))))
	case !some(input) && uneven(records, rules.SkewCauseRecords):
		s.citeSummary(f, "input_records", records)
		f.Advice = fmt.Sprintf("The source's partitions are uneven: a task read %.0f records, the median one %.0f. For JDBC, set "+
			"partitionColumn, lowerBound, upperBound and numPartitions, with a column whose values are evenly spread. For other sources, "+
			"change their partitioning, or call repartition after reading.", records[tables.Highest], records[tables.Median])
	case some(read) || some(input) || some(records):
		f.Advice = "The tasks read about the same amount of data, so keys are not the cause. " + compareTasks
	default:
		f.Advice = "Spark counted no data read by these tasks: they compute it, or their source does not report it. Uneven data may be the " +
			"cause: compare the number of rows by partition (spark_partition_id). " + compareTasks
	}
}

// splitSkewed advises settings with which adaptive execution splits the largest partition of a
// join into parts of the median one's size (OptimizeSkewedJoin): it splits what exceeds both a
// factor of the median and a threshold, into parts of the advisory size. More parts than cores
// save nothing.
func (a *application) splitSkewed(f *tables.Finding, read []float64) {
	middle, largest := max(1, read[tables.Median]), read[tables.Highest]
	if largest < rules.Get(rules.Skew).Floor(rules.SplitFactor)*middle {
		a.change(f, "spark.sql.adaptive.skewJoin.skewedPartitionFactor", "")
	}
	a.change(f, "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", fmt.Sprint(int64(middle+middle)))
	part := max(middle, largest/float64(max(1, known(a.MaxTotalCores)))) // each part reads the other side again
	a.change(f, "spark.sql.adaptive.advisoryPartitionSizeInBytes", fmt.Sprint(int64(part)))
}

// compareTasks is advice for tasks whose input does not explain the skew.
const compareTasks = "Compare the executors and hosts of the slowest tasks (Spark's UI, or the table tasks, which include_tasks " +
	"writes). If they are on one host, replace it. If garbage collection takes their time (jvm_gc_time), give tasks more memory. If " +
	"their rows are expensive (a UDF, a regular expression, an explode), use more partitions: call repartition first."

// uneven reports whether the task with most data has so much more than the median one that it
// explains why it takes longer.
func uneven(data []float64, least rules.FloorName) bool {
	rule := rules.Get(rules.Skew)
	return len(data) > tables.Highest && data[tables.Highest] > rule.Floor(least) &&
		data[tables.Highest] > rule.Floor(rules.SkewCause)*data[tables.Median]
}

// some reports whether Spark counted any data.
func some(data []float64) bool { return len(data) > tables.Highest && data[tables.Highest] > 0 }
