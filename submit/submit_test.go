package submit_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
)

func TestSubmitRunsAndReportsAStep(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "job.py")
	o.Name, o.Args = "daily", []string{"--day", "monday", "--conf", "mine"}
	o.Conf = map[string]string{"spark.sql.shuffle.partitions": "8", "spark.executor.memory": "2g"}
	result, err := submit.Submit(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, types.StepStateCompleted, result.State)
	require.Empty(t, result.Warnings)
	require.Equal(t, []string{"application_1700000000000_0007"}, result.ApplicationIDs)
	require.Equal(t, "print('job.py')\n", w.sources[result.Application], "the node got the file")

	traceparent := platform.TraceparentOf(w.steps[0].Config.Args)
	require.Regexp(t, "^00-"+result.TraceID+"-[0-9a-f]{16}-01$", traceparent)
	require.Equal(t, []string{
		"spark-submit", "--deploy-mode", "client", "--name", "daily",
		"--conf", "spark.observatory.traceparent=" + traceparent,
		"--conf", "spark.executor.memory=2g", "--conf", "spark.sql.shuffle.partitions=8",
		result.Application, "--day", "monday", "--conf", "mine",
	}, w.steps[0].Config.Args)
	require.Equal(t, "command-runner.jar", *w.steps[0].Config.Jar)
	require.Equal(t, types.ActionOnFailureContinue, w.steps[0].ActionOnFailure)

	text, err := json.Marshal(result)
	require.NoError(t, err)
	require.Contains(t, string(text), `"state":"COMPLETED"`)
}

func TestSubmitUploadsOnce(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "job.py")
	first, err := submit.Submit(t.Context(), o)
	require.NoError(t, err)
	before := w.keys(t, string(platform.PrefixArtifacts))
	require.Len(t, before, 1)
	log := &progress{}
	o.Progress = log
	again, err := submit.Submit(t.Context(), o)
	require.NoError(t, err)
	require.Contains(t, log.text.String(), "already uploaded")
	require.Equal(t, before, w.keys(t, string(platform.PrefixArtifacts)))

	require.NoError(t, os.WriteFile(o.Application, []byte("print('changed')\n"), 0o600))
	changed, err := submit.Submit(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, first.Application, again.Application)
	require.NotEqual(t, first.Application, changed.Application)
	require.Equal(t, "print('changed')\n", w.sources[changed.Application])

	o.Application = changed.Application
	o.Bucket = ""
	_, err = submit.Submit(t.Context(), o)
	require.NoError(t, err, "an application in S3 needs no bucket")
}

func TestLogsExplainAFailedStep(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "fail.py")
	o.ShowLogs = true
	result, err := submit.Submit(t.Context(), o)
	require.ErrorIs(t, err, submit.ErrFailed)
	require.ErrorContains(t, err, "is FAILED: Application exception: exit code 1")
	first := "step did not complete: ValueError: no such day\n  at fail.py:3, in load: raise ValueError(day)\nstep " + result.StepID
	require.True(t, strings.HasPrefix(err.Error(), first), "the cause comes first: %s", err)
	const last = "\n  ValueError: no such day\nwhy it failed: ValueError: no such day\n  at fail.py:3, in load: raise ValueError(day)"
	require.True(t, strings.HasSuffix(err.Error(), last), "and once more after the log: %s", err)
	require.Equal(t, types.StepStateFailed, result.State)
	require.Len(t, result.Failure.Logs, 1)
	log := result.Failure.Logs[0]
	require.Len(t, log.Tail, 40)
	require.LessOrEqual(t, len(log.Tail[35]), 1<<14, "a long line is cut")
	require.Equal(t, "s3://data/emr-logs/"+w.cluster+"/steps/"+result.StepID+"/stderr.gz", log.URI)
	require.Equal(t, &submit.Cause{
		Exception: "ValueError: no such day", File: "/mnt/tmp/fail.py", Line: 3, Function: "load", Code: "raise ValueError(day)", Log: log.URI,
	}, result.Failure.Cause)
}

// Forty lines of a log would bury the cause: without ShowLogs the error says where they are.
func TestFailureWithoutItsLogs(t *testing.T) {
	w := newWorld(t)
	for name, logs := range map[string][]string{"fail.py": {"stderr"}, "print.py": {"stderr", "stdout"}} {
		result, err := submit.Submit(t.Context(), w.options(t, name))
		require.ErrorIs(t, err, submit.ErrFailed)
		want := "step did not complete: " + result.Failure.Cause.String() + "\nstep " + result.StepID + " of cluster " + w.cluster +
			" is FAILED: Application exception: exit code 1"
		for _, log := range logs {
			want += "\nlog: s3://data/emr-logs/" + w.cluster + "/steps/" + result.StepID + "/" + log + ".gz"
		}
		require.EqualError(t, err, want)
	}
}

func TestSubmitWaitsForALateLog(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "mute.py")
	o.LogWait, o.Silence = testTimeout.Scaled(), time.Millisecond
	o.Progress = &progress{react: map[string]func(){"the step's log is not in S3 yet, ": func() {
		require.NoError(t, w.putStderr(w.cluster, *w.steps[0].Id))
	}}}
	result, err := submit.Submit(t.Context(), o)
	require.ErrorIs(t, err, submit.ErrFailed)
	require.Contains(t, result.Failure.Logs[0].Tail, "ValueError: no such day")
}

// A job of more than five minutes has a log in S3 while it runs. Its failure is not in
// there yet.
func TestSubmitWaitsForTheRestOfALog(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "partial.py")
	o.LogWait = testTimeout.Scaled()
	o.Progress = &progress{react: map[string]func(){"the log was uploaded before the step ended": func() {
		require.NoError(t, w.putStderr(w.cluster, *w.steps[0].Id))
	}}}
	result, err := submit.Submit(t.Context(), o)
	require.ErrorIs(t, err, submit.ErrFailed)
	require.Equal(t, "ValueError: no such day", result.Failure.Cause.Exception)
}

func TestPartOfALogIsBetterThanNone(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "partial.py")
	o.LogWait = time.Second
	result, err := submit.Submit(t.Context(), o)
	require.ErrorIs(t, err, submit.ErrFailed)
	require.Equal(t, []string{"INFO SparkContext: Running Spark"}, result.Failure.Logs[0].Tail)
}

// A step may complete before EMR uploads its log. Submit says that the log is not in S3
// yet, and does not wait for it.
func TestMissingLogOfACompletedStepIsReported(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "silent.py")
	o.LogWait = testTimeout.Scaled()
	said := false
	o.Progress = &progress{react: map[string]func(){"is not in S3 yet; EMR uploads logs every five minutes": func() { said = true }}}
	result, err := submit.Submit(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, types.StepStateCompleted, result.State)
	require.True(t, said)
}

// A Python driver in client mode writes its errors to stdout.
func TestStdoutExplainsAFailedPythonStep(t *testing.T) {
	w := newWorld(t)
	o := w.options(t, "print.py")
	o.ShowLogs = true
	result, err := submit.Submit(t.Context(), o)
	require.ErrorIs(t, err, submit.ErrFailed)
	require.Len(t, result.Failure.Logs, 2)
	require.ErrorContains(t, err, "/stdout.gz:\n  no such table: orders")
	require.Equal(t, []string{"no such table: orders"}, result.Failure.Logs[1].Tail)
}

// A job that ends itself has no exception, and what EMR says of it is an information.
func TestExitCodeOfAFailedStep(t *testing.T) {
	w := newWorld(t)
	const want = "exit code 3 without an exception; the job's last lines:\n  WROTE 1\n  EXIT 2"
	for name, log := range map[string]string{"exit3.py": "/stdout.gz", "cluster.py": "/container_1700000000000_0007_02_000001/stdout.gz"} {
		result, err := submit.Submit(t.Context(), w.options(t, name))
		require.ErrorIs(t, err, submit.ErrFailed)
		require.Equal(t, want, result.Failure.Cause.String(), name)
		require.True(t, strings.HasSuffix(result.Failure.Cause.Log, log), result.Failure.Cause.Log)
		require.True(t, strings.HasPrefix(err.Error(), "step did not complete: "+want), err.Error())
		require.NotContains(t, result.Failure.Message, "MetricsSystemImpl")
		require.Equal(t, []string{"application_1700000000000_0007"}, result.ApplicationIDs)
	}
}

// YARN calls the node of an executor bad that ran out of memory; the executor's own log says so.
func TestExecutorOutOfMemory(t *testing.T) {
	result, err := submit.Submit(t.Context(), newWorld(t).options(t, "memory.py"))
	require.ErrorIs(t, err, submit.ErrFailed)
	require.Regexp(t, `^java.lang.OutOfMemoryError: Java heap space in an executor; .*ExecutorLostFailure`, result.Failure.Cause.String())
}

func TestCauseAsJSON(t *testing.T) {
	text, err := json.Marshal(submit.Failure{Reason: "Unknown Error.", Cause: &submit.Cause{
		Exception: "ValueError: no", File: "/tmp/job.py", Line: 3, Function: "main", Code: "raise ValueError(\"no\")", Log: "s3://logs/stdout.gz",
	}})
	require.NoError(t, err)
	require.JSONEq(t, `{"reason": "Unknown Error.", "cause": {"exception": "ValueError: no", "file": "/tmp/job.py", "line": 3,
		"function": "main", "code": "raise ValueError(\"no\")", "log": "s3://logs/stdout.gz"}}`, string(text))
}

func TestFailedStepWithoutLogs(t *testing.T) {
	w := newWorld(t)
	result, err := submit.Submit(t.Context(), w.options(t, "mute.py"))
	require.ErrorIs(t, err, submit.ErrFailed)
	require.Empty(t, result.Failure.Logs)
	require.Equal(t, "Application exception", result.Failure.Reason)
}

func TestTerminatingClusterIsRefused(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.store.SetClusterState(w.cluster, types.ClusterStateTerminating, types.ClusterStateChangeReason{
		Code: types.ClusterStateChangeReasonCodeUserRequest, Message: aws.String("Terminated by user request"),
	}))
	_, err := submit.Submit(t.Context(), w.options(t, "job.py"))
	require.ErrorContains(t, err, "(Terminated by user request): it accepts no steps; if it is a stack's, "+
		"`pulumi refresh --target \"**::emr-*\"`, then `pulumi up`")
	require.Empty(t, w.keys(t, ""), "nothing was uploaded")
	o := w.options(t, "job.py")
	o.Cluster = "j-ABSENT"
	_, err = submit.Submit(t.Context(), o)
	require.ErrorContains(t, err, "Cluster id 'j-ABSENT' is not valid.")
}

func TestValidateReportsEveryViolation(t *testing.T) {
	err := submit.Options{
		Cluster: "my-cluster", Application: "missing.py", Class: "Main", DeployMode: "local",
		Name: strings.Repeat("n", 257),
		Conf: map[string]string{
			"sql.shuffle.partitions": "8", "spark.hadoop.fs.s3a.secret.key": "hush",
			platform.SparkTraceparent: "00", platform.SparkStepParent: "00", platform.SparkSamplingRatio: "2",
		},
	}.Validate()
	for _, part := range []string{
		`cluster: "my-cluster": must be an EMR cluster id`, `application: "missing.py": no such file`,
		`class: "Main": only a .jar`, `bucket: "": must name the data bucket`, `deploy mode: "local"`,
		"name: 257 characters", "did you mean spark.sql.shuffle.partitions",
		"conf spark.hadoop.fs.s3a.secret.key: a step's arguments can be read", "conf spark.observatory.traceparent: is set by submit",
		"conf spark.observatory.step.parent: is set by submit", `conf spark.observatory.tracing.samplingRatio: "2": must be a number from 0 to 1`,
	} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), "hush")

	_, err = submit.Submit(t.Context(), submit.Options{Cluster: "j-1", Application: "notebook.ipynb"})
	require.ErrorContains(t, err, `application: "notebook.ipynb": must be a .jar or a .py`)
}

func TestArgumentsOverEMRsLimitsAreRejected(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.jar")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := submit.Submit(ctx, submit.Options{
		Cluster: "j-1", Bucket: bucket, Application: file, Class: "org.example.Main", Args: []string{strings.Repeat("x", 10240)},
	})
	require.ErrorContains(t, err, "EMR takes at most 10240")
}
