package fold_test

import (
	"encoding/json"
	"fmt"
	"maps"
)

// The functions in this file return lines of event logs as
// org.apache.spark.util.JsonProtocol writes them. Times are in milliseconds after begin.

const begin = 1_700_000_000_000

type object map[string]any

func line(event string, fields object) string {
	fields = maps.Clone(fields)
	fields["Event"] = event
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func at(millis int64) int64 { return begin + millis }

func applicationStart(millis int64) string {
	return line("SparkListenerApplicationStart", object{
		"App Name": "edge", "App ID": "application_1_0001", "Timestamp": at(millis), "User": "hadoop", "App Attempt ID": "2",
	})
}

func applicationEnd(millis int64) string {
	return line("SparkListenerApplicationEnd", object{"Timestamp": at(millis)})
}

func environment(spark object) string {
	return line("SparkListenerEnvironmentUpdate", object{"Spark Properties": spark, "System Properties": object{}})
}

func executorAdded(id string, millis int64) string {
	return line("SparkListenerExecutorAdded", object{"Timestamp": at(millis), "Executor ID": id, "Executor Info": object{
		"Host": "h" + id, "Total Cores": 4, "Log Urls": object{"stdout": "http://h/" + id}, "Resource Profile Id": 0,
	}})
}

func executorRemoved(id string, millis int64, reason string) string {
	return line("SparkListenerExecutorRemoved", object{"Timestamp": at(millis), "Executor ID": id, "Removed Reason": reason})
}

// shape is a stage of a job: id, attempt and number of tasks.
type shape struct{ id, attempt, tasks int64 }

func (s shape) info(submitted, completed int64, failure string) object {
	info := object{
		"Stage ID": s.id, "Stage Attempt ID": s.attempt, "Stage Name": fmt.Sprintf("stage %d", s.id), "Number of Tasks": s.tasks,
		"Accumulables": []object{}, "Resource Profile Id": 0,
	}
	for name, time := range map[string]int64{"Submission Time": submitted, "Completion Time": completed} {
		if time > 0 {
			info[name] = at(time)
		}
	}
	if failure != "" {
		info["Failure Reason"] = failure
	}
	return info
}

func jobStart(id, millis int64, properties object, stages ...shape) string {
	infos, ids := []object{}, []int64{}
	for _, s := range stages {
		infos, ids = append(infos, s.info(0, 0, "")), append(ids, s.id)
	}
	return line("SparkListenerJobStart", object{
		"Job ID": id, "Submission Time": at(millis), "Stage Infos": infos, "Stage IDs": ids, "Properties": properties,
	})
}

func jobEnd(id, millis int64, failure string) string {
	result := object{"Result": "JobSucceeded"}
	if failure != "" {
		result = object{"Result": "JobFailed", "Exception": object{"Message": failure}}
	}
	return line("SparkListenerJobEnd", object{"Job ID": id, "Completion Time": at(millis), "Job Result": result})
}

func submitted(s shape, millis int64) string {
	return line("SparkListenerStageSubmitted", object{"Stage Info": s.info(millis, 0, ""), "Properties": object{}})
}

func completed(s shape, from, to int64, failure string, accumulators ...object) string {
	info := s.info(from, to, failure)
	info["Accumulables"] = accumulators
	return line("SparkListenerStageCompleted", object{"Stage Info": info})
}

func sqlAccumulator(id, value int64) object {
	return object{"ID": id, "Name": "m", "Value": fmt.Sprint(value), "Internal": true, "Count Failed Values": true, "Metadata": "sql"}
}

// try is a task attempt in stage s on an executor.
type try struct {
	id, index, attempt int64
	s                  shape
	executor           string
	from, to           int64
}

func (t try) info(finished int64, reason string) object {
	return object{
		"Task ID": t.id, "Index": t.index, "Attempt": t.attempt, "Launch Time": at(t.from), "Executor ID": t.executor, "Host": "h" + t.executor,
		"Locality": "ANY", "Speculative": false, "Getting Result Time": 0, "Finish Time": finished,
		"Failed": reason != "Success" && reason != "TaskKilled" && finished > 0, "Killed": reason == "TaskKilled",
	}
}

func taskStart(t try) string {
	return line("SparkListenerTaskStart", object{"Stage ID": t.s.id, "Stage Attempt ID": t.s.attempt, "Task Info": t.info(0, "Success")})
}

// taskEnd ends a task. The task has metrics unless run, its run time, is 0.
func taskEnd(t try, reason string, run int64) string {
	event := object{
		"Stage ID": t.s.id, "Stage Attempt ID": t.s.attempt, "Task Type": "ResultTask", "Task Info": t.info(at(t.to), reason),
		"Task End Reason": object{"Reason": reason, "Kill Reason": "another attempt succeeded", "Class Name": "E", "Description": "d"},
	}
	if run > 0 {
		event["Task Metrics"] = object{
			"Executor Run Time": run, "Executor CPU Time": run * 1000, "JVM GC Time": 1, "Result Size": 10, "Memory Bytes Spilled": 100 * run,
			"Input Metrics":        object{"Bytes Read": run, "Records Read": 1},
			"Output Metrics":       object{"Bytes Written": run, "Records Written": 2},
			"Shuffle Read Metrics": object{"Local Bytes Read": run, "Remote Bytes Read": 1, "Local Blocks Fetched": 1, "Total Records Read": 3},
			"Shuffle Write Metrics": object{
				"Shuffle Bytes Written": 7, "Shuffle Write Time": 8, "Shuffle Records Written": 9,
			},
		}
	}
	return line("SparkListenerTaskEnd", event)
}

// ran returns the lines of a successful task.
func ran(t try) []string { return []string{taskStart(t), taskEnd(t, "Success", t.to-t.from)} }

const sqlEvents = "org.apache.spark.sql.execution.ui."

func plan(name, text string, metrics []object, children ...object) object {
	return object{"nodeName": name, "simpleString": text, "children": children, "metrics": metrics, "metadata": object{}}
}

func metricOf(name string, accumulator int64) object {
	return object{"name": name, "accumulatorId": accumulator, "metricType": "sum"}
}

func sqlStart(id, millis int64, root object) string {
	return line(sqlEvents+"SparkListenerSQLExecutionStart", object{
		"executionId": id, "rootExecutionId": id, "description": "q", "details": "", "physicalPlanDescription": "abc", "sparkPlanInfo": root,
		"time": at(millis),
	})
}

func sqlEnd(id, millis int64, failure string) string {
	return line(sqlEvents+"SparkListenerSQLExecutionEnd", object{"executionId": id, "time": at(millis), "errorMessage": failure})
}
