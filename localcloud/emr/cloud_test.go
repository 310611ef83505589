package emr_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsemr "github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
	"github.com/emr-observatory/emr-observatory/localcloud/region/regiontest"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

func TestMain(m *testing.M) { os.Exit(regiontest.Main(m)) }

// testTimeout bounds every wait, far above what any should take.
const testTimeout = testenv.Job

const bucket = "data"

// cloud is EMR on the region's machines, with its API and S3.
type cloud struct {
	*emr.Service
	emr.Resources
	t       *testing.T
	api     *awsemr.Client
	clock   *clocktest.FakePassiveClock
	mu      sync.Mutex
	exposed map[string]string // addresses of web pages by name
	front   *httptest.Server  // of the UIs
}

// gateway is the S3 that all tests share.
var gateway = sync.OnceValues(func() (*s3.Gateway, error) {
	binary, err := servers.Find(context.Background(), "versitygw")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "s3-")
	if err != nil {
		return nil, err
	}
	g, err := s3.Start(context.Background(), s3.Options{
		Binary: binary, Dir: dir, Address: regiontest.Gateway + ":7070", Region: "us-east-1",
		AccessKey: "AKIATEST", SecretKey: "secret-of-the-test", Log: io.Discard,
	})
	if err != nil {
		return nil, err
	}
	_, err = g.Client.CreateBucket(context.Background(), &awss3.CreateBucketInput{Bucket: aws.String(bucket)})
	return g, err
})

var addresses atomic.Int32

// newCloud returns EMR on the region. It terminates the clusters when the test ends.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	r := regiontest.Region(t)
	objects, err := gateway()
	require.NoError(t, err)
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	java, err := exec.LookPath("java")
	require.NoError(t, err)
	java, err = filepath.EvalSymlinks(java)
	require.NoError(t, err)
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	store.Account = emrapi.Account{Region: "us-east-1", ID: "123456789012"}
	c := &cloud{t: t, clock: clocktest.NewFakePassiveClock(time.Now()), exposed: map[string]string{}}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	c.Service = &emr.Service{
		Region: r, Store: store, Objects: objects, Applications: tree, JavaHome: filepath.Dir(filepath.Dir(java)),
		AWSRegion: "us-east-1", AccountID: "123456789012", Gateway: regiontest.Gateway, Clock: c.clock, Log: log,
		Credentials: func(context.Context, string) (machine.RoleCredentials, error) {
			return machine.RoleCredentials{RoleName: "nodes", AccessKeyID: objects.AccessKey, SecretAccessKey: objects.SecretKey}, nil
		},
		Address: func(string) (string, error) {
			return fmt.Sprintf("10.0.2.%d/%d", addresses.Add(1), regiontest.Prefix), nil
		},
		Expose: func(name, address string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.exposed[name] = address
		},
	}
	c.serveUIs()
	server, err := emrapi.New(store, c.Service, log, emrapi.Options{UIs: c.UIs})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = http.Serve(l, server) }()
	c.api = awsemr.New(awsemr.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + l.Addr().String()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), RetryMaxAttempts: 1, HTTPClient: testenv.AWSClient(),
	})
	c.API = c.api
	t.Cleanup(func() {
		l.Close()
		server.Close()
		for _, id := range store.ClusterIDs() {
			_ = c.Terminate(context.Background(), id)
		}
	})
	return c
}

// putAction puts a bootstrap action's script into S3 and returns the action's input.
func (c *cloud) putAction(key, script string) map[string]any {
	c.t.Helper()
	require.NoError(c.t, c.Objects.Put(c.t.Context(), bucket, key, []byte(script)))
	return map[string]any{"name": key, "path": "s3://" + bucket + "/" + key, "args": []string{"the", "arguments"}}
}

// inputs returns the inputs of a cluster resource with one core node.
func inputs(actions ...map[string]any) map[string]any {
	return map[string]any{
		"name": "test", "releaseLabel": "emr-7.10.0", "applications": []string{"Hadoop", "Spark"}, "logUri": "s3://" + bucket + "/logs/",
		"serviceRole": "emr", "ec2Attributes": map[string]any{"subnetId": "subnet-1", "instanceProfile": "nodes"},
		"masterInstanceGroup": map[string]any{"instanceType": "m6g.xlarge"},
		"coreInstanceGroup":   map[string]any{"instanceType": "r6g.2xlarge", "instanceCount": 1},
		"bootstrapActions":    actions,
	}
}

// onlyCluster returns the only cluster of the store.
func (c *cloud) onlyCluster() types.Cluster {
	c.t.Helper()
	ids := c.Store.ClusterIDs()
	require.Len(c.t, ids, 1)
	found, err := c.Store.Cluster(ids[0])
	require.NoError(c.t, err)
	return found
}

// instances returns the cluster's instances by instance type.
func (c *cloud) instances(id string) map[string]types.Instance {
	c.t.Helper()
	list, err := c.Store.Instances(id)
	require.NoError(c.t, err)
	out := map[string]types.Instance{}
	for _, i := range list {
		out[*i.InstanceType] = i
	}
	return out
}

// log reads a log that was pushed to S3.
func (c *cloud) log(key string) string {
	c.t.Helper()
	packed, err := c.Objects.Get(c.t.Context(), "s3://"+bucket+"/logs/"+key)
	require.NoError(c.t, err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(c.t, err)
	text, err := io.ReadAll(z)
	require.NoError(c.t, err)
	return string(text)
}

// requireRemoved fails unless the cluster's machines are removed and its instances
// terminated.
func (c *cloud) requireRemoved(id string) {
	c.t.Helper()
	instances, err := c.Store.Instances(id)
	require.NoError(c.t, err)
	for _, i := range instances {
		_, runs := c.Region.Machine(*i.Ec2InstanceId)
		require.False(c.t, runs)
		require.NoDirExists(c.t, c.Region.Root(*i.Ec2InstanceId))
		require.Equal(c.t, types.InstanceStateTerminated, i.Status.State)
	}
}
