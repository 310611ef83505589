package fold

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Statuses of jobs (org.apache.spark.JobExecutionStatus).
const (
	JobRunning   = "RUNNING"
	JobSucceeded = "SUCCEEDED"
	JobFailed    = "FAILED"
)

// Statuses of stages (org.apache.spark.status.api.v1.StageStatus).
const (
	StageActive   = "ACTIVE"
	StageComplete = "COMPLETE"
	StageFailed   = "FAILED"
	StagePending  = "PENDING"
	StageSkipped  = "SKIPPED"
)

// Statuses of tasks (org.apache.spark.status.api.v1.TaskStatus).
const (
	TaskRunning = "RUNNING"
	TaskSuccess = "SUCCESS"
	TaskFailed  = "FAILED"
	TaskKilled  = "KILLED"
)

// Statuses of SQL executions (org.apache.spark.sql.execution.ui.SQLExecutionUIData).
const (
	SQLRunning   = "RUNNING"
	SQLCompleted = "COMPLETED"
	SQLFailed    = "FAILED"
)

// DriverExecutor is the id of the driver among the executors
// (org.apache.spark.SparkContext.DRIVER_IDENTIFIER).
const DriverExecutor = "driver"

// duration returns the milliseconds between two times, nil if one is unknown.
func duration(from, to tables.Millis) *int64 {
	if from <= 0 || to <= 0 {
		return nil
	}
	return new(to - from)
}

// percent returns part of all, 0 to 100; nil of nothing.
func percent(part, all int64) *float64 {
	if all <= 0 {
		return nil
	}
	return new(100 * float64(part) / float64(all))
}

// ran reports whether an attempt of a stage with this status can have tasks.
func ran(status string) bool { return status != StageSkipped && status != StagePending }

// deriveStage fills in the columns of a stage that follow from others.
func deriveStage(row *tables.StageRow) {
	const mebi = 1 << 20
	row.DurationMillis = duration(row.SubmissionTime, row.CompletionTime)
	row.ShuffleReadBytes = row.ShuffleLocalBytes + row.ShuffleRemoteBytes
	if ran(row.Status) {
		row.TaskCompletionRate = percent(row.NumCompleteTasks, row.NumTasks)
		if row.NumTasks > 0 {
			row.AvgRunTimePerTask = new(float64(row.ExecutorRunTime) / float64(row.NumTasks))
		}
	}
	row.TotalDataProcessedMB = float64(row.InputBytes+row.OutputBytes) / mebi
	row.ShuffleDataMB = float64(row.ShuffleReadBytes+row.ShuffleWriteBytes) / mebi
}

// presence is an executor's time in an application.
type presence struct {
	from, to tables.Millis // to is 0 if it was not removed
	cores    int64
}

// coreTime returns the most cores that there were at one time, and cores times
// milliseconds: unknown if until is, the end of executors that were not removed.
func coreTime(presences []presence, until tables.Millis) (most, coreMillis *int64) {
	type change struct {
		at    tables.Millis
		cores int64
	}
	var changes []change
	var total int64
	for _, p := range presences {
		if p.cores == 0 || p.from == 0 {
			continue
		}
		changes = append(changes, change{p.from, p.cores})
		if p.to > 0 {
			changes = append(changes, change{p.to, -p.cores})
		}
		if to := cmp.Or(p.to, until); to > p.from {
			total += p.cores * (to - p.from)
		}
	}
	if len(changes) == 0 {
		return nil, nil
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.cores, b.cores)) })
	most = new(int64)
	now := int64(0)
	for _, c := range changes {
		now += c.cores
		*most = max(*most, now)
	}
	if until == 0 {
		return most, nil
	}
	return most, &total
}

// applicationProperties fills in the columns of an application that are Spark properties.
// What is not set is unknown: what Spark takes then depends on the cluster.
func applicationProperties(row *tables.Application, spark map[string]string) {
	text := func(name string) *string {
		if value := spark[name]; value != "" {
			return &value
		}
		return nil
	}
	row.Queue, row.DeployMode, row.Master = text("spark.yarn.queue"), text("spark.submit.deployMode"), text("spark.master")
	if cores, err := strconv.ParseInt(spark["spark.executor.cores"], 10, 64); err == nil {
		row.ExecutorCores = &cores
	}
	row.ExecutorMemory, row.DriverMemory = memory(spark["spark.executor.memory"]), memory(spark["spark.driver.memory"])
	if submitted, err := strconv.ParseInt(spark["spark.app.submitTime"], 10, 64); err == nil {
		row.SubmitTime = max(0, submitted)
	}
	if trace, _, ok := platform.ParseTraceparent(spark[platform.SparkTraceparent]); ok {
		row.TraceID = new(hex.EncodeToString(trace[:]))
	}
}

// memory returns the bytes of a size, which is in MiB without a unit; nil if it is none.
func memory(size string) *int64 {
	if number, ok := platform.ParseSparkSize(size, 1<<20); ok {
		return &number
	}
	return nil
}

// sorted lists the keys of a map.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// nonEmpty returns the text, nil if there is none.
func nonEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// compactJSON returns a value as JSON as Spark writes it: in one line, without escapes for HTML.
func compactJSON(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "" // rows hold texts and finite numbers only
	}
	return strings.TrimSuffix(text.String(), "\n")
}
