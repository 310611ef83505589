package judge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

type object map[string]any

const (
	begin = 1_700_000_000_000 // milliseconds
	mib   = 1 << 20
	gib   = 1 << 30
)

// sparkJob is an application with one job of one stage, written as Spark writes event logs
// (org.apache.spark.util.JsonProtocol). Times are in milliseconds after begin.
type sparkJob struct {
	class      string // of the driver's program
	settings   map[string]string
	executors  int
	cores      int
	added      int64 // when the executors registered
	removed    map[int]removal
	heap, tree int64 // peaks of each executor, in bytes
	tasks      int
	attempts   int // of the stage
	from, to   int64
	// duration and metrics are those of task i.
	duration func(i int) int64
	metrics  func(i int) object
	failing  map[int]string // attempts of tasks that end so before the one that succeeds: task and reason
	killed   int            // further tasks that are killed
	plan     []planNode
	exitCode *int
	end      int64
}

type removal struct {
	at     int64
	reason string
}

// planNode is an operator with the values of its metrics; each is the child of the one before.
type planNode struct {
	name    string
	metrics []planMetric
}

type planMetric struct {
	name, kind string // sum, size or timing
	value      int64
}

// healthyJob runs for 20 minutes: 160 equal tasks on 16 cores of four hosts, each with a peak
// of the heap of three quarters.
func healthyJob() *sparkJob {
	return &sparkJob{
		class: "org.example.Job",
		settings: map[string]string{
			"spark.master": "yarn", "spark.submit.deployMode": "client", "spark.executor.memory": "4g", "spark.executor.cores": "4",
			"spark.executor.memoryOverhead": "1g", "spark.sql.shuffle.partitions": "160",
		},
		executors: 4, cores: 4, added: 2000, removed: map[int]removal{}, heap: 3 * gib, tree: 4 * gib,
		tasks: 160, attempts: 1, from: 10_000, to: 1_190_000,
		duration: func(int) int64 { return 110_000 },
		metrics: func(int) object {
			return object{"Input Metrics": object{"Bytes Read": 100 * mib, "Records Read": 1000}}
		},
		failing: map[int]string{}, exitCode: new(0), end: 1_200_000,
	}
}

// log writes the application's event log.
func (j *sparkJob) log(t testing.TB, id string) []byte {
	t.Helper()
	var out bytes.Buffer
	write := func(event string, fields object) {
		fields = maps.Clone(fields)
		fields["Event"] = event
		text, err := json.Marshal(fields)
		require.NoError(t, err)
		out.Write(append(text, '\n'))
	}
	write("SparkListenerLogStart", object{"Spark Version": "4.0.0"})
	write("SparkListenerBlockManagerAdded", object{
		"Block Manager ID": object{"Executor ID": "driver", "Host": "ip-10-0-0-9", "Port": 7079}, "Maximum Memory": gib,
		"Timestamp": begin + 1000,
	})
	write("SparkListenerEnvironmentUpdate", object{"Spark Properties": j.settings, "System Properties": object{
		"sun.java.command": "org.apache.spark.deploy.SparkSubmit --class " + j.class + " spark-internal",
	}})
	write("SparkListenerApplicationStart", object{"App Name": "job", "App ID": id, "Timestamp": begin, "User": "hadoop"})
	for x := range j.executors {
		write("SparkListenerExecutorAdded", object{"Timestamp": begin + j.added, "Executor ID": fmt.Sprint(x + 1), "Executor Info": object{
			"Host": host(x), "Total Cores": j.cores, "Log Urls": object{}, "Resource Profile Id": 0,
		}})
		write("SparkListenerBlockManagerAdded", object{
			"Block Manager ID": object{"Executor ID": fmt.Sprint(x + 1), "Host": host(x), "Port": 7079}, "Maximum Memory": gib,
			"Timestamp": begin + j.added,
		})
	}
	j.writeExecution(write)
	for x, r := range j.removed {
		write("SparkListenerExecutorRemoved", object{"Timestamp": begin + r.at, "Executor ID": fmt.Sprint(x + 1), "Removed Reason": r.reason})
	}
	end := object{"Timestamp": begin + j.end}
	if j.exitCode != nil {
		end["ExitCode"] = *j.exitCode
	}
	write("SparkListenerApplicationEnd", end)
	return out.Bytes()
}

func host(executor int) string { return fmt.Sprintf("ip-10-0-0-%d", executor+1) }

const sqlEvents = "org.apache.spark.sql.execution.ui."

// writeExecution writes a SQL execution with one job of one stage.
func (j *sparkJob) writeExecution(write func(string, object)) {
	root, updates := j.planInfo()
	write(sqlEvents+"SparkListenerSQLExecutionStart", object{
		"executionId": 1, "rootExecutionId": 1, "description": "insert into t", "details": "", "physicalPlanDescription": "p",
		"sparkPlanInfo": root, "time": begin + j.from,
	})
	write("SparkListenerJobStart", object{
		"Job ID": 0, "Submission Time": begin + j.from, "Stage Infos": []object{j.stageInfo(0, 0, 0)}, "Stage IDs": []int{0},
		"Properties": object{"spark.sql.execution.id": "1"},
	})
	task := 0
	for attempt := range j.attempts {
		length := (j.to - j.from) / int64(j.attempts)
		from := j.from + int64(attempt)*length
		write("SparkListenerStageSubmitted", object{"Stage Info": j.stageInfo(attempt, from, 0), "Properties": object{}})
		task = j.writeTasks(write, attempt, from, task)
		info := j.stageInfo(attempt, from, from+length)
		if attempt+1 < j.attempts {
			info["Failure Reason"] = "FetchFailed: connection refused"
		}
		write("SparkListenerStageCompleted", object{"Stage Info": info})
	}
	write("SparkListenerJobEnd", object{"Job ID": 0, "Completion Time": begin + j.to, "Job Result": object{"Result": "JobSucceeded"}})
	write(sqlEvents+"SparkListenerDriverAccumUpdates", object{"executionId": 1, "accumUpdates": updates})
	write(sqlEvents+"SparkListenerSQLExecutionEnd", object{"executionId": 1, "time": begin + j.to, "errorMessage": ""})
}

func (j *sparkJob) planInfo() (root object, updates [][2]int64) {
	nodes := append([]planNode{{name: "Project"}}, j.plan...)
	for i := len(nodes) - 1; i >= 0; i-- {
		metrics := []object{}
		for _, m := range nodes[i].metrics {
			id := int64(len(updates))
			metrics = append(metrics, object{"name": m.name, "accumulatorId": id, "metricType": m.kind})
			updates = append(updates, [2]int64{id, m.value})
		}
		children := []object{}
		if root != nil {
			children = append(children, root)
		}
		root = object{"nodeName": nodes[i].name, "simpleString": nodes[i].name, "children": children, "metrics": metrics, "metadata": object{}}
	}
	return root, updates
}

func (j *sparkJob) stageInfo(attempt int, from, to int64) object {
	info := object{
		"Stage ID": 0, "Stage Attempt ID": attempt, "Stage Name": "save at job.py:1", "Number of Tasks": j.tasks, "Accumulables": []object{},
		"Resource Profile Id": 0,
	}
	if from > 0 {
		info["Submission Time"] = begin + from
	}
	if to > 0 {
		info["Completion Time"] = begin + to
	}
	return info
}

// writeTasks writes the tasks of an attempt, each in the slot of its executor and core.
func (j *sparkJob) writeTasks(write func(string, object), attempt int, from int64, task int) (next int) {
	slots := make([]int64, j.executors*j.cores)
	run := func(index, try int, reason string, duration int64) {
		slot := (index + try) % len(slots)
		x := slot % j.executors
		start := max(from, j.added, slots[slot])
		slots[slot] = start + duration
		info := object{
			"Task ID": task, "Index": index, "Attempt": try, "Launch Time": begin + start, "Executor ID": fmt.Sprint(x + 1), "Host": host(x),
			"Locality": "ANY", "Speculative": false, "Getting Result Time": 0, "Finish Time": 0, "Failed": false, "Killed": false,
		}
		write("SparkListenerTaskStart", object{"Stage ID": 0, "Stage Attempt ID": attempt, "Task Info": info})
		info = maps.Clone(info)
		info["Finish Time"], info["Failed"], info["Killed"] = begin+start+duration, reason == "ExceptionFailure", reason == "TaskKilled"
		end := object{
			"Stage ID": 0, "Stage Attempt ID": attempt, "Task Type": "ResultTask", "Task Info": info,
			"Task End Reason": object{
				"Reason": reason, "Class Name": "java.io.IOException", "Description": "boom", "Kill Reason": "another attempt succeeded",
			},
			"Task Executor Metrics": object{"JVMHeapMemory": j.heap, "ProcessTreeJVMRSSMemory": j.tree},
		}
		if reason == "Success" {
			end["Task Metrics"] = maps.Clone(j.metrics(index))
			metrics, _ := end["Task Metrics"].(object)
			if _, set := metrics["Executor Run Time"]; !set {
				metrics["Executor Run Time"] = duration
			}
			metrics["Executor CPU Time"] = duration * 500_000
		}
		write("SparkListenerTaskEnd", end)
		task++
	}
	for i := range j.tasks {
		try := 0
		if reason, fails := j.failing[i]; fails {
			run(i, try, reason, 1000)
			try++
		}
		run(i, try, "Success", j.duration(i))
	}
	for i := range j.killed {
		run(i, 9, "TaskKilled", 1000)
	}
	return task
}
