package emrapi_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
)

const testTimeout = testenv.Start

// cloud is a store, its server and client, with fake nodes.
type cloud struct {
	dir    string
	store  *emrapi.Store
	server *emrapi.Server
	http   *httptest.Server
	client *emr.Client
	nodes  *nodes
}

// nodes are fake nodes: launched and resized at once. A step named "fail" fails, "hold" runs
// until release is closed or it is cancelled, any other completes.
type nodes struct {
	store        *emrapi.Store
	failResize   error // returned by Resize; set while no group resizes
	resized      chan string
	mu           sync.Mutex
	order        []string // names of the steps that were started
	causes       []error  // of the contexts of interrupted steps
	release      chan struct{}
	terminated   chan string
	terminateErr error // returned by Terminate
}

// Launch sets a cluster to WAITING, or to RUNNING if it has work or ends without.
func (n *nodes) Launch(_ context.Context, id string) error {
	if err := n.store.SetClusterState(id, types.ClusterStateBootstrapping, types.ClusterStateChangeReason{}); err != nil {
		return err
	}
	return n.store.SetClusterState(id, types.ClusterStateRunning, types.ClusterStateChangeReason{})
}

func (n *nodes) Resize(_ context.Context, _, group string) error {
	select {
	case n.resized <- group:
	default: // nobody asks
	}
	return n.failResize
}

func (n *nodes) RunStep(ctx context.Context, _ string, step types.Step) error {
	n.mu.Lock()
	n.order = append(n.order, *step.Name)
	n.mu.Unlock()
	switch *step.Name {
	case "fail":
		return &emrapi.StepFailure{Details: types.FailureDetails{
			Reason: aws.String("Application exception"), Message: aws.String("exit code 1"),
			LogFile: aws.String("s3://data/emr-logs/steps/stderr.gz"),
		}}
	case "hold":
		select {
		case <-n.release:
			return nil
		case <-ctx.Done():
			n.mu.Lock()
			defer n.mu.Unlock()
			n.causes = append(n.causes, context.Cause(ctx))
			return context.Cause(ctx)
		}
	}
	return nil
}

func (n *nodes) Terminate(_ context.Context, clusterID string) error {
	n.terminated <- clusterID
	return n.terminateErr
}

// ranSteps returns the names of the steps that were started.
func (n *nodes) ranSteps() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.order...)
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	return openCloud(t, t.TempDir())
}

// openCloud opens the store in dir and serves it.
func openCloud(t *testing.T, dir string) *cloud {
	t.Helper()
	return newCloudOf(t, dir, func(n *nodes) emrapi.Nodes { return n })
}

// newCloudOf is openCloud with other nodes.
func newCloudOf(t *testing.T, dir string, of func(*nodes) emrapi.Nodes) *cloud {
	t.Helper()
	return newCloudWith(t, dir, of, emrapi.Options{})
}

func newCloudWith(t *testing.T, dir string, of func(*nodes) emrapi.Nodes, o emrapi.Options) *cloud {
	t.Helper()
	store, err := emrapi.Open(dir)
	require.NoError(t, err)
	store.Account = emrapi.Account{Region: "eu-west-1", ID: "123456789012"}
	n := &nodes{store: store, resized: make(chan string, 10), release: make(chan struct{}), terminated: make(chan string, 10)}
	server, err := emrapi.New(store, of(n), slog.New(slog.DiscardHandler), o)
	require.NoError(t, err)
	served := httptest.NewServer(server)
	t.Cleanup(func() { served.Close(); server.Close() })
	return &cloud{dir: dir, store: store, server: server, http: served, nodes: n, client: newClient(served.URL)}
}

func newClient(url string) *emr.Client {
	return emr.New(emr.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(url),
		Credentials:      credentials.NewStaticCredentialsProvider("local", "local", ""),
		RetryMaxAttempts: 1, HTTPClient: testenv.AWSClient(),
	})
}

// putCluster puts a cluster with a primary node and two core nodes into the store.
func (c *cloud) putCluster(t *testing.T, change ...func(*types.Cluster)) string {
	t.Helper()
	cluster := types.Cluster{
		Id: aws.String(emrapi.NewID("j")), Name: aws.String("test"), ReleaseLabel: aws.String("emr-7.10.0"),
		LogUri:       aws.String("s3n://data/emr-logs/"),
		Applications: []types.Application{{Name: aws.String("Spark"), Version: aws.String("3.5.5")}},
		Configurations: []types.Configuration{{
			Classification: aws.String("spark-defaults"), Properties: map[string]string{"spark.ui.enabled": "true"},
		}},
	}
	for _, f := range change {
		f(&cluster)
	}
	master, core := emrapi.NewID("ig"), emrapi.NewID("ig")
	require.NoError(t, c.store.PutCluster(cluster, []types.InstanceGroup{
		{Id: &master, InstanceGroupType: types.InstanceGroupTypeMaster, RequestedInstanceCount: aws.Int32(1)},
		{Id: &core, InstanceGroupType: types.InstanceGroupTypeCore, RequestedInstanceCount: aws.Int32(2)},
	}, []types.Command{{Name: aws.String("observatory"), ScriptPath: aws.String("s3://data/x.sh"), Args: []string{"10.0.0.4"}}}))
	for _, group := range []string{master, core, core} {
		require.NoError(t, c.store.PutInstance(*cluster.Id, types.Instance{
			Id: aws.String(emrapi.NewID("ci")), InstanceGroupId: aws.String(group),
		}))
	}
	return *cluster.Id
}

// boot sets a cluster and its instances to RUNNING, as the owner of nodes does.
func (c *cloud) boot(t *testing.T, id string) {
	t.Helper()
	instances, err := c.store.Instances(id)
	require.NoError(t, err)
	require.NoError(t, c.store.SetClusterState(id, types.ClusterStateBootstrapping, types.ClusterStateChangeReason{}))
	for _, state := range []types.InstanceState{types.InstanceStateBootstrapping, types.InstanceStateRunning} {
		for _, instance := range instances {
			require.NoError(t, c.store.SetInstanceState(id, *instance.Id, state, types.InstanceStateChangeReason{}))
		}
	}
	require.NoError(t, c.store.SetClusterState(id, types.ClusterStateRunning, types.ClusterStateChangeReason{}))
}

// awaitState blocks until the cluster is in a state.
func (c *cloud) awaitState(t *testing.T, id string, state types.ClusterState) types.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout.Scaled())
	defer cancel()
	require.NoError(t, c.store.Wait(ctx, id, func(cluster types.Cluster) bool { return cluster.Status.State == state }))
	cluster, err := c.store.Cluster(id)
	require.NoError(t, err)
	return cluster
}

// awaitStep blocks until a step is in a state and returns it from the API.
func (c *cloud) awaitStep(t *testing.T, cluster, id string, state types.StepState) types.Step {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout.Scaled())
	defer cancel()
	for {
		changed := c.store.Changed()
		got, err := c.client.DescribeStep(ctx, &emr.DescribeStepInput{ClusterId: &cluster, StepId: &id})
		require.NoError(t, err)
		if got.Step.Status.State == state {
			return *got.Step
		}
		require.Falsef(t, emrapi.StepEnded(got.Step.Status.State), "step ended %s, not %s", got.Step.Status.State, state)
		select {
		case <-changed:
		case <-ctx.Done():
			require.FailNow(t, "step stays "+string(got.Step.Status.State)+", wanted "+string(state))
		}
	}
}

// addSteps queues steps with these names, which decide how nodes ends them.
func (c *cloud) addSteps(t *testing.T, cluster string, action types.ActionOnFailure, names ...string) []string {
	t.Helper()
	input := &emr.AddJobFlowStepsInput{JobFlowId: &cluster}
	for _, name := range names {
		input.Steps = append(input.Steps, stepConfig(name, action))
	}
	out, err := c.client.AddJobFlowSteps(t.Context(), input)
	require.NoError(t, err)
	require.Len(t, out.StepIds, len(names))
	return out.StepIds
}

func stepConfig(name string, action types.ActionOnFailure) types.StepConfig {
	return types.StepConfig{
		Name: aws.String(name), ActionOnFailure: action,
		HadoopJarStep: &types.HadoopJarStepConfig{
			Jar: aws.String("command-runner.jar"), Args: []string{"spark-submit", "s3://data/job.py", "--day", "1"},
			Properties: []types.KeyValue{{Key: aws.String("k"), Value: aws.String("v")}},
		},
	}
}

// requireInvalid checks that err is the SDK's InvalidRequestException.
func requireInvalid(t *testing.T, err error, message string) {
	t.Helper()
	var invalid *types.InvalidRequestException
	require.ErrorAsf(t, err, &invalid, "%T", err)
	require.Contains(t, invalid.ErrorMessage(), message)
}
