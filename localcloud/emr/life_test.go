package emr_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region"
	"github.com/emr-observatory/emr-observatory/platform"
)

const idleTimeout = 2 * time.Minute

// The life of one real cluster: HDFS, YARN and steps, a core group that grows, and
// termination when it is idle. The subtests share the cluster, which is slow to
// start.
func TestLifeOfACluster(t *testing.T) {
	c := newCloud(t)
	in := inputs(c.putAction("first.sh", identityScript))
	in["autoTerminationPolicy"] = map[string]any{"idleTimeout": int(idleTimeout.Seconds())}
	id, err := c.CreateCluster(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, types.ClusterStateWaiting, c.onlyCluster().Status.State)
	require.Contains(t, c.exposed, emr.ResourceManager)

	t.Run("a step that completes", func(t *testing.T) { c.testCompletedStep(t, id) })
	t.Run("a step that fails", func(t *testing.T) { c.testFailedStep(t, id) })
	t.Run("a step whose log is late", func(t *testing.T) { c.testLateLog(t, id) })
	t.Run("a step that is cancelled", func(t *testing.T) { c.testCancelledStep(t, id) })
	t.Run("the history of a step's application", func(t *testing.T) { c.testHistory(t, id) })
	t.Run("copies of event logs", func(t *testing.T) { c.testEventLogCopies(t, id) })
	t.Run("the core group grows", func(t *testing.T) { c.testGrowingCoreGroup(t, id, in) })
	t.Run("the core group shrinks", func(t *testing.T) { c.testShrinkingCoreGroup(t, id, in) })
	t.Run("an idle cluster is terminated", func(t *testing.T) { c.testIdleTermination(t, id, in) })
}

// addStep adds a step to the cluster and returns its id.
func (c *cloud) addStep(t *testing.T, id string, args ...string) string {
	t.Helper()
	out, err := c.api.AddJobFlowSteps(t.Context(), &awsemr.AddJobFlowStepsInput{JobFlowId: &id, Steps: []types.StepConfig{{
		Name: aws.String(args[0]), ActionOnFailure: types.ActionOnFailureContinue,
		HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: args},
	}}})
	require.NoError(t, err)
	return out.StepIds[0]
}

// awaitStep waits until a step is in a state and returns it. It fails if the step
// ends in another state.
func (c *cloud) awaitStep(t *testing.T, id, step string, want types.StepState) types.Step {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout.Scaled())
	defer cancel()
	for {
		changed := c.Store.Changed()
		steps, err := c.Store.Steps(id)
		require.NoError(t, err)
		for _, s := range steps {
			if *s.Id == step && s.Status.State == want {
				return s
			} else if *s.Id == step && len(want) > 0 && s.Status.Timeline.EndDateTime != nil {
				require.Equal(t, want, s.Status.State, "%+v", s.Status.FailureDetails)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			require.NoError(t, ctx.Err(), "step %s is not %s", step, want)
		}
	}
}

func (c *cloud) testCompletedStep(t *testing.T, id string) {
	step := c.addStep(t, id, "bash", "-c", `id -un; echo "$EMR_STEP_ID" >&2
		echo in | java -cp "$HADOOP_CONF_DIR:/usr/lib/hadoop/lib/*" org.apache.hadoop.fs.FsShell -put - /tmp/in`)
	c.awaitStep(t, id, step, types.StepStateCompleted)
	require.Equal(t, "hadoop\n", c.log(platform.StepLogKey(id, step, "stdout")))
	require.True(t, strings.HasPrefix(c.log(platform.StepLogKey(id, step, "stderr")), step+"\n"))
	require.Contains(t, c.log(platform.StepLogKey(id, step, "controller")), "ended with exit code 0")
	require.Empty(t, c.log(platform.StepLogKey(id, step, "syslog")))
}

func (c *cloud) testFailedStep(t *testing.T, id string) {
	step := c.addStep(t, id, "bash", "-c",
		"echo before >&2; echo 'Caused by: java.io.IOException: no such bucket' >&2; echo after >&2; exit 1")
	failed := c.awaitStep(t, id, step, types.StepStateFailed)
	require.Equal(t, "Caused by: java.io.IOException: no such bucket", *failed.Status.FailureDetails.Message)
	key := platform.StepLogKey(id, step, "stderr")
	require.Equal(t, "s3://data/logs/"+key, *failed.Status.FailureDetails.LogFile)
	require.Contains(t, c.log(key), "before\n", "the log that the failure names is there")
	require.Equal(t, types.ClusterStateWaiting, c.awaitNoRunningStep(t, id), "CONTINUE keeps the cluster")
}

// testLateLog runs a step that ends before its log is in S3, as on EMR.
func (c *cloud) testLateLog(t *testing.T, id string) {
	c.LogDelay = 15 * time.Second
	defer func() { c.LogDelay = 0 }()
	step := c.addStep(t, id, "bash", "-c", "echo printed")
	c.awaitStep(t, id, step, types.StepStateCompleted)
	key := platform.StepLogKey(id, step, "stdout")
	_, err := c.Objects.Get(t.Context(), "s3://"+bucket+"/logs/"+key)
	require.Error(t, err, "the step ended before its log was pushed")
	testenv.Eventually(t, func() bool {
		_, err := c.Objects.Get(t.Context(), "s3://"+bucket+"/logs/"+key)
		return err == nil
	}, testTimeout, 100*time.Millisecond)
	require.Equal(t, "printed\n", c.log(key))
}

// awaitNoRunningStep waits until no step runs and returns the cluster's state.
func (c *cloud) awaitNoRunningStep(t *testing.T, id string) types.ClusterState {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout.Scaled())
	defer cancel()
	require.NoError(t, c.Store.Wait(ctx, id, func(c types.Cluster) bool { return c.Status.State != types.ClusterStateRunning }))
	return c.onlyCluster().Status.State
}

func (c *cloud) testCancelledStep(t *testing.T, id string) {
	step := c.addStep(t, id, "bash", "-c", "sleep 3600 & echo begun; wait")
	c.awaitStep(t, id, step, types.StepStateRunning)
	next := c.addStep(t, id, "true")
	out, err := c.api.CancelSteps(t.Context(), &awsemr.CancelStepsInput{
		ClusterId: &id, StepIds: []string{step, next}, StepCancellationOption: types.StepCancellationOptionTerminateProcess,
	})
	require.NoError(t, err)
	require.Len(t, out.CancelStepsInfoList, 2)
	c.awaitStep(t, id, step, types.StepStateCancelled)
	c.awaitStep(t, id, next, types.StepStateCancelled)
	require.NotContains(t, c.log(platform.StepLogKey(id, step, "controller")), "exit code 0")
	master, ok := c.Region.Machine(*c.instances(id)["m6g.xlarge"].Ec2InstanceId)
	require.True(t, ok)
	testenv.Eventually(t, func() bool {
		res, err := master.Run(t.Context(), machine.Exec{Argv: []string{"pgrep", "-x", "sleep"}})
		return err == nil && res.ExitCode == 1
	}, testTimeout, 50*time.Millisecond, "something of the step is left")
}

func (c *cloud) testGrowingCoreGroup(t *testing.T, id string, in map[string]any) {
	in = c.change(t, id, in, map[string]any{"coreInstanceGroup": map[string]any{"instanceType": "r6g.2xlarge", "instanceCount": 2}})
	groups, err := c.api.ListInstanceGroups(t.Context(), &awsemr.ListInstanceGroupsInput{ClusterId: &id})
	require.NoError(t, err)
	core := groups.InstanceGroups[1]
	require.Equal(t, []int32{2, 2}, []int32{*core.RequestedInstanceCount, *core.RunningInstanceCount})
	list, err := c.Store.Instances(id)
	require.NoError(t, err)
	require.Len(t, list, 3)
	added := list[2]
	stdout := c.log(id + "/node/" + *added.Ec2InstanceId + "/bootstrap-actions/1/stdout.gz")
	require.Equal(t, "hadoop the arguments r6g.2xlarge\n", stdout, "it was bootstrapped")
	hosts := c.yarnHosts(t)
	require.Len(t, hosts, 2)
	require.Contains(t, hosts, *added.PrivateDnsName, "it is in YARN")
	master, ok := c.Region.Machine(*list[0].Ec2InstanceId)
	require.True(t, ok)
	lookup := machine.Exec{Argv: []string{"getent", "hosts", *added.PrivateDnsName}}
	require.NoError(t, master.Must(t.Context(), lookup), "the primary node resolves its name")
	require.NoError(t, c.UpdateCluster(t.Context(), id, in, in), "the same count again changes nothing")
	require.Len(t, c.yarnHosts(t), 2)
}

// testShrinkingCoreGroup removes one of two core nodes. A file of HDFS with one replica
// outlives the node on which it was.
func (c *cloud) testShrinkingCoreGroup(t *testing.T, id string, in map[string]any) {
	grown := maps.Clone(in)
	grown["coreInstanceGroup"] = map[string]any{"instanceType": "r6g.2xlarge", "instanceCount": 2}
	put := c.addStep(t, id, "bash", "-c", `for i in $(seq 8); do head -c 100000 /dev/urandom >/tmp/f$i; done
		java -cp "$HADOOP_CONF_DIR:/usr/lib/hadoop/lib/*" org.apache.hadoop.fs.FsShell -put /tmp/f? /tmp/`)
	c.awaitStep(t, id, put, types.StepStateCompleted)
	c.change(t, id, grown, map[string]any{"coreInstanceGroup": in["coreInstanceGroup"]})
	require.Len(t, c.yarnHosts(t), 1)
	get := c.addStep(t, id, "bash", "-c", `mkdir /tmp/got && cd /tmp/got
		java -cp "$HADOOP_CONF_DIR:/usr/lib/hadoop/lib/*" org.apache.hadoop.fs.FsShell -get '/tmp/f?' . && for f in f?; do cmp $f /tmp/$f; done`)
	c.awaitStep(t, id, get, types.StepStateCompleted)
	list, err := c.Store.Instances(id)
	require.NoError(t, err)
	left := 0
	for _, i := range list {
		if i.Status.State == types.InstanceStateTerminated {
			require.NoDirExists(t, c.Region.Root(*i.Ec2InstanceId))
			left++
		}
	}
	require.Equal(t, 1, left)
}

// yarnHosts returns the host names of the ResourceManager's running nodes.
func (c *cloud) yarnHosts(t *testing.T) []string {
	t.Helper()
	res, err := http.Get("http://" + c.exposed[emr.ResourceManager] + "/ws/v1/cluster/nodes?states=RUNNING")
	require.NoError(t, err)
	defer res.Body.Close()
	var answer struct {
		Nodes []struct{ NodeID string }
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&answer))
	hosts := make([]string, 0, len(answer.Nodes))
	for _, n := range answer.Nodes {
		host, _, _ := strings.Cut(n.NodeID, ":")
		hosts = append(hosts, host)
	}
	return hosts
}

// sessionScript is a Spark application that runs until /tmp/end exists.
const sessionScript = `import os, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
open("/tmp/begun", "w").close()
while not os.path.exists("/tmp/end"):
    time.sleep(0.1)
print("counted", spark.sparkContext.parallelize(range(10), 2).count())
`

// runSession runs sessionScript on the primary node, not as a step, with one executor
// unless options say otherwise. It calls during
// while the application runs, then ends it and returns its output.
func runSession(t *testing.T, master *region.Machine, during func(), options ...string) string {
	t.Helper()
	require.NoError(t, master.Must(t.Context(), machine.Exec{Argv: []string{"rm", "-f", "/tmp/begun", "/tmp/end", "/tmp/failed"}}))
	if len(options) == 0 {
		options = []string{"--num-executors", "1"}
	}
	require.NoError(t, os.WriteFile(filepath.Join(master.Root, "tmp/session.py"), []byte(sessionScript), 0o644))
	ended := make(chan machine.ExecResult, 1)
	go func() {
		res, err := master.Run(context.WithoutCancel(t.Context()), machine.Exec{User: "hadoop", Argv: []string{"bash", "-c",
			"spark-submit --conf spark.dynamicAllocation.enabled=false " + strings.Join(options, " ") +
				" /tmp/session.py || touch /tmp/failed"}})
		if err != nil {
			res.Tail += err.Error()
		}
		ended <- res
	}()
	const begun = "until [ -e /tmp/begun -o -e /tmp/failed ]; do sleep 0.1; done; test ! -e /tmp/failed"
	res, err := master.Run(t.Context(), machine.Exec{Argv: []string{"bash", "-c", begun}})
	require.NoError(t, err)
	if res.ExitCode != 0 {
		require.Fail(t, (<-ended).Tail)
	}
	end := func() error {
		return master.Must(context.WithoutCancel(t.Context()), machine.Exec{Argv: []string{"touch", "/tmp/end"}})
	}
	defer func() { _ = end() }() // if during fails, nothing may wait for the application without end
	during()
	require.NoError(t, end())
	return (<-ended).Tail
}

func (c *cloud) testIdleTermination(t *testing.T, id string, in map[string]any) {
	stateAfter := func(d time.Duration) types.ClusterState {
		c.clock.SetTime(c.clock.Now().Add(d))
		c.TerminateIdle(t.Context())
		return c.onlyCluster().Status.State
	}
	require.Equal(t, types.ClusterStateWaiting, c.awaitNoRunningStep(t, id))
	require.Equal(t, types.ClusterStateWaiting, stateAfter(time.Hour), "idle time counts from the first check")
	require.Equal(t, types.ClusterStateWaiting, stateAfter(idleTimeout-time.Second))
	c.awaitStep(t, id, c.addStep(t, id, "true"), types.StepStateCompleted)
	require.Equal(t, types.ClusterStateWaiting, c.awaitNoRunningStep(t, id))
	require.Equal(t, types.ClusterStateWaiting, stateAfter(2*time.Second), "even a short step restarts the idle time")
	master, ok := c.Region.Machine(*c.instances(id)["m6g.xlarge"].Ec2InstanceId)
	require.True(t, ok)
	touch := machine.Exec{Argv: []string{"bash", "-c", "mkdir -p /emr/metricscollector && touch /emr/metricscollector/isbusy"}}
	require.NoError(t, master.Must(t.Context(), touch))
	require.Equal(t, types.ClusterStateWaiting, stateAfter(idleTimeout), "a program outside YARN has touched the file")

	opened, err := c.api.GetOnClusterAppUIPresignedURL(t.Context(), &awsemr.GetOnClusterAppUIPresignedURLInput{
		ClusterId: &id, OnClusterAppUIType: types.OnClusterAppUITypeSparkHistoryServer,
	})
	require.NoError(t, err)
	c.openUI(t, opened.PresignedURL)
	require.Equal(t, types.ClusterStateWaiting, stateAfter(idleTimeout), "a page of the cluster was used")

	out := runSession(t, master, func() {
		require.Equal(t, types.ClusterStateWaiting, stateAfter(time.Hour))
		require.Equal(t, types.ClusterStateWaiting, stateAfter(time.Hour), "an application in YARN is activity, even without a step")
	})
	require.Contains(t, out, "counted 10")

	applications := c.yarnApplications(t)
	require.Len(t, applications, 2)

	in = c.change(t, id, in, map[string]any{"terminationProtection": true})
	require.Equal(t, types.ClusterStateWaiting, stateAfter(idleTimeout), "a protected cluster stays")
	require.ErrorContains(t, c.DeleteCluster(t.Context(), id), "protected from termination")
	c.change(t, id, in, map[string]any{"terminationProtection": false})
	testenv.Eventually(t, func() bool { // once YARN has closed the application
		return stateAfter(idleTimeout) != types.ClusterStateWaiting
	}, testenv.Arrival, 100*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout.Scaled())
	defer cancel()
	require.NoError(t, c.Store.Wait(ctx, id, func(c types.Cluster) bool { return c.Status.State == types.ClusterStateTerminated }))
	require.Contains(t, *c.onlyCluster().Status.StateChangeReason.Message, "idle")
	c.requireRemoved(id)
	c.requireHistory(t, id, applications)
	require.NoError(t, c.DeleteCluster(t.Context(), id), "a terminated cluster may be terminated again")
}
