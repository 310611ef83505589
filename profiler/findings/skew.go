package findings

import (
	"fmt"
	"time"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// SkewFinding is the name of the finding "skew": a few tasks of a stage take much longer
// than the others, and the stage waits for them.
const SkewFinding = "skew"

// Limits of skew. The ratio and the number of tasks are those of sparkforensics and
// spark-history-cli (P95/P50 > 3); the notebooks' max > 2 × median fires on nearly every
// stage with many tasks. The floor is the one that sparkforensics has for slow hosts.
const (
	skewRatio = 3.0  // of the 95th percentile (with few tasks, of the longest) to the median duration
	fewTasks  = 20   // below this the 95th percentile is the longest task
	skewFloor = 1000 // milliseconds by which the longest task must exceed the median
	dataRatio = 2.0  // of the largest to the median amount of data, above which data explains the skew
)

// Indexes of quantiles in a list of tables.TaskSummary.
const (
	median  = 2
	highest = 4
)

// Skew judges a stage's attempt by the summary of its tasks. p95 is the 95th percentile of
// their durations in milliseconds, or 0 if unknown. It returns nil if there is no skew.
//
// The impact is the time by which the longest task exceeded the median, but no more than
// the stage would have saved had it lasted only as long as its median task.
func Skew(stage *tables.StageRow, summary *tables.TaskSummary, p95 float64) *tables.Finding {
	if summary == nil || len(summary.Duration) <= highest || stage.NumCompleteTasks < 2 {
		return nil
	}
	middle, longest := summary.Duration[median], summary.Duration[highest]
	high, name := p95, "95th percentile"
	if stage.NumCompleteTasks < fewTasks {
		high, name = longest, "longest"
	}
	if high <= skewRatio*max(1, middle) {
		return nil
	}
	saved := int64(longest - middle)
	if stage.DurationMillis != nil {
		saved = min(saved, *stage.DurationMillis-int64(middle))
	}
	if saved < skewFloor {
		return nil
	}
	key := fmt.Sprintf("stage_id=%d,stage_attempt_id=%d", stage.StageID, stage.StageAttemptID)
	f := &tables.Finding{
		Finding: SkewFinding, StageID: new(stage.StageID), StageTry: new(stage.StageAttemptID), Impact: &saved, // not the stage's memory
		Summary: fmt.Sprintf("Stage %d (%s): its %d tasks took %s in the median, but the %s took %s and the longest %s; the stage waited for it.",
			stage.StageID, stage.StageName, stage.NumCompleteTasks, millis(middle), name, millis(high), millis(longest)),
		Evidence: []string{
			fmt.Sprintf("task_summaries/%s/duration=%v", key, summary.Duration),
			fmt.Sprintf("stages/%s/num_complete_tasks=%d", key, stage.NumCompleteTasks),
		},
	}
	if stage.DurationMillis != nil {
		f.Evidence = append(f.Evidence, fmt.Sprintf("stages/%s/duration_ms=%d", key, *stage.DurationMillis))
	}
	advise(f, key, summary)
	return f
}

// advise says what to change. If the tasks' input is uneven, too, the advice is about that.
func advise(f *tables.Finding, key string, s *tables.TaskSummary) {
	switch {
	case uneven(s.ShuffleReadBytes):
		f.Evidence = append(f.Evidence, fmt.Sprintf("task_summaries/%s/shuffle_read_bytes=%v", key, s.ShuffleReadBytes))
		f.Advice = fmt.Sprintf("One key holds most rows: a task read %s of shuffled data, the median one %s. If the stage joins, set "+
			"spark.sql.adaptive.enabled=true, spark.sql.adaptive.skewJoin.enabled=true and "+
			"spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes below %d, so that Spark splits that partition. If it aggregates, "+
			"or Spark does not split it, add a random number to the key, aggregate by both, then by the key alone. Rows whose key is "+
			"null or a default value are best filtered out first.",
			size(s.ShuffleReadBytes[highest]), size(s.ShuffleReadBytes[median]), int64(s.ShuffleReadBytes[highest]))
	case uneven(s.InputBytes):
		f.Evidence = append(f.Evidence, fmt.Sprintf("task_summaries/%s/input_bytes=%v", key, s.InputBytes))
		f.Advice = fmt.Sprintf("The input is uneven: a task read %s, the median one %s. Files that cannot be split (gzip, or one large row "+
			"group) cause this: write splittable files of similar size, or call repartition after reading. For splittable "+
			"files lower spark.sql.files.maxPartitionBytes below %d.",
			size(s.InputBytes[highest]), size(s.InputBytes[median]), int64(s.InputBytes[highest]))
	case !measured(s.InputBytes) && unevenRecords(s.InputRecords):
		f.Evidence = append(f.Evidence, fmt.Sprintf("task_summaries/%s/input_records=%v", key, s.InputRecords))
		f.Advice = fmt.Sprintf("The source's partitions are uneven: a task read %.0f records, the median one %.0f. For JDBC, set "+
			"partitionColumn, lowerBound, upperBound and numPartitions, with a column whose values are evenly spread. For other sources, "+
			"change their partitioning, or call repartition after reading.", s.InputRecords[highest], s.InputRecords[median])
	case measured(s.ShuffleReadBytes) || measured(s.InputBytes) || measured(s.InputRecords):
		f.Advice = "The tasks read about the same amount of data, so keys are not the cause. " + compareTasks
	default:
		f.Advice = "Spark counted no data read by these tasks: they compute it, or their source does not report it. Uneven data may be the " +
			"cause: compare the number of rows by partition (spark_partition_id). " + compareTasks
	}
}

// compareTasks is advice for tasks whose input does not explain the skew.
const compareTasks = "Compare the executors and hosts of the slowest tasks (Spark's UI, or the table tasks, which include_tasks " +
	"writes). For one slow host or long garbage collection (jvm_gc_time), set spark.speculation=true or replace the host. For " +
	"expensive rows (a UDF, a regular expression, an explode), use more partitions: raise spark.sql.shuffle.partitions or call " +
	"repartition first."

func uneven(bytes []float64) bool {
	return len(bytes) > highest && bytes[highest] > 1<<20 && bytes[highest] > dataRatio*bytes[median]
}

// fewRecords is the number of records that a task reads in no time.
const fewRecords = 1000

func unevenRecords(records []float64) bool {
	return len(records) > highest && records[highest] > fewRecords && records[highest] > dataRatio*records[median]
}

// measured reports whether Spark counted any data.
func measured(data []float64) bool { return len(data) > highest && data[highest] > 0 }

func millis(ms float64) string { return (time.Duration(ms) * time.Millisecond).String() }

func size(bytes float64) string {
	for _, unit := range []string{"bytes", "KiB", "MiB"} {
		if bytes < 1024 {
			return fmt.Sprintf("%.4g %s", bytes, unit)
		}
		bytes /= 1024
	}
	return fmt.Sprintf("%.4g GiB", bytes)
}
