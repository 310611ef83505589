package run_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/source"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

const (
	bucket  = "data"
	account = "123456789012"
	region  = "us-east-1"
)

// world is an account: EMR's API with clusters that have no nodes, their persistent UIs
// with real history servers, and a real S3.
type world struct {
	t   *testing.T
	aws aws.Config
	// unrecorded is aws for the test's own calls.
	unrecorded aws.Config
	store      *emrapi.Store
	s3         *s3.Gateway
	uis        *persistentui.Service

	mu       sync.Mutex
	calls    map[source.Call]int
	faults   map[string]error  // of operations, or of GetObject by key
	on       map[string]func() // called before operations
	newUIs   bool              // persistent UIs are as old as they are; else two hours older
	uiStatus string            // of persistent UIs, in place of their own
	// runtimeRoles makes EMR say that clusters have runtime roles.
	runtimeRoles bool
}

// busyStep is the name of a step that runs until the end of the test.
const busyStep = "busy"

// failingArg is the argument of a step that fails.
const failingArg = "fail"

// nodes complete each step at once, but for busyStep and those with failingArg.
type nodes struct{ emrapitest.NoNodes }

func (nodes) RunStep(ctx context.Context, _ string, step types.Step) error {
	switch {
	case aws.ToString(step.Name) == busyStep:
		<-ctx.Done()
	case slices.Contains(step.Config.Args, failingArg):
		return &emrapi.StepFailure{}
	}
	return nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, calls: map[source.Call]int{}}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local-secret", "AWS_REGION": region,
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	w.startS3()
	w.startUIs()
	var err error
	w.store, err = emrapi.Open(t.TempDir())
	require.NoError(t, err)
	w.store.Account = emrapi.Account{Region: region, ID: account}
	server, err := emrapi.New(w.store, nodes{}, slog.New(slog.DiscardHandler), emrapi.Options{UIs: w.uis})
	require.NoError(t, err)
	served := httptest.NewServer(server)
	t.Cleanup(func() { served.Close(); server.Close() })
	t.Setenv("AWS_ENDPOINT_URL_EMR", served.URL)
	w.unrecorded, err = config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	w.aws = w.unrecorded.Copy()
	w.aws.APIOptions = append(w.aws.APIOptions, w.record)
	return w
}

func (w *world) startS3() {
	binary, err := servers.Find(w.t.Context(), servers.VersityGW)
	testenv.Require(w.t, err == nil, fmt.Sprint(err))
	log, err := os.Create(filepath.Join(w.t.TempDir(), "gateway.log"))
	require.NoError(w.t, err)
	w.t.Cleanup(func() { log.Close() })
	w.s3, err = s3.Start(w.t.Context(), s3.Options{
		Binary: binary, Dir: w.t.TempDir(), Address: testenv.Address(w.t), Region: region,
		AccessKey: "local", SecretKey: "local-secret", Log: log,
	})
	require.NoError(w.t, err)
	w.t.Cleanup(w.s3.Stop)
	_, err = w.s3.Client.CreateBucket(w.t.Context(), &awss3.CreateBucketInput{Bucket: aws.String(bucket)})
	require.NoError(w.t, err)
	w.t.Setenv("AWS_ENDPOINT_URL_S3", "http://"+w.s3.Address)
}

func (w *world) startUIs() {
	tree, err := applications.Fetch(w.t.Context(), nil)
	testenv.Require(w.t, err == nil, fmt.Sprint(err))
	java, err := doctor.JDK()
	testenv.Require(w.t, err == nil, fmt.Sprint(err))
	w.uis = &persistentui.Service{
		Dir: w.t.TempDir(), Applications: tree, JavaHome: java, Clock: clock.RealClock{}, Log: slog.New(slog.NewTextHandler(w.t.Output(), nil)),
		Limits: persistentui.Limits{AttachTime: 100 * time.Millisecond}, Primary: func(id string) (string, error) {
			return "", fmt.Errorf("cluster %s has no nodes here", id)
		},
	}
	w.t.Cleanup(w.uis.Close)
	front := httptest.NewTLSServer(w.uis)
	w.t.Cleanup(front.Close)
	w.uis.Address = front.Listener.Addr().String()
	authority := filepath.Join(w.t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	require.NoError(w.t, os.WriteFile(authority, text, 0o600))
	w.t.Setenv("AWS_CA_BUNDLE", authority)
}

// cluster puts a running cluster of one primary node into the account.
func (w *world) cluster(name string, change ...func(*types.Cluster)) string {
	w.t.Helper()
	return w.start(emrapitest.JobFlow(), append(change, func(c *types.Cluster) { c.Name = aws.String(name) })...)
}

// start puts a running cluster into the account.
func (w *world) start(request emr.RunJobFlowInput, change ...func(*types.Cluster)) string {
	w.t.Helper()
	id, err := w.store.PutJobFlow(request)
	require.NoError(w.t, err)
	for _, change := range append(change, func(c *types.Cluster) {
		c.LogUri = aws.String("s3n://" + bucket + "/" + string(platform.PrefixEMRLogs))
	}) {
		require.NoError(w.t, w.store.UpdateCluster(id, change))
	}
	for _, state := range []types.ClusterState{types.ClusterStateBootstrapping, types.ClusterStateRunning} {
		require.NoError(w.t, w.store.SetClusterState(id, state, types.ClusterStateChangeReason{}))
	}
	return id
}

// end terminates a cluster, as if so long ago.
func (w *world) end(id string, ago time.Duration) {
	w.t.Helper()
	for _, state := range []types.ClusterState{types.ClusterStateTerminating, types.ClusterStateTerminated} {
		require.NoError(w.t, w.store.SetClusterState(id, state, types.ClusterStateChangeReason{
			Code: types.ClusterStateChangeReasonCodeUserRequest, Message: aws.String("User request"),
		}))
	}
	require.NoError(w.t, w.store.UpdateCluster(id, func(c *types.Cluster) {
		timeline := c.Status.Timeline
		timeline.EndDateTime = aws.Time(timeline.EndDateTime.Add(-ago))
		timeline.CreationDateTime = aws.Time(timeline.EndDateTime.Add(-time.Hour))
	}))
}

// ran adds an application's log to what EMR keeps of a cluster.
func (w *world) ran(cluster, golden, id string) {
	w.t.Helper()
	file := filepath.Join(w.uis.Dir, "logs", cluster, id)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(w.t, os.WriteFile(file, logOf(w.t, golden, id), 0o600))
}

// step adds a completed step that EMR says to have started the applications.
func (w *world) step(cluster string, ids ...string) string {
	w.t.Helper()
	step := w.addStep(cluster, "job")
	w.stepEnds(cluster, step, types.StepStateCompleted)
	if len(ids) > 0 {
		require.NoError(w.t, w.store.SetStepApplications(cluster, step, "10.0.0.5:8032", ids))
	}
	return step
}

// addStep adds a pending step, which submits to Spark unless it has other arguments.
func (w *world) addStep(cluster, name string, args ...string) string {
	w.t.Helper()
	if args == nil {
		args = []string{"spark-submit"}
	}
	steps, err := w.store.AddSteps(cluster, types.StepConfig{
		Name: aws.String(name), ActionOnFailure: types.ActionOnFailureContinue,
		HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: args},
	})
	require.NoError(w.t, err)
	return steps[0]
}

// stepEnds waits until the server has ended a step, which must end in a state.
func (w *world) stepEnds(cluster, id string, in types.StepState) {
	w.t.Helper()
	var state types.StepState
	ended := func(types.Cluster) bool {
		steps, err := w.store.Steps(cluster)
		require.NoError(w.t, err)
		state = steps[slices.IndexFunc(steps, func(s types.Step) bool { return *s.Id == id })].Status.State
		return emrapi.StepEnded(state)
	}
	require.NoError(w.t, w.store.Wait(w.t.Context(), cluster, ended))
	require.Equal(w.t, in, state)
}

// busy makes a cluster run a step until the end of the test.
func (w *world) busy(cluster string) {
	w.t.Helper()
	w.addStep(cluster, busyStep)
	runs := func(c types.Cluster) bool { return c.Status.State == types.ClusterStateRunning }
	require.NoError(w.t, w.store.Wait(w.t.Context(), cluster, runs))
}

// putLog archives a log of a step.
func (w *world) putLog(cluster, step, log, text string) {
	w.t.Helper()
	w.putObject(platform.StepLogKey(cluster, step, log), text)
}

// putObject archives a log.
func (w *world) putObject(key, text string) {
	w.t.Helper()
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	fmt.Fprint(writer, text)
	require.NoError(w.t, writer.Close())
	require.NoError(w.t, w.s3.Put(w.t.Context(), bucket, string(platform.PrefixEMRLogs)+key, zipped.Bytes()))
}

// options are the default options for EMR and S3.
func (w *world) options() run.Options {
	o := defaults()
	o.Output, o.S3OutputPath, o.BatchDelay = "", "s3://"+bucket+"/lake/history/", 0
	return o
}

func (w *world) run(o run.Options) (run.Summary, *progress) {
	w.t.Helper()
	said := &progress{}
	summary, err := run.Run(w.t.Context(), w.aws, o, said)
	require.NoError(w.t, err)
	w.t.Log(said.text())
	return summary, said
}

// fail makes these operations, or GetObject of these keys, fail from now on, and no others.
func (w *world) fail(names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = map[string]error{}
	for _, name := range names {
		w.faults[name] = errors.New("the test's fault")
	}
}

// refuse makes an operation fail with EMR's error of that message from now on.
func (w *world) refuse(operation, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = map[string]error{operation: &types.InvalidRequestException{Message: aws.String(message)}}
}

// record notes the calls of AWS that are made, and lets those fail that the test wants to.
func (w *world) record(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Record",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
			middleware.InitializeOutput, middleware.Metadata, error,
		) {
			call := source.Call{Service: awsmiddleware.GetServiceID(ctx), Operation: awsmiddleware.GetOperationName(ctx)}
			call.Target = target(in.Parameters)
			w.mu.Lock()
			w.calls[call]++
			failing := w.faults[call.Operation]
			if get, is := in.Parameters.(*awss3.GetObjectInput); is {
				failing = w.faults[*get.Key]
			}
			w.mu.Unlock()
			if on := w.on[call.Operation]; on != nil {
				on()
			}
			if failing != nil {
				return middleware.InitializeOutput{}, middleware.Metadata{}, failing
			}
			out, metadata, err := next.HandleInitialize(ctx, in)
			if created, is := out.Result.(*emr.CreatePersistentAppUIOutput); is && w.runtimeRoles {
				created.RuntimeRoleEnabledCluster = aws.Bool(true)
			}
			if described, is := out.Result.(*emr.DescribePersistentAppUIOutput); is {
				w.change(described.PersistentAppUI)
			}
			return out, metadata, err
		}), middleware.After)
}

// change changes the description of a persistent UI as the test wants it.
func (w *world) change(ui *types.PersistentAppUI) {
	if w.uiStatus != "" {
		ui.PersistentAppUIStatus = aws.String(w.uiStatus)
	}
	if !w.newUIs {
		ui.CreationTime = aws.Time(ui.CreationTime.Add(-2 * time.Hour))
	}
}

// target is what a request of S3 is about, by its key; "" for other services.
func target(parameters any) source.Target {
	var key *string
	switch in := parameters.(type) {
	case *awss3.GetObjectInput:
		key = in.Key
	case *awss3.PutObjectInput:
		key = in.Key
	case *awss3.DeleteObjectInput:
		key = in.Key
	case *awss3.ListObjectsV2Input:
		key = in.Prefix
	default:
		return ""
	}
	for prefix, of := range map[string]source.Target{"lake/": source.Lake, "emr-logs/": source.StepLogs, "spark-logs/": source.EventLogs} {
		if strings.HasPrefix(aws.ToString(key), prefix) {
			return of
		}
	}
	return source.Target("unknown: " + aws.ToString(key))
}
