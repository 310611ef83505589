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

// percent returns part as a percentage of all; nil if all is 0.
func percent(part, all int64) *float64 {
	if all <= 0 {
		return nil
	}
	return new(100 * float64(part) / float64(all))
}

// Ran reports whether a stage attempt with this status can have tasks.
func Ran(status string) bool { return status != StageSkipped && status != StagePending }

// deriveStage fills in the derived columns of a stage.
func deriveStage(row *tables.StageRow) {
	const mebi = 1 << 20
	row.DurationMillis = duration(row.SubmissionTime, row.CompletionTime)
	row.ShuffleReadBytes = row.ShuffleLocalBytes + row.ShuffleRemoteBytes
	if Ran(row.Status) {
		row.TaskCompletionRate = percent(row.NumCompleteTasks, row.NumTasks)
		if row.NumTasks > 0 {
			row.AvgRunTimePerTask = new(float64(row.ExecutorRunTime) / float64(row.NumTasks))
		}
	}
	row.TotalDataProcessedMB = float64(row.InputBytes+row.OutputBytes) / mebi
	row.ShuffleDataMB = float64(row.ShuffleReadBytes+row.ShuffleWriteBytes) / mebi
}

// presence is the time during which an executor was part of an application.
type presence struct {
	from, to tables.Millis // to is 0 if it was not removed
	cores    int64
}

// coreTime returns the largest number of concurrent cores, and the sum of cores times
// milliseconds. until is when executors that were not removed ended; if it is unknown (0),
// the sum is nil.
func coreTime(presences []presence, until tables.Millis) (maxCores, coreMillis *int64) {
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
	maxCores = new(int64)
	now := int64(0)
	for _, c := range changes {
		now += c.cores
		*maxCores = max(*maxCores, now)
	}
	if until == 0 {
		return maxCores, nil
	}
	return maxCores, &total
}

// applicationProperties fills in the columns that come from Spark properties. A property
// that is not set leaves its column null: its default depends on the cluster.
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
	master := "spark.yarn.am.cores"
	if spark["spark.submit.deployMode"] == "cluster" {
		master = "spark.driver.cores"
	}
	if cores, err := strconv.ParseInt(spark[master], 10, 64); err == nil && cores > 0 {
		row.MasterCores = &cores
	}
	row.ExecutorMemory, row.DriverMemory = memory(spark["spark.executor.memory"]), memory(spark["spark.driver.memory"])
	if submitted, err := strconv.ParseInt(spark["spark.app.submitTime"], 10, 64); err == nil {
		row.SubmitTime = max(0, submitted)
	}
	if trace, _, _, ok := platform.ParseTraceparent(spark[platform.SparkTraceparent]); ok {
		row.TraceID = new(hex.EncodeToString(trace[:]))
	}
	row.AirflowDAG, row.AirflowTask = text(platform.SparkAirflowDAG), text(platform.SparkAirflowTask)
	row.AirflowRun = text(platform.SparkAirflowRun)
	if try, err := strconv.ParseInt(spark[platform.SparkAirflowTry], 10, 64); err == nil && try > 0 {
		row.AirflowTry = &try
	}
}

// memory parses a size into bytes; without a unit it is in MiB. It returns nil if the size is invalid.
func memory(size string) *int64 {
	if number, ok := platform.ParseSparkSize(size, 1<<20); ok {
		return &number
	}
	return nil
}

// sorted returns the keys of a map in order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// nonEmpty returns nil for an empty text.
func nonEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// compactJSON encodes a value as Spark writes JSON: on one line, without HTML escapes.
func compactJSON(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "" // cannot happen: rows hold only texts and finite numbers
	}
	return strings.TrimSuffix(text.String(), "\n")
}
