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
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

	"github.com/emr-observatory/emr-observatory/localcloud/applications"
	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/region/regiontest"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/localcloud/servers"
)

func TestMain(m *testing.M) { os.Exit(regiontest.Main(m)) }

// patience bounds what is waited for; nothing should come near it.
const patience = 5 * time.Minute

const bucket = "data"

// cloud is an EMR on the region's machines, with S3 and the API before it.
type cloud struct {
	*emr.Service
	t      *testing.T
	api    *awsemr.Client
	clock  *clocktest.FakePassiveClock
	mu     sync.Mutex
	opened map[string]string // web pages by name
}

// gateway is the one S3 of the tests.
var gateway = sync.OnceValues(func() (*s3.Gateway, error) {
	binary, err := servers.Find(context.Background(), "versitygw")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "s3-")
	if err != nil {
		return nil, err
	}
	g, err := s3.Start(context.Background(), binary, dir, regiontest.Gateway+":7070", "us-east-1", "AKIATEST", "secret-of-the-test", io.Discard)
	if err != nil {
		return nil, err
	}
	_, err = g.Client.CreateBucket(context.Background(), &awss3.CreateBucketInput{Bucket: aws.String(bucket)})
	return g, err
})

var addresses atomic.Int32

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
	c := &cloud{t: t, clock: clocktest.NewFakePassiveClock(time.Now()), opened: map[string]string{}}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	c.Service = &emr.Service{
		Region: r, Store: store, Objects: objects, Applications: tree, JavaHome: filepath.Dir(filepath.Dir(java)),
		AWSRegion: "us-east-1", AccountID: "123456789012", Gateway: regiontest.Gateway, Clock: c.clock, Log: log,
		Address: func(string) (string, error) {
			return fmt.Sprintf("10.0.2.%d/%d", addresses.Add(1), regiontest.Prefix), nil
		},
		Expose: func(name, address string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.opened[name] = address
		},
	}
	server, err := emrapi.New(store, c.Service, c.Service, log)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = http.Serve(l, server) }() //nolint:gosec // a test
	c.api = awsemr.New(awsemr.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + l.Addr().String()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), RetryMaxAttempts: 1,
	})
	t.Cleanup(func() {
		l.Close()
		server.Close()
		for _, id := range store.ClusterIDs() {
			if c.Running(id) {
				_ = c.Terminate(context.Background(), id)
			}
		}
	})
	return c
}

// action puts a bootstrap action's script into S3.
func (c *cloud) action(key, script string) map[string]any {
	c.t.Helper()
	require.NoError(c.t, c.Objects.Put(c.t.Context(), bucket, key, []byte(script)))
	return map[string]any{"name": key, "path": "s3://" + bucket + "/" + key, "args": []string{"the", "arguments"}}
}

// inputs are a cluster resource's, with a core node.
func inputs(actions ...map[string]any) map[string]any {
	return map[string]any{
		"name": "test", "releaseLabel": "emr-7.10.0", "applications": []string{"Hadoop", "Spark"}, "logUri": "s3://" + bucket + "/logs/",
		"serviceRole": "emr", "ec2Attributes": map[string]any{"subnetId": "subnet-1", "instanceProfile": "nodes"},
		"masterInstanceGroup": map[string]any{"instanceType": "m6g.xlarge"},
		"coreInstanceGroup":   map[string]any{"instanceType": "r6g.2xlarge", "instanceCount": 1},
		"bootstrapActions":    actions,
	}
}

// only gives the one cluster of the store.
func (c *cloud) only() types.Cluster {
	c.t.Helper()
	ids := c.Store.ClusterIDs()
	require.Len(c.t, ids, 1)
	found, err := c.Store.Cluster(ids[0])
	require.NoError(c.t, err)
	return found
}

// instances are those of the cluster by instance type.
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

// log reads a pushed log.
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

func (c *cloud) gone(id string) {
	c.t.Helper()
	instances, err := c.Store.Instances(id)
	require.NoError(c.t, err)
	for _, i := range instances {
		_, runs := c.Region.Machine(*i.Ec2InstanceId)
		require.False(c.t, runs)
		require.NoDirExists(c.t, c.Region.Root(*i.Ec2InstanceId))
		require.Equal(c.t, types.InstanceStateTerminated, i.Status.State)
	}
	require.False(c.t, c.Running(id))
}

const whoAmI = `#!/bin/bash
t=$(curl -sX PUT http://169.254.169.254/latest/api/token -H 'X-aws-ec2-metadata-token-ttl-seconds: 60')
echo "$(id -un) $* $(curl -s -H "X-aws-ec2-metadata-token: $t" http://169.254.169.254/latest/meta-data/instance-type)"
`

func TestFailingBootstrapActionEndsTheCluster(t *testing.T) {
	c := newCloud(t)
	first := c.action("first.sh", whoAmI)
	failing := c.action("failing.sh", "#!/bin/bash\ngrep -q '\"isMaster\": false' /mnt/var/lib/info/instance.json && exit 0\nfor i in $(seq 500); do echo line $i >&2; done\nexit 3\n")
	never := c.action("never.sh", "#!/bin/bash\n")
	_, err := c.Create(t.Context(), inputs(first, failing, never))
	require.ErrorContains(t, err, "TERMINATED_WITH_ERRORS: BOOTSTRAP_FAILURE: On the primary instance")
	require.ErrorContains(t, err, "bootstrap action 2 (failing.sh) returned a non-zero return code 3; the end of its stderr:")
	require.ErrorContains(t, err, "line 500")
	require.NotContains(t, err.Error(), "line 1\n", "the end only")

	found := c.only()
	require.Equal(t, types.ClusterStateTerminatedWithErrors, found.Status.State)
	require.Equal(t, types.ClusterStateChangeReasonCodeBootstrapFailure, found.Status.StateChangeReason.Code)
	require.Len(t, found.Status.ErrorDetails, 1)
	require.Equal(t, "BOOTSTRAP_FAILURE_PRIMARY_WITH_NON_ZERO_CODE", *found.Status.ErrorDetails[0].ErrorCode)
	members := c.instances(*found.Id)
	for kind := range members {
		node := *found.Id + "/node/" + *members[kind].Ec2InstanceId + "/bootstrap-actions/"
		require.Equal(t, "hadoop the arguments "+kind+"\n", c.log(node+"1/stdout.gz"), "as hadoop, with its arguments, on the group's type")
	}
	primary := *found.Id + "/node/" + *members["m6g.xlarge"].Ec2InstanceId + "/bootstrap-actions/"
	require.True(t, strings.HasPrefix(c.log(primary+"2/stderr.gz"), "line 1\n"), "the whole log is under the log URI")
	require.Contains(t, c.log(primary+"2/controller.gz"), "waitProcessCompletion ended with exit code 3")
	there, err := c.Objects.Exists(t.Context(), bucket, "logs/"+primary+"3/controller.gz")
	require.NoError(t, err)
	require.False(t, there, "actions after a failed one do not run")
	c.gone(*found.Id)
}

func TestMissingBootstrapObject(t *testing.T) {
	c := newCloud(t)
	in := inputs(map[string]any{"name": "observatory", "path": "s3://" + bucket + "/none.sh"})
	delete(in, "coreInstanceGroup")
	_, err := c.Create(t.Context(), in)
	require.ErrorContains(t, err, "bootstrap action 1 (observatory) could not be downloaded: read s3://data/none.sh")
	found := c.only()
	require.Equal(t, types.ClusterStateTerminatedWithErrors, found.Status.State)
	require.Equal(t, types.ClusterStateChangeReasonCodeBootstrapFailure, found.Status.StateChangeReason.Code)
	require.Equal(t, "BOOTSTRAP_FAILURE_BA_DOWNLOAD_FAILED_PRIMARY", *found.Status.ErrorDetails[0].ErrorCode)
	c.gone(*found.Id)
}

func TestDaemonThatEndsIsToldWithItsLog(t *testing.T) {
	c := newCloud(t)
	in := inputs()
	delete(in, "coreInstanceGroup")
	in["configurationsJson"] = `[{"Classification":"yarn-env","Configurations":[{"Classification":"export","Properties":{"YARN_RESOURCEMANAGER_OPTS":"-XX:+NoSuchOption"}}]}]`
	_, err := c.Create(t.Context(), in)
	require.ErrorContains(t, err, "hadoop-yarn-resourcemanager.service on ip-10-0-2-")
	require.Regexp(t, `ended [3-9] times; the end of \S+/hadoop-yarn-resourcemanager-\S+.log:`, err.Error())
	require.ErrorContains(t, err, "Unrecognized VM option 'NoSuchOption'", "the end of the daemon's log")
	found := c.only()
	require.Equal(t, types.ClusterStateChangeReasonCodeInternalError, found.Status.StateChangeReason.Code)
	node := c.instances(*found.Id)["m6g.xlarge"]
	host, _, _ := strings.Cut(*node.PrivateDnsName, ".")
	require.Contains(t, c.log(*found.Id+"/node/"+*node.Ec2InstanceId+"/applications/hadoop-yarn/hadoop-yarn-resourcemanager-"+host+".log.gz"), "NoSuchOption")
	c.gone(*found.Id)
}

func TestInputsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(map[string]any)
		fault  string
	}{
		"no subnet":      {func(in map[string]any) { delete(in, "ec2Attributes") }, "ec2Attributes.subnetId"},
		"configurations": {func(in map[string]any) { in["configurationsJson"] = "[" }, "configurationsJson"},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputs()
			c.change(in)
			store, err := emrapi.Open(t.TempDir())
			require.NoError(t, err)
			s := &emr.Service{Store: store}
			_, err = s.Create(t.Context(), in)
			require.ErrorContains(t, err, c.fault)
			require.Empty(t, store.ClusterIDs())
		})
	}
}

// A process that ended took its machines along: no cluster of it may be shown
// as one that takes steps.
func TestClustersOfAnEarlierProcessHaveEnded(t *testing.T) {
	r := regiontest.Region(t)
	dir := t.TempDir()
	store, err := emrapi.Open(dir)
	require.NoError(t, err)
	path := map[types.ClusterState][]types.ClusterState{
		types.ClusterStateStarting:      nil,
		types.ClusterStateBootstrapping: {types.ClusterStateBootstrapping},
		types.ClusterStateWaiting:       {types.ClusterStateBootstrapping, types.ClusterStateWaiting},
		types.ClusterStateRunning:       {types.ClusterStateBootstrapping, types.ClusterStateWaiting, types.ClusterStateRunning},
		types.ClusterStateTerminating:   {types.ClusterStateTerminating},
		types.ClusterStateTerminated:    {types.ClusterStateTerminating, types.ClusterStateTerminated},
	}
	left := r.Root("i-left")
	require.NoError(t, os.MkdirAll(left, 0o755))
	ids := map[types.ClusterState]string{}
	for state, moves := range path {
		id := emrapi.NewID("j")
		ids[state] = id
		group := types.InstanceGroup{Id: aws.String("ig-1"), InstanceGroupType: types.InstanceGroupTypeMaster, RequestedInstanceCount: aws.Int32(1)}
		require.NoError(t, store.PutCluster(types.Cluster{Id: &id, Name: aws.String("test")}, []types.InstanceGroup{group}, nil))
		if state == types.ClusterStateRunning {
			require.NoError(t, store.PutInstance(id, types.Instance{Id: aws.String("ci-1"), Ec2InstanceId: aws.String("i-left"), InstanceGroupId: group.Id}))
		}
		for _, m := range moves {
			require.NoError(t, store.SetClusterState(id, m, types.ClusterStateChangeReason{}))
		}
	}
	store, err = emrapi.Open(dir)
	require.NoError(t, err)
	require.NoError(t, (&emr.Service{Region: r, Store: store}).EndLost())
	for state, id := range ids {
		found, err := store.Cluster(id)
		require.NoError(t, err)
		if state == types.ClusterStateTerminated {
			require.Equal(t, state, found.Status.State, "what had ended stays as it was")
			continue
		}
		require.Equal(t, types.ClusterStateTerminatedWithErrors, found.Status.State, "from %s", state)
		require.Contains(t, *found.Status.StateChangeReason.Message, "machines are gone")
	}
	require.NoDirExists(t, left)
}
