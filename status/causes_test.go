package status_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// importRecords stores records of logs, a second apart, up to now.
func importRecords(t *testing.T, logs string, records ...map[string]string) {
	t.Helper()
	var body strings.Builder
	for i, record := range records {
		record["_time"] = time.Now().Add(time.Duration(i-len(records)) * time.Second).UTC().Format(time.RFC3339Nano)
		require.NoError(t, json.NewEncoder(&body).Encode(record))
	}
	response, err := http.Post(logs+"/insert/jsonline?_stream_fields=service.name", "application/stream+json",
		strings.NewReader(body.String()))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	storetest.Get(t, logs+"/internal/force_flush")
}

// ofStep is a record of a step's log.
func ofStep(step, log, text string) map[string]string {
	return map[string]string{
		"_msg": text, string(platform.ServiceName): platform.ServiceStep, string(platform.StepID): step,
		string(platform.LogPath): "/mnt/var/log/hadoop/steps/" + step + "/" + log,
	}
}

// ofContainer is a record of a container's log.
func ofContainer(container, text string) map[string]string {
	const application = "application_1700000000000_0007"
	return map[string]string{
		"_msg": text, string(platform.ServiceName): platform.ServiceContainer, string(platform.SparkAppID): application,
		string(platform.ContainerID): "container_1700000000000_0007_" + container,
		string(platform.LogPath):     "/var/log/hadoop-yarn/containers/" + application + "/container_1700000000000_0007_" + container + "/stdout",
	}
}

// A failed step has its cause from its own logs: EMR copies some line of its stderr.
func TestCausesOfFailedSteps(t *testing.T) {
	logs := storetest.Logs(t)
	const last = "26/11/27 10:00:09 INFO MetricsSystemImpl: s3a-file-system metrics system shutdown complete."
	importRecords(t, logs,
		ofStep("s-EXIT", "stdout", "WROTE 1"), ofStep("s-EXIT", "stdout", "EXIT 2"), ofStep("s-EXIT", "stderr", last),
		ofStep("s-EXIT", "controller", "2026-11-27T10:00:42.001Z INFO waitProcessCompletion ended with exit code 3"),
		ofStep("s-RAISED", "stdout", "Traceback (most recent call last):\n  File \"/mnt/tmp/job.py\", line 4, in <module>\n    raise "+
			"ValueError(\"no\")\n"+
			"ValueError: no"), ofStep("s-RAISED", "stderr", last),
		ofStep("s-CLUSTER", "stderr", "26/11/27 10:00:09 ERROR Client: Application diagnostics message: User application exited with status 3"),
		ofStep("s-CLUSTER", "controller", "2026-11-27T10:00:42.001Z INFO waitProcessCompletion ended with exit code 1"),
		ofContainer("01_000002", "an executor"), ofContainer("01_000001", "no such table: orders"),
		ofStep("s-MEMORY", "stderr", "26/11/27 10:00:09 ERROR TaskSetManager: Task 0 in stage 1.0 failed 4 times; aborting job"),
		ofStep("s-MEMORY", "stderr", "Exception in thread \"main\" org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 "+
			"in stage 1.0 failed 4 times: ExecutorLostFailure (executor 4 exited caused by one of the running tasks) Reason: Container "+
			"from a bad node: container_1700000000000_0007_01_000005 on host: ip-10-0-0-6. Exit status: 137."),
		ofContainer("01_000005", "26/11/27 10:00:08 ERROR Executor: Exception in task 0.3 in stage 1.0\njava.lang.OutOfMemoryError: Java heap "+
			"space\n\tat java.util.Arrays.copyOf"),
		ofStep("s-DONE", "stdout", "Traceback (most recent call last):\nValueError: handled"))
	from := status.Source{Client: http.DefaultClient, Config: status.Config{Endpoints: map[platform.Workload]status.Endpoint{
		platform.WorkloadVictoriaLogs: {URL: logs},
	}}}
	started := time.Now().Add(-time.Minute)
	step := func(id string, state types.StepState) status.Step {
		return status.Step{ID: id, State: state, Started: &started, ApplicationIDs: []string{"application_1700000000000_0007"}}
	}
	steps := []status.Step{
		step("s-EXIT", types.StepStateFailed), step("s-RAISED", types.StepStateFailed), step("s-CLUSTER", types.StepStateFailed),
		step("s-NOTHING", types.StepStateFailed), step("s-DONE", types.StepStateCompleted), step("s-MEMORY", types.StepStateFailed),
	}
	require.NoError(t, from.AddCauses(t.Context(), steps))
	want := []string{
		"exit code 3 without an exception; the job's last lines:\n  WROTE 1\n  EXIT 2",
		"ValueError: no\n  at job.py:4, in <module>: raise ValueError(\"no\")",
		"exit code 3 without an exception; the job's last lines:\n  no such table: orders", "", "",
		"java.lang.OutOfMemoryError: Java heap space in an executor; org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 " +
			"in stage 1.0 failed 4 times: ExecutorLostFailure (executor 4 exited caused by one of the running tasks) Reason: Container " +
			"from a bad node: container_1700000000000_0007_01_000005 on host: ip-10-0-0-6. Exit status: 137.",
	}
	for i, step := range steps {
		require.Equal(t, want[i], step.Cause, step.ID)
	}
}
