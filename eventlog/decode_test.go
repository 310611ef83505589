package eventlog_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/eventlog"
	"github.com/emr-observatory/emr-observatory/platform"
)

// eventOf decodes a line, whose event is kept: nothing else is read after it.
func eventOf(t *testing.T, line string) eventlog.Event {
	t.Helper()
	var got eventlog.Event
	_, err := eventlog.Lines(t.Context(), strings.NewReader(line), "log", func(e eventlog.Event) error {
		got = e
		return nil
	})
	require.NoError(t, err, line)
	return got
}

// Lines as JsonProtocol of Spark 2.4 to 4.0 writes them.
func TestEventsOfAllKinds(t *testing.T) {
	const sql, core = "org.apache.spark.sql.execution.ui.", "org.apache.spark.scheduler."
	const connect = "org.apache.spark.sql.connect.service.SparkListenerConnect"
	for _, c := range []struct {
		line string
		want eventlog.Event
	}{
		{
			`{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"application_1_2","Timestamp":5,"User":"hadoop",` +
				`"App Attempt ID":"1",` +
				`"Driver Logs":{"stdout":"http://a"},"Driver Attributes":{"b":"c"}}`,
			&eventlog.ApplicationStart{
				Time: 5, Name: "a", ID: "application_1_2", User: "hadoop", Attempt: "1", DriverLogs: map[string]string{"stdout": "http://a"},
			},
		},
		{
			`{"Event":"SparkListenerExecutorAdded","Timestamp":5,"Executor ID":"1","Executor Info":{"Host":"h","Total Cores":4,` +
				`"Log Urls":{"stderr":"http://a"},"Attributes":{},"Resources":{},"Resource Profile Id":0,"Registration Time":4,` +
				`"Request Time":3}}`,
			&eventlog.ExecutorAdded{
				Time: 5, ID: "1", ExecutorInfo: eventlog.ExecutorInfo{
					Host: "h", Cores: 4, Logs: map[string]string{"stderr": "http://a"}, ResourceProfile: new(int64(0)),
				},
			},
		},
		{
			`{"Event":"SparkListenerExecutorRemoved","Timestamp":5,"Executor ID":"1","Removed Reason":"lost"}`,
			&eventlog.ExecutorRemoved{
				Time: 5, ID: "1", Reason: "lost",
			},
		},
		{
			`{"Event":"` + core + `SparkListenerExecutorBlacklisted","time":5,"executorId":"1","taskFailures":2}`,
			&eventlog.ExecutorExcluded{Time: 5, ID: "1"},
		},
		{
			`{"Event":"` + core + `SparkListenerExecutorExcluded","time":5,"executorId":"1","taskFailures":2}`,
			&eventlog.ExecutorExcluded{Time: 5, ID: "1"},
		},
		{
			`{"Event":"` + core + `SparkListenerExecutorUnexcluded","time":5,"executorId":"1"}`,
			&eventlog.ExecutorExcluded{Time: 5, ID: "1", Undo: true},
		},
		{
			`{"Event":"` + core + `SparkListenerExecutorUnblacklisted","time":5,"executorId":"1"}`,
			&eventlog.ExecutorExcluded{Time: 5, ID: "1", Undo: true},
		},
		{
			`{"Event":"` + core + `SparkListenerNodeExcluded","time":5,"hostId":"h","executorFailures":2}`,
			&eventlog.ExecutorExcluded{Time: 5, Host: "h"},
		},
		{
			`{"Event":"` + core + `SparkListenerNodeUnblacklisted","time":5,"hostId":"h"}`,
			&eventlog.ExecutorExcluded{Time: 5, Host: "h", Undo: true},
		},
		{
			`{"Event":"` + core + `SparkListenerExecutorExcludedForStage","time":5,"executorId":"1","taskFailures":2,"stageId":0,` +
				`"stageAttemptId":1}`,
			&eventlog.ExecutorExcluded{Time: 5, ID: "1", Stage: new(int64(0)), Attempt: 1},
		},
		{
			`{"Event":"` + core + `SparkListenerNodeBlacklistedForStage","time":5,"hostId":"h","executorFailures":2,"stageId":3,` +
				`"stageAttemptId":0}`,
			&eventlog.ExecutorExcluded{Time: 5, Host: "h", Stage: new(int64(3))},
		},
		{
			`{"Event":"SparkListenerBlockManagerAdded","Block Manager ID":{"Executor ID":"1","Host":"h","Port":7},"Maximum Memory":9,` +
				`"Timestamp":5,` +
				`"Maximum Onheap Memory":9,"Maximum Offheap Memory":0}`,
			&eventlog.BlockManagerAdded{
				Time: 5, BlockManagerID: eventlog.BlockManagerID{Executor: "1", Host: "h", Port: 7}, MaxMemory: 9,
			},
		},
		{
			`{"Event":"SparkListenerBlockManagerRemoved","Block Manager ID":{"Executor ID":"1","Host":"h","Port":7},"Timestamp":5}`,
			nil,
		},
		{
			`{"Event":"SparkListenerStageExecutorMetrics","Executor ID":"1","Stage ID":2,"Stage Attempt ID":1,` +
				`"Executor Metrics":{"JVMHeapMemory":7,` +
				`"ProcessTreePythonRSSMemory":8,"DirectPoolMemory":6}}`,
			&eventlog.StageExecutorMetrics{
				Executor: "1", Stage: 2, Attempt: 1, Peaks: eventlog.ExecutorMetrics{JVMHeap: 7, PythonRSS: 8},
			},
		},
		{
			`{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":5,"Stage Infos":[{"Stage ID":0,"Stage Attempt ID":0,` +
				`"Stage Name":"n","Number of Tasks":4,` +
				`"RDD Info":[{"RDD ID":1,"Parent IDs":[0]}],"Parent IDs":[],"Details":"d","Accumulables":[],` +
				`"Resource Profile Id":0},{"Stage ID":1,"Number of Tasks":2,` +
				`"Parent IDs":[0]}],"Stage IDs":[0,1],"Properties":{"spark.sql.execution.id":"0","spark.jobGroup.id":"g",` +
				`"spark.scheduler.pool":"p"}}`,
			&eventlog.JobStart{
				Time: 5, Stages: []eventlog.Stage{{Name: "n", Tasks: 4, ResourceProfile: new(int64(0))},
					{ID: 1, Tasks: 2}},
				Properties: eventlog.JobProperties{Execution: new(int64(0)), Group: "g", Pool: "p"},
			},
		},
		{
			`{"Event":"SparkListenerJobStart","Job ID":1,"Submission Time":5,"Stage IDs":[3,4]}`,
			&eventlog.JobStart{
				ID: 1, Time: 5, Stages: []eventlog.Stage{{ID: 3}, {ID: 4}},
			},
		},
		{
			`{"Event":"SparkListenerJobEnd","Job ID":1,"Completion Time":5,"Job Result":{"Result":"JobFailed",` +
				`"Exception":{"Message":"m","Stack Trace":[{"a":1}]}}}`,
			&eventlog.JobEnd{
				ID: 1, Time: 5, Failure: "m",
			},
		},
		{
			`{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":1,"Stage Attempt ID":2,"Submission Time":5,` +
				`"Completion Time":6,"Failure Reason":"f","Accumulables":[` +
				`{"ID":1,"Name":"number of output rows","Value":"250","Internal":true,"Metadata":"sql"},{"ID":2,"Name":"x","Value":"1,2",` +
				`"Metadata":"sql"},` +
				`{"ID":3,"Name":"internal.metrics.resultSize","Value":7,"Internal":true},{"ID":4,"Value":0,"Metadata":"sql"},` +
				`{"ID":5,"Value":[{"Block ID":"b"}],"Metadata":"sql"},{"ID":6,"Metadata":"sql"}]}}`,
			&eventlog.StageCompleted{Stage: eventlog.Stage{
				ID: 1, Attempt: 2, Submitted: 5, Completed: 6, Failure: "f", Accumulables: []eventlog.Accumulable{
					{ID: 1, Value: new(int64(250)), Metadata: "sql"}, {ID: 2, Metadata: "sql"}, {ID: 3, Value: new(int64(7))},
					{ID: 4, Value: new(int64(0)), Metadata: "sql"}, {ID: 5, Metadata: "sql"}, {ID: 6, Metadata: "sql"},
				},
			}},
		},
		{
			`{"Event":"` + sql + `SparkListenerSQLExecutionStart","executionId":7,"rootExecutionId":0,"description":"d",` +
				`"details":"e","physicalPlanDescription":"a\nä",` +
				`"sparkPlanInfo":{"nodeName":"Sort","simpleString":"Sort [a]","children":[{"nodeName":"Scan","simpleString":"",` +
				`"children":[],"metadata":{"Format":"csv"},` +
				`"metrics":[]}],"metadata":{},"metrics":[{"name":"sort time","accumulatorId":0,"metricType":"timing"}]},"time":9,` +
				`"modifiedConfigs":{"a":"b","` + platform.SparkTraceparent + `":"p","` + platform.SparkAirflowDAG + `":"g","` +
				platform.SparkAirflowTask + `":"t","` + platform.SparkAirflowRun + `":"r","` + platform.SparkAirflowTry + `":"2"},"jobTags":["c"]}`,
			&eventlog.SQLStart{
				ID: 7, Time: 9, Root: new(int64(0)), Description: "d", PlanLength: 3, Plan: eventlog.PlanNode{
					Name: "Sort", Text: "Sort [a]", Children: []eventlog.PlanNode{{Name: "Scan"}},
					Metrics: []eventlog.PlanMetric{{Name: "sort time", Type: "timing"}},
				},
				Modified: eventlog.JobProperties{SessionParent: "p", AirflowDAG: "g", AirflowTask: "t", AirflowRun: "r", AirflowTry: "2"},
				Tags:     []string{"c"},
			},
		},
		{
			`{"Event":"` + connect + `SessionStarted","sessionId":"s","userId":"u","eventTime":7,"extraTags":{}}`,
			&eventlog.SessionStarted{ID: "s", User: "u", Time: 7},
		},
		{
			`{"Event":"` + connect + `SessionClosed","sessionId":"s","userId":"u","eventTime":7,"extraTags":{}}`,
			&eventlog.SessionClosed{ID: "s", Time: 7},
		},
		{
			`{"Event":"` + connect + `OperationStarted","jobTag":"j","operationId":"o","eventTime":7,"sessionId":"s","userId":"u",` +
				`"userName":"n","statementText":"x","sparkSessionTags":["t"],"extraTags":{}}`,
			&eventlog.OperationStarted{Tag: "j", User: "u", Time: 7, Statement: "x", Tags: []string{"t"}},
		},
		{
			`{"Event":"` + connect + `OperationAnalyzed","jobTag":"j","operationId":"o","eventTime":7,"extraTags":{}}`,
			nil,
		},
		{
			`{"Event":"` + connect + `OperationFinished","jobTag":"j","operationId":"o","eventTime":7,"producedRowCount":5,"extraTags":{}}`,
			&eventlog.OperationEnded{Tag: "j", Time: 7},
		},
		{
			`{"Event":"` + connect + `OperationClosed","jobTag":"j","operationId":"o","eventTime":7,"extraTags":{}}`,
			&eventlog.OperationEnded{Tag: "j", Time: 7},
		},
		{
			`{"Event":"` + connect + `OperationFailed","jobTag":"j","operationId":"o","eventTime":7,"errorMessage":"e","extraTags":{}}`,
			&eventlog.OperationEnded{Tag: "j", Time: 7, Failure: "e"},
		},
		{
			`{"Event":"` + connect + `OperationCanceled","jobTag":"j","operationId":"o","eventTime":7,"extraTags":{}}`,
			&eventlog.OperationEnded{Tag: "j", Time: 7, Failure: "canceled"},
		},
		{
			`{"Event":"` + sql + `SparkListenerSQLAdaptiveExecutionUpdate","executionId":7,"physicalPlanDescription":"ab",` +
				`"sparkPlanInfo":{"nodeName":"Sort"}}`,
			&eventlog.SQLPlan{
				ID: 7, PlanLength: 2, Plan: eventlog.PlanNode{Name: "Sort"},
			},
		},
		{
			`{"Event":"` + sql + `SparkListenerSQLAdaptiveSQLMetricUpdates","executionId":7,"sqlPlanMetrics":[{"name":"n",` +
				`"accumulatorId":3,"metricType":"sum"}]}`,
			nil,
		},
		{
			`{"Event":"` + sql + `SparkListenerDriverAccumUpdates","executionId":7,"accumUpdates":[[0,5],[3,0]]}`,
			&eventlog.DriverAccumulators{
				Execution: 7, Updates: []eventlog.Accumulator{{Value: 5}, {ID: 3}},
			},
		},
		{
			`{"Event":"` + sql + `SparkListenerSQLExecutionEnd","executionId":7,"time":9,"errorMessage":"e"}`,
			&eventlog.SQLEnd{ID: 7, Time: 9, Failure: "e"},
		},
		{
			`{"Event":"SparkListenerApplicationEnd","Timestamp":5,"ExitCode":1}`,
			&eventlog.ApplicationEnd{Time: 5, ExitCode: new(int64(1))},
		},
		{
			`{"Event":"SparkListenerExecutorMetricsUpdate","a":1}`,
			nil,
		},
		{
			`{"Event":"com.databricks.sql.SomethingNew","Timestamp":"soon"}`,
			nil,
		},
	} {
		got := eventOf(t, c.line)
		require.Equal(t, c.want, got, c.line)
		if stage, ok := got.(*eventlog.StageCompleted); ok {
			require.Equal(t, []eventlog.Accumulator{{ID: 1, Value: 250}, {ID: 4}}, stage.Accumulators(), "numbers of SQL metrics only")
		}
	}
}

func TestTaskMetrics(t *testing.T) {
	const start = `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Type":"ResultTask",` +
		`"Task End Reason":{"Reason":"Success"},` +
		`"Task Info":{"Task ID":0,"Launch Time":5,"Executor ID":"1","Host":"h","Locality":"ANY","Getting Result Time":8,` +
		`"Finish Time":9,"Failed":false,"Killed":true}`
	end := eventOf(t, start+`,"Task Executor Metrics":{"JVMHeapMemory":0},"Task Metrics":{"Executor Deserialize Time":1,`+
		`"Executor Deserialize CPU Time":2,`+
		`"Executor Run Time":3,"Executor CPU Time":4,"Peak Execution Memory":5,"Result Size":6,"JVM GC Time":7,`+
		`"Result Serialization Time":8,`+
		`"Memory Bytes Spilled":9,"Disk Bytes Spilled":10,"Shuffle Read Metrics":{"Remote Blocks Fetched":11,`+
		`"Local Blocks Fetched":12,"Fetch Wait Time":13,`+
		`"Remote Bytes Read":14,"Remote Bytes Read To Disk":15,"Local Bytes Read":16,"Total Records Read":17,`+
		`"Remote Requests Duration":1},`+
		`"Shuffle Write Metrics":{"Shuffle Bytes Written":18,"Shuffle Write Time":19,"Shuffle Records Written":20},`+
		`"Input Metrics":{"Bytes Read":21,"Records Read":22},"Output Metrics":{"Bytes Written":23,"Records Written":24},`+
		`"Updated Blocks":[]}}`).(*eventlog.TaskEnd)
	require.Equal(t, &eventlog.TaskMetrics{
		DeserializeTime: 1, DeserializeCPUTime: 2, RunTime: 3, CPUTime: 4, PeakExecutionMemory: 5, ResultSize: 6, JVMGCTime: 7,
		ResultSerialization: 8,
		MemorySpilled:       9, DiskSpilled: 10,
		ShuffleRead: eventlog.ShuffleRead{
			RemoteBlocks: 11, LocalBlocks: 12, FetchWaitTime: 13, RemoteBytes: 14, RemoteToDisk: 15, LocalBytes: 16, ReadRecords: 17,
		},
		ShuffleWrite: eventlog.ShuffleWrite{WriteBytes: 18, WriteTime: 19, WriteRecords: 20},
		TaskInput:    eventlog.TaskInput{InputBytes: 21, InputRecords: 22},
		TaskOutput:   eventlog.TaskOutput{OutputBytes: 23, OutputRecords: 24},
	}, end.Metrics)
	require.Equal(t, &eventlog.ExecutorMetrics{}, end.Peaks, "they were measured, and are 0")
	require.Equal(t, eventlog.Task{
		Launched: 5, Finished: 9, GettingResult: 8, Executor: "1", Host: "h", Locality: "ANY", Killed: true,
	}, end.Task)

	for _, rest := range []string{`}`, `,"Task Metrics":null,"Task Executor Metrics":null}`} {
		end = eventOf(t, start+rest).(*eventlog.TaskEnd)
		require.Nil(t, end.Metrics, "absent is unknown, not 0")
		require.Nil(t, end.Peaks)
	}
	require.NotNil(t, eventOf(t, start+`,"Task Metrics":{"Executor Run Time":0}}`).(*eventlog.TaskEnd).Metrics)
}

// The texts are those of Spark 3.5's TaskFailedReason.toErrorString, which its UI shows.
func TestTaskEndReasons(t *testing.T) {
	for reason, want := range map[string]struct {
		failure, text string
		counts        bool
	}{
		`{"Reason":"Success"}`: {},
		`{"Reason":"ExceptionFailure","Class Name":"java.lang.E","Description":"bad","Stack Trace":[{"Line Number":1}],` +
			`"Full Stack Trace":"java.lang.E: bad\n\tat a.b\n",` +
			`"Accumulator Updates":[{"ID":1}]}`: {"java.lang.E: bad", "java.lang.E: bad\n\tat a.b\n", true},
		`{"Reason":"TaskKilled","Kill Reason":"another attempt succeeded","Accumulator Updates":[]}`: {
			"TaskKilled: another attempt succeeded", "another attempt succeeded", false,
		},
		`{"Reason":"FetchFailed","Block Manager Address":{"Executor ID":"1","Host":"h","Port":7},"Shuffle ID":2,"Map ID":3,` +
			`"Map Index":4,"Reduce ID":5,"Message":"m"}`: {
			"FetchFailed: m", "FetchFailed(BlockManagerId(1, h, 7, None), shuffleId=2, mapIndex=4, mapId=3, reduceId=5, message=\nm\n)", false,
		},
		`{"Reason":"FetchFailed","Shuffle ID":2,"Map ID":3,"Map Index":4,"Reduce ID":5,"Message":"m"}`: {
			"FetchFailed: m", "FetchFailed(null, shuffleId=2, mapIndex=4, mapId=3, reduceId=5, message=\nm\n)", false,
		},
		`{"Reason":"ExecutorLostFailure","Executor ID":"1","Exit Caused By App":true,"Loss Reason":"oom"}`: {
			"ExecutorLostFailure: oom", "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: oom", true,
		},
		`{"Reason":"ExecutorLostFailure","Executor ID":"1","Exit Caused By App":false,"Loss Reason":"preempted"}`: {
			"ExecutorLostFailure: preempted", "ExecutorLostFailure (executor 1 exited unrelated to the running tasks) Reason: preempted", false,
		},
		`{"Reason":"TaskCommitDenied","Job ID":1,"Partition ID":2,"Attempt Number":3}`: {
			"TaskCommitDenied", "TaskCommitDenied (Driver denied task commit) for job: 1, partition: 2, attemptNumber: 3", false,
		},
		`{"Reason":"Resubmitted"}`:    {"Resubmitted", "Resubmitted (resubmitted due to lost executor)", true},
		`{"Reason":"TaskResultLost"}`: {"TaskResultLost", "TaskResultLost (result lost from block manager)", true},
		`{"Reason":"UnknownReason"}`:  {"UnknownReason", "UnknownReason", true},
	} {
		end := eventOf(t, `{"Event":"SparkListenerTaskEnd","Task End Reason":`+reason+`}`).(*eventlog.TaskEnd)
		require.Equal(t, want.failure, end.Failure, reason)
		require.Equal(t, want.text, end.Error, reason)
		require.Equal(t, want.counts, end.CountsAsFailure, reason)
	}
}

// Texts of an event may be kept, though the memory of events is used again.
func TestTextsMayBeKept(t *testing.T) {
	var kept []string
	var lines strings.Builder
	for i := range 200 {
		text := strings.Repeat(string(rune('a'+i%26)), 10+i)
		lines.WriteString(`{"Event":"SparkListenerTaskEnd","Task Type":"` + text + `","Task Info":{"Executor ID":"` + text + `",` +
			`"Host":"` + text + `"},` +
			`"Task End Reason":{"Reason":"` + text + `","Description":"` + text + `","Class Name":"C"}}` + "\n")
	}
	_, err := eventlog.Lines(t.Context(), strings.NewReader(lines.String()), "log", func(e eventlog.Event) error {
		end := e.(*eventlog.TaskEnd)
		kept = append(kept, end.Type, end.Executor, end.Host, end.Outcome, strings.TrimPrefix(end.Failure, "C: "))
		return nil
	})
	require.NoError(t, err)
	require.Len(t, kept, 1000)
	for i, text := range kept {
		require.Equal(t, strings.Repeat(string(rune('a'+i/5%26)), 10+i/5), text)
	}
}

// The texts of plans and of executor metrics may be kept, too: short ones, escaped ones, and
// ones that are too long to be shared.
func TestTextsOfPlansMayBeKept(t *testing.T) {
	text := func(i int) string {
		return strings.Repeat(string(rune('a'+i%26)), 250+i%20) + []string{"", "\""}[i%2] + strconv.Itoa(i)
	}
	var lines strings.Builder
	const events = 300
	for i := range events {
		quoted := strconv.Quote(text(i))
		fmt.Fprintf(&lines, `{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":%d,"sparkPlanInfo":`+
			`{"nodeName":%[2]s,"simpleString":%[2]s,"children":[],"metrics":[{"name":%[2]s,"accumulatorId":1,"metricType":%[2]s}]}}`+"\n", i, quoted)
		fmt.Fprintf(&lines, `{"Event":"SparkListenerStageExecutorMetrics","Executor ID":%s,"Stage ID":%d}`+"\n", quoted, i)
	}
	var kept []string
	_, err := eventlog.Lines(t.Context(), strings.NewReader(lines.String()), "log", func(e eventlog.Event) error {
		switch e := e.(type) {
		case *eventlog.SQLStart:
			kept = append(kept, e.Plan.Name, e.Plan.Text, e.Plan.Metrics[0].Name, e.Plan.Metrics[0].Type)
		case *eventlog.StageExecutorMetrics:
			kept = append(kept, e.Executor)
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, kept, 5*events)
	for i, have := range kept {
		require.Equal(t, text(i/5), have)
	}
}
