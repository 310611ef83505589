package submit_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/submit"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

const (
	bucket      = "data"
	testTimeout = testenv.Job
)

// world is EMR's API and a real S3 gateway. The name of an
// application decides how its step ends: fail.py fails with a log, print.py with
// two, mute.py without one, partial.py with one from before its end; silent.py completes without one; hold.py runs until
// releaseHold is closed; others complete with a log.
type world struct {
	emrapitest.NoNodes
	aws     aws.Config
	s3      *s3.Client
	store   *emrapi.Store
	cluster string
	objects string // folder of S3's objects

	releaseHold chan struct{}
	mu          sync.Mutex
	steps       []types.Step
	sources     map[string]string // application URI to what the node fetched from there
}

// newWorld starts the servers and puts a running cluster into the store, whose jobs have
// spans.
func newWorld(t *testing.T) *world { return newWorldSampling(t, "1") }

// newWorldSampling is newWorld with a sampling ratio of the cluster's jobs; "" = jobs
// have no spans.
func newWorldSampling(t *testing.T, ratio string) *world {
	t.Helper()
	w := &world{releaseHold: make(chan struct{}), sources: map[string]string{}}
	properties := map[string]string{"spark.ui.enabled": "true"}
	if ratio != "" {
		properties[platform.SparkSamplingRatio] = ratio
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "local")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "local-secret")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	url, objects := startVersityGW(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", url)
	w.objects = objects

	var err error
	w.store, err = emrapi.Open(t.TempDir())
	require.NoError(t, err)
	server, err := emrapi.New(w.store, w, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	served := httptest.NewServer(server)
	t.Cleanup(func() { served.Close(); server.Close() })
	t.Setenv("AWS_ENDPOINT_URL_EMR", served.URL)

	w.aws, err = config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	w.s3 = s3.NewFromConfig(w.aws, func(o *s3.Options) { o.UsePathStyle = true })
	_, err = w.s3.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(bucket)})
	require.NoError(t, err)

	w.cluster = emrapitest.PutCluster(t, w.store, func(c *types.Cluster) {
		c.MasterPublicDnsName = aws.String("ip-10-0-0-5.ec2.internal")
		c.LogUri = aws.String("s3n://" + bucket + "/" + string(platform.PrefixEMRLogs))
		c.Configurations = []types.Configuration{
			{Classification: aws.String("core-site")}, {Classification: aws.String("spark-defaults"), Properties: properties},
		}
	})
	for _, state := range []types.ClusterState{types.ClusterStateBootstrapping, types.ClusterStateRunning} {
		require.NoError(t, w.store.SetClusterState(w.cluster, state, types.ClusterStateChangeReason{}))
	}
	return w
}

// RunStep downloads the application as a node does and writes the step's log.
func (w *world) RunStep(ctx context.Context, clusterID string, step types.Step) error {
	uri := applicationOf(step)
	key := strings.TrimPrefix(uri, "s3://"+bucket+"/")
	out, err := w.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key})
	if err != nil {
		return err
	}
	source, err := io.ReadAll(out.Body)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.steps = append(w.steps, step)
	w.sources[uri] = string(source)
	w.mu.Unlock()
	failure := &emrapi.StepFailure{Details: types.FailureDetails{
		Reason: aws.String("Application exception"), Message: aws.String("exit code 1"),
	}}
	switch path.Base(uri) {
	case "fail.py":
		if err := w.putStderr(clusterID, *step.Id); err != nil {
			return err
		}
		return failure
	case "print.py":
		err := errors.Join(w.putStderr(clusterID, *step.Id), w.putLog(clusterID, *step.Id, "stdout", "no such table: orders\n"))
		return errors.Join(err, failure)
	case "partial.py":
		uploaded := time.Now().Add(-time.Minute)
		err := w.putLog(clusterID, *step.Id, "stderr", "INFO SparkContext: Running Spark\n")
		key := string(platform.PrefixEMRLogs) + platform.StepLogKey(clusterID, *step.Id, "stderr")
		return errors.Join(err, os.Chtimes(filepath.Join(w.objects, bucket, key), uploaded, uploaded), failure)
	case "exit3.py":
		const last = "26/11/27 10:00:09 INFO MetricsSystemImpl: s3a-file-system metrics system shutdown complete."
		failure.Details.Message = aws.String(last)
		return errors.Join(
			w.putLog(clusterID, *step.Id, "stderr", "Submitted application application_1700000000000_0007\n"+last+"\n"),
			w.putLog(clusterID, *step.Id, "stdout", "WROTE 1\nEXIT 2\n"),
			w.putLog(clusterID, *step.Id, "controller", "2026-11-27T10:00:42.001Z INFO waitProcessCompletion ended with exit code 3\n"), failure)
	case "cluster.py":
		return errors.Join(w.putClusterMode(clusterID, *step.Id), failure)
	case "memory.py":
		return errors.Join(w.putLostExecutor(clusterID, *step.Id), failure)
	case "mute.py":
		return failure
	case "silent.py":
		return nil
	case "hold.py":
		select {
		case <-w.releaseHold:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return w.putStderr(clusterID, *step.Id)
}

// putStderr writes the log of a Spark driver that fails with a ValueError.
func (w *world) putStderr(cluster, step string) error {
	return w.putLog(cluster, step, "stderr", strings.Repeat("INFO Client: Application report for application_1700000000000_0007\n", 60)+
		strings.Repeat("x", 100_000)+"\nTraceback (most recent call last):\n"+
		"  File \"/mnt/tmp/fail.py\", line 3, in load\n    raise ValueError(day)\nValueError: no such day")
}

// putClusterMode writes the logs of a step whose driver ran in cluster mode, twice.
func (w *world) putClusterMode(cluster, step string) error {
	const application, container = "application_1700000000000_0007", "container_1700000000000_0007_"
	logs := map[string]string{
		platform.StepLogKey(cluster, step, "controller"): "2026-11-27T10:00:42.001Z INFO waitProcessCompletion ended with exit code 1\n",
		platform.StepLogKey(cluster, step, "stderr"): "26/11/27 10:00:09 INFO Client: Application report for " + application + "\n" +
			"\t diagnostics: User application exited with status 3\nException in thread \"main\" org.apache.spark.SparkException: Application " +
			application + " finished with failed status\n",
	}
	for name, lines := range map[string]string{
		"01_000001/stdout": "the first attempt\n", "02_000001/stdout": "WROTE 1\nEXIT 2\n", "02_000002/stdout": "an executor\n",
		"02_000001/stderr":                "26/11/27 10:00:08 INFO ApplicationMaster: Final app status: FAILED, exitCode: 3\n",
		"02_000001/directory.info.stderr": "total 4\n",
	} {
		logs[platform.ContainerLogPrefix(cluster, application)+container+name+".gz"] = lines
	}
	var errs []error
	for key, lines := range logs {
		errs = append(errs, w.putObject(key, lines))
	}
	return errors.Join(errs...)
}

// putLostExecutor writes the logs of a step whose executor ran out of memory.
func (w *world) putLostExecutor(cluster, step string) error {
	const application, container = "application_1700000000000_0007", "container_1700000000000_0007_01_000005"
	return errors.Join(
		w.putLog(cluster, step, "stderr", "26/11/27 10:00:09 INFO Client: Submitted application "+application+"\n"+
			"Exception in thread \"main\" org.apache.spark.SparkException: Job aborted due to stage failure: ExecutorLostFailure (executor 4 "+
			"exited caused by one of the running tasks) Reason: Container from a bad node: "+container+" on host: ip-10-0-0-6. Exit status: 137.\n"),
		w.putObject(platform.ContainerLogPrefix(cluster, application)+container+"/stdout.gz",
			"26/11/27 10:00:08 ERROR Executor: Exception in task 0.3\njava.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf\n"))
}

// putLog writes a step's log to S3, gzipped.
func (w *world) putLog(cluster, step, log, lines string) error {
	return w.putObject(platform.StepLogKey(cluster, step, log), lines)
}

// putObject writes a log below the cluster's log URI, gzipped.
func (w *world) putObject(key, lines string) error {
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	if _, err := writer.Write([]byte(lines)); err != nil {
		return err
	}
	if err := writer.Close(); err != nil {
		return err
	}
	_, err := w.s3.PutObject(context.Background(), &s3.PutObjectInput{
		Bucket: aws.String(bucket), Body: bytes.NewReader(zipped.Bytes()),
		Key: aws.String(string(platform.PrefixEMRLogs) + key),
	})
	return err
}

func applicationOf(step types.Step) string {
	for _, arg := range step.Config.Args {
		if strings.HasPrefix(arg, "s3://") {
			return arg
		}
	}
	return ""
}

// options returns the options of a submission of a new file with this name.
func (w *world) options(t *testing.T, name string) submit.Options {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte("print('"+name+"')\n"), 0o600))
	return submit.Options{
		AWS: w.aws, Cluster: w.cluster, Bucket: bucket, Application: file,
		Wait: true, PollInterval: 5 * time.Millisecond,
	}
}

// keys returns the objects below a prefix with their modification times.
func (w *world) keys(t *testing.T, prefix string) map[string]time.Time {
	t.Helper()
	out, err := w.s3.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), Prefix: &prefix})
	require.NoError(t, err)
	found := map[string]time.Time{}
	for _, object := range out.Contents {
		found[*object.Key] = *object.LastModified
	}
	return found
}

// startVersityGW starts an S3 gateway on an empty folder and returns its URL.
func startVersityGW(t *testing.T) (url, objects string) {
	t.Helper()
	binary, err := servers.Find(t.Context(), "versitygw")
	testenv.Require(t, err == nil, fmt.Sprint(err))
	address := testenv.Address(t)
	accounts, data := t.TempDir(), t.TempDir()
	gateway := exec.Command(binary, "--port", address, "--iam-dir", accounts, "posix", data)
	gateway.Env = append(os.Environ(), "ROOT_ACCESS_KEY=local", "ROOT_SECRET_KEY=local-secret")
	var output bytes.Buffer
	gateway.Stdout, gateway.Stderr = &output, &output
	require.NoError(t, gateway.Start())
	t.Cleanup(func() {
		_ = gateway.Process.Signal(syscall.SIGTERM)
		_ = gateway.Wait()
		if t.Failed() {
			t.Logf("versitygw: %s", output.String())
		}
	})
	testenv.Eventually(t, func() bool {
		response, err := http.Get("http://" + address)
		if err == nil {
			response.Body.Close()
		}
		return err == nil
	}, testTimeout, 20*time.Millisecond, "versitygw answers")
	return "http://" + address, data
}

// progress records progress messages and reacts to some of them.
type progress struct {
	mu    sync.Mutex
	text  strings.Builder
	react map[string]func() // called once, when a line contains the key
}

// Write takes one line.
func (p *progress) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(line)
	for key, do := range p.react {
		if strings.Contains(string(line), key) {
			delete(p.react, key)
			do()
		}
	}
	return len(line), nil
}
