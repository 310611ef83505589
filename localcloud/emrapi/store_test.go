package emrapi_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
)

// writerDirEnv makes the test binary a process that writes to a store in that folder
// until it is killed.
const writerDirEnv = "EMRAPI_TEST_WRITER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDirEnv); dir != "" {
		writeForever(dir)
	}
	os.Exit(m.Run())
}

// writeForever updates the only cluster and prints each number that it has written.
func writeForever(dir string) {
	store, err := emrapi.Open(dir)
	for i := 0; err == nil; i++ {
		name := fmt.Sprint(i)
		err = store.UpdateCluster(store.ClusterIDs()[0], func(c *types.Cluster) {
			c.Name = &name
			c.Tags = make([]types.Tag, 2000) // long enough to be cut while written
		})
		fmt.Println(name)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestKilledWriterLeavesACompleteRecord(t *testing.T) {
	dir := t.TempDir()
	store, err := emrapi.Open(dir)
	require.NoError(t, err)
	id := emrapi.NewID("j")
	require.NoError(t, store.PutCluster(types.Cluster{Id: &id, Name: aws.String("-1")}, nil, nil))
	for round := range 5 {
		writer := exec.CommandContext(t.Context(), os.Args[0])
		writer.Env = append(os.Environ(), writerDirEnv+"="+dir)
		out, err := writer.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, writer.Start())
		lines := bufio.NewScanner(out)
		last := ""
		for i := 0; i < 5+round && lines.Scan(); i++ {
			last = lines.Text()
		}
		require.NoError(t, writer.Process.Kill())
		for lines.Scan() {
			last = lines.Text()
		}
		require.Error(t, writer.Wait(), "it was killed")

		reopened, err := emrapi.Open(dir)
		require.NoError(t, err)
		cluster, err := reopened.Cluster(id)
		require.NoError(t, err)
		var reported, kept int
		_, err = fmt.Sscan(last, &reported)
		require.NoError(t, err)
		_, err = fmt.Sscan(*cluster.Name, &kept)
		require.NoError(t, err)
		require.GreaterOrEqual(t, kept, reported, "what a call reported as done is kept")
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		require.Equal(t, []string{filepath.Join(dir, id+".json")}, left, "no partial file is left")
	}
}

func TestOpenNamesEveryBrokenRecord(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "j-A.json"), []byte(`{"Cluster":`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "j-B.json"), []byte(`{"Cluster":{"Id":"j-C","Name":"c"}}`), 0o600))
	_, err := emrapi.Open(dir)
	require.ErrorContains(t, err, "j-A.json: not a cluster record")
	require.ErrorContains(t, err, "remove the file to forget the cluster")
	require.ErrorContains(t, err, "j-B.json: this cluster's record must be named j-C.json")
}

func TestFailedWriteChangesNothing(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t)
	parent := t.TempDir()
	broken, err := emrapi.Open(filepath.Join(parent, "x"))
	require.NoError(t, err)
	require.NoError(t, broken.PutCluster(types.Cluster{Id: &id, Name: aws.String("old")}, nil, nil))
	require.NoError(t, os.RemoveAll(filepath.Join(parent, "x")))
	require.Error(t, broken.UpdateCluster(id, func(c *types.Cluster) { c.Name = aws.String("new") }))
	kept, err := broken.Cluster(id)
	require.NoError(t, err)
	require.Equal(t, "old", *kept.Name)
}

func TestStoreReturnsCopies(t *testing.T) {
	c := newCloud(t)
	id := c.putCluster(t)
	copied, err := c.store.Cluster(id)
	require.NoError(t, err)
	copied.Configurations[0].Properties["spark.ui.enabled"] = "changed"
	again, err := c.store.Cluster(id)
	require.NoError(t, err)
	require.Equal(t, "true", again.Configurations[0].Properties["spark.ui.enabled"])
	require.ErrorContains(t, c.store.UpdateCluster(id, func(c *types.Cluster) {
		c.Status.State = types.ClusterStateRunning
	}), "use SetClusterState")
}

func TestRestartFailsRunningStepsAndContinues(t *testing.T) {
	dir := t.TempDir()
	first := openCloud(t, dir)
	id, terminatingID := first.putCluster(t), first.putCluster(t)
	first.boot(t, id)
	steps := first.addSteps(t, id, types.ActionOnFailureContinue, "hold", "next")
	first.awaitStep(t, id, steps[0], types.StepStateRunning)
	first.http.Close()
	first.server.Close()
	require.NoError(t, first.store.SetClusterState(terminatingID, types.ClusterStateTerminating,
		types.ClusterStateChangeReason{Code: types.ClusterStateChangeReasonCodeUserRequest}))

	second := openCloud(t, dir)
	lost := second.awaitStep(t, id, steps[0], types.StepStateFailed)
	require.Equal(t, "The local cloud stopped while the step ran.", *lost.Status.FailureDetails.Message)
	require.NotNil(t, lost.Status.Timeline.EndDateTime)
	second.awaitStep(t, id, steps[1], types.StepStateCompleted)
	require.Equal(t, []string{"next"}, second.nodes.ranSteps())
	second.awaitState(t, terminatingID, types.ClusterStateTerminated)
	require.Equal(t, terminatingID, <-second.nodes.terminated)
}

func TestFailedTerminationIsReported(t *testing.T) {
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	n := &nodes{terminated: make(chan string, 1), terminateErr: fmt.Errorf("node ci-1 does not stop")}
	server, err := emrapi.New(store, n, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	c := &cloud{store: store}
	id := c.putCluster(t)
	require.NoError(t, store.SetClusterState(id, types.ClusterStateTerminating,
		types.ClusterStateChangeReason{Code: types.ClusterStateChangeReasonCodeUserRequest}))
	ended := c.awaitState(t, id, types.ClusterStateTerminatedWithErrors)
	require.Equal(t, types.ClusterStateChangeReasonCodeInternalError, ended.Status.StateChangeReason.Code)
	require.Equal(t, "node ci-1 does not stop", *ended.Status.StateChangeReason.Message)
}

// TestRandomStateChanges sets random states of clusters and steps: a rejected change
// leaves the state alone, what has ended stays ended, and the timeline never runs
// backwards.
func TestRandomStateChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	c := &cloud{store: store}
	var rejected, accepted int
	for range 20 {
		id := c.putCluster(t)
		ids, err := store.AddSteps(id, stepConfig("x", types.ActionOnFailureContinue))
		require.NoError(t, err)
		for range 30 {
			before, err := store.Cluster(id)
			require.NoError(t, err)
			steps, err := store.Steps(id)
			require.NoError(t, err)
			state := pick(random, before.Status.State.Values())
			if err := store.SetClusterState(id, state, types.ClusterStateChangeReason{}); err != nil {
				require.ErrorIs(t, err, emrapi.ErrTransition)
				rejected++
				after, err := store.Cluster(id)
				require.NoError(t, err)
				require.Equal(t, before, after)
			} else {
				accepted++
				require.False(t, before.Status.Timeline.EndDateTime != nil && before.Status.State != state)
			}
			next := pick(random, steps[0].Status.State.Values())
			if err := store.SetStepState(id, ids[0], next, nil); err == nil {
				require.False(t, emrapi.StepEnded(steps[0].Status.State) && steps[0].Status.State != next)
			}
		}
		checkTimes(t, store, id)
	}
	require.Greater(t, rejected, 100)
	require.Greater(t, accepted, 50)
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

// checkTimes requires an end time of exactly what has ended.
func checkTimes(t *testing.T, store *emrapi.Store, id string) {
	t.Helper()
	cluster, err := store.Cluster(id)
	require.NoError(t, err)
	ended := slices.Contains([]types.ClusterState{types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors}, cluster.Status.State)
	require.Equal(t, ended, cluster.Status.Timeline.EndDateTime != nil)
	steps, err := store.Steps(id)
	require.NoError(t, err)
	for _, step := range steps {
		require.Equal(t, emrapi.StepEnded(step.Status.State), step.Status.Timeline.EndDateTime != nil)
		if ended {
			require.True(t, emrapi.StepEnded(step.Status.State))
		}
	}
}
