package fold_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/fold"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// adaptive returns a final plan of adaptive execution: a broadcast that is used twice,
// query stages, and operators within a WholeStageCodegen.
func adaptive() object {
	exchange := plan("BroadcastExchange", "BroadcastExchange [plan_id=1]", []object{metricOf("data size", 10)},
		plan("WholeStageCodegen (1)", "*(1)", []object{metricOf("duration", 11)},
			plan("Project ", "Project [k]", nil, plan("Scan parquet ", "Scan", []object{metricOf(" number of files read", 12)}))))
	return plan("AdaptiveSparkPlan", "AdaptiveSparkPlan isFinalPlan=true", nil,
		plan("WholeStageCodegen (2)", "*(2)", []object{metricOf("duration", 13)},
			plan("BroadcastHashJoin", "BroadcastHashJoin", []object{metricOf("number of output rows", 14)},
				plan("InputAdapter", "InputAdapter", nil, plan("BroadcastQueryStage", "BroadcastQueryStage 0", nil, exchange)),
				plan("InputAdapter", "InputAdapter", nil, plan("BroadcastQueryStage", "BroadcastQueryStage 1", nil,
					plan("ReusedExchange", "ReusedExchange [k]", nil, exchange))))))
}

// The last plan counts, numbered as Spark numbers it; metrics have the latest values that
// stages and the driver reported.
func TestPlans(t *testing.T) {
	s := shape{0, 0, 1}
	all, summary := foldLines(t, application(
		[]string{
			sqlStart(0, 500, plan("AdaptiveSparkPlan", "isFinalPlan=false", nil, plan("Old", "old", []object{metricOf("old", 1)}))),
			jobStart(0, 1000, object{"spark.sql.execution.id": "0"}, s), submitted(s, 1000),
			line(sqlEvents+"SparkListenerDriverAccumUpdates", object{"executionId": 0, "accumUpdates": [][]int64{{12, 3}, {14, 1}}}),
		},
		ran(try{id: 0, s: s, executor: "1", from: 1100, to: 1200}),
		[]string{
			line(sqlEvents+"SparkListenerSQLAdaptiveExecutionUpdate", object{
				"executionId": 0, "physicalPlanDescription": "äbcd", "sparkPlanInfo": adaptive(),
			}),
			completed(s, 1000, 1300, "", sqlAccumulator(14, 99), sqlAccumulator(13, 0)), jobEnd(0, 1300, ""), sqlEnd(0, 1400, ""),
		},
	))
	require.Empty(t, missing(summary))
	sql := table[tables.SQL](t, all)[0]
	require.Equal(t, []any{fold.SQLCompleted, int64(0), int64(4), int64(900)},
		[]any{sql.Status, *sql.RootSQLID, sql.PlanLength, *sql.DurationMillis})
	require.Equal(t, []int64{0}, sql.JobIDs)
	require.JSONEq(t, `{"nodes":[
		{"nodeId":6,"nodeName":"Scan parquet","wholeStageCodegenId":1}, {"nodeId":5,"nodeName":"Project","wholeStageCodegenId":1},
		{"nodeId":4,"nodeName":"WholeStageCodegen (1)"}, {"nodeId":3,"nodeName":"BroadcastExchange"},
		{"nodeId":2,"nodeName":"BroadcastHashJoin","wholeStageCodegenId":2}, {"nodeId":1,"nodeName":"WholeStageCodegen (2)"},
		{"nodeId":0,"nodeName":"AdaptiveSparkPlan"}],
		"edges":[{"fromId":2,"toId":0},{"fromId":3,"toId":2},{"fromId":5,"toId":3},{"fromId":6,"toId":5},{"fromId":3,"toId":2}]}`,
		sql.RawJSON)
	values := map[string]int64{}
	for _, n := range table[tables.SQLNode](t, all) {
		if n.Value != nil {
			values[n.Metric] = *n.Value
		}
	}
	require.Equal(t, map[string]int64{"number of files read": 3, "number of output rows": 99, "duration": 0}, values)
}

// A job that starts after the end of its execution still belongs to it; the meaning of
// statuses depends on the Spark version.
func TestExecutions(t *testing.T) {
	of := func(id string) object { return object{"spark.sql.execution.id": id} }
	old := strings.Replace(sqlStart(3, 10, plan("P", "p", nil)), `"rootExecutionId":3,`, "", 1)
	all, summary := foldLines(t, application([]string{
		sqlStart(1, 10, plan("P", "p", nil)), sqlEnd(1, 20, ""), jobStart(0, 30, of("1")), jobEnd(0, 40, "late"),
		sqlStart(2, 10, plan("P", "p", nil)), sqlEnd(2, 20, "boom"),
		old, jobStart(1, 30, of("3")), jobEnd(1, 40, "failed"), sqlEnd(3, 50, ""),
		sqlStart(4, 10, plan("P", "p", nil)),
	}))
	require.Empty(t, missing(summary), "lower ids belong to an earlier context")
	sql := table[tables.SQL](t, all)
	require.Equal(t, []string{fold.SQLCompleted, fold.SQLFailed, fold.SQLFailed, fold.SQLRunning},
		[]string{sql[0].Status, sql[1].Status, sql[2].Status, sql[3].Status})
	require.Equal(t, [][]int64{{0}, {0}}, [][]int64{sql[0].JobIDs, sql[0].FailedJobIDs})
	require.Equal(t, "boom", *sql[1].ErrorMessage)
	require.Nil(t, sql[3].DurationMillis)
}

// More executions than may wait are each written exactly once.
func TestManyExecutions(t *testing.T) {
	var lines []string
	for id := range int64(1000) {
		lines = append(lines, sqlStart(id, id, plan("P", "p", nil)), sqlEnd(id, id+1, ""))
	}
	late := line(sqlEvents+"SparkListenerDriverAccumUpdates", object{"executionId": 0, "accumUpdates": [][]int64{{1, 1}}})
	all, summary := foldLines(t, application(lines, []string{late, sqlEnd(0, 5, "again")}))
	require.Empty(t, missing(summary))
	require.Len(t, all["sql"], 1000)
	require.Equal(t, slices.Sorted(slices.Values(all["sql"])), slices.Compact(slices.Sorted(slices.Values(all["sql"]))))
}

// A secret gets into no row, wherever it occurs.
func TestSecrets(t *testing.T) {
	const canary = "k4n4ry-hunter2-hunter2"
	s := shape{0, 0, 2}
	failed := try{id: 0, s: s, executor: "2", from: 1100, to: 1200}
	end := strings.Replace(taskEnd(failed, "ExceptionFailure", 0), `"Description":"d"`, `"Description":"password=`+canary+`"`, 1)
	node := "Scan JDBCRelation(jdbc:x://u:" + canary + "@h/db)"
	lines := application([]string{
		environment(object{
			"spark.app.name": "--password " + canary, "spark.my.password": canary, "spark.hadoop.fs.s3a.secret.key": canary, "api_key": canary,
			"spark.x.url": "https://u:" + canary + "@h/", "spark.y.url": "https://b/k?X-Amz-Signature=" + canary + "&a=1",
			"spark.redaction.string.regex": "hush[a-z0-9-]*", "spark.redaction.regex": "(?i)salt", "my.salt": canary,
		}),
		line("SparkListenerEnvironmentUpdate", object{
			"Spark Properties": object{"spark.redaction.string.regex": "hush[a-z0-9-]*", "spark.redaction.regex": "(?i)salt", "my.salt": canary,
				"spark.yarn.queue": "secret=" + canary, "spark.master": "spark://u:" + canary + "@h:7077",
				"spark.submit.deployMode": "token=" + canary},
			"System Properties": object{"sun.java.command": "Submit --conf spark.a.token=" + canary + " --db-password " + canary + " x.py"},
			"Hadoop Properties": object{"javax.jdo.option.ConnectionPassword": canary}, "Metrics Properties": object{"sink.credential": canary},
		}),
		line("SparkListenerExecutorAdded", object{"Timestamp": at(0), "Executor ID": "2", "Executor Info": object{
			"Host": "h", "Total Cores": 1, "Log Urls": object{"stdout": "https://u:" + canary + "@h/l?token=" + canary},
		}}),
		sqlStart(0, 10, plan(node, "p", []object{metricOf("m", 1)})),
		jobStart(0, 1000, object{"spark.job.description": "hush" + canary, "spark.jobGroup.id": "salt=" + canary}, s),
		strings.Replace(submitted(s, 1000), `"Properties":{`, `"Properties":{"spark.scheduler.pool":"token=`+canary+`",`, 1),
		taskStart(failed), end, completed(s, 1000, 1300, "Bearer "+canary), executorRemoved("2", 1400, "secret: "+canary),
		jobEnd(0, 1500, "cannot connect: password='"+canary+"'"), sqlEnd(0, 1600, "SELECT 1 OPTIONS (password '"+canary+"')"),
	})
	lines = append(lines, strings.Replace(sqlStart(1, 10, plan("P", "p", nil)), `"description":"q"`, `"description":"pwd=`+canary+`"`, 1))
	all, summary := foldLines(t, lines)
	for name, rows := range all {
		for _, row := range rows {
			require.NotContains(t, row, "k4n4ry", name)
		}
	}
	text, err := json.Marshal(summary)
	require.NoError(t, err)
	require.NotContains(t, string(text), "k4n4ry")
	masked := map[string]bool{}
	for _, e := range table[tables.Environment](t, all) {
		masked[e.Name] = e.Masked
	}
	require.Equal(t, map[string]bool{
		"spark.redaction.string.regex": true, "spark.redaction.regex": false, "my.salt": true, "sun.java.command": true,
		"javax.jdo.option.ConnectionPassword": true, "sink.credential": true,
		"spark.yarn.queue": true, "spark.master": true, "spark.submit.deployMode": true,
	}, masked, "the last EnvironmentUpdate counts")
}
