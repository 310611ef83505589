package emrapi_test

import (
	_ "embed"
	"encoding/pem"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

//go:embed testdata/uis.py
var uisScript string

// uis are the pages of a cloud, with their front and clock.
type uis struct {
	*persistentui.Service
	front *httptest.Server
	clock *clocktest.FakePassiveClock
}

// openUICloud opens the store in dir and serves it with pages.
func openUICloud(t *testing.T, dir string, attachTime time.Duration) (*cloud, *uis) {
	t.Helper()
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	java, err := doctor.JDK()
	require.NoError(t, err)
	u := &uis{clock: clocktest.NewFakePassiveClock(time.Now())}
	u.Service = &persistentui.Service{
		Dir: t.TempDir(), Applications: tree, JavaHome: java, Clock: u.clock, Log: slog.New(slog.DiscardHandler),
		Limits: persistentui.Limits{AttachTime: attachTime},
	}
	t.Cleanup(u.Close)
	u.front = httptest.NewTLSServer(u)
	t.Cleanup(u.front.Close)
	u.Address = u.front.Listener.Addr().String()
	return newCloudWith(t, dir, func(n *nodes) emrapi.Nodes { return n }, emrapi.Options{UIs: u}), u
}

// TestBoto3OpensPersistentUIs uses the operations on UIs with AWS's Python SDK, and
// the URL that they return with Python's own client.
func TestBoto3OpensPersistentUIs(t *testing.T) {
	c, u := openUICloud(t, t.TempDir(), 15*time.Second)
	id := c.putCluster(t)
	c.boot(t, id)
	inS3 := c.putCluster(t, func(cluster *types.Cluster) {
		cluster.Configurations = []types.Configuration{{
			Classification: aws.String("spark-defaults"), Properties: map[string]string{"spark.eventLog.dir": "s3://data/spark"},
		}}
	})
	several, group := emrapi.NewID("j"), emrapi.NewID("ig")
	require.NoError(t, c.store.PutCluster(types.Cluster{Id: &several, Name: aws.String("three")}, []types.InstanceGroup{
		{Id: &group, InstanceGroupType: types.InstanceGroupTypeMaster, RequestedInstanceCount: aws.Int32(3)},
	}, nil))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: u.front.Certificate().Raw})
	require.NoError(t, os.WriteFile(ca, certificate, 0o600))
	require.Equal(t, "boto3 opened it\n", c.runPython(t, uisScript, id, inS3, several, ca))
}

// A persistent UI, also one in STARTING, outlives the process. The quota counts it until
// the history of its cluster has expired.
func TestPersistentUIsAreKept(t *testing.T) {
	dir := t.TempDir()
	c, _ := openUICloud(t, dir, time.Hour)
	id := c.putCluster(t)
	arn := aws.String("arn:aws:elasticmapreduce:eu-west-1:123456789012:cluster/" + id)
	var created *emr.CreatePersistentAppUIOutput
	for range 200 {
		var err error
		created, err = c.client.CreatePersistentAppUI(t.Context(), &emr.CreatePersistentAppUIInput{TargetResourceArn: arn})
		require.NoError(t, err)
	}
	c.http.Close()
	c.server.Close()

	c, u := openUICloud(t, dir, time.Millisecond)
	testenv.Eventually(t, func() bool {
		out, err := c.client.DescribePersistentAppUI(t.Context(), &emr.DescribePersistentAppUIInput{
			PersistentAppUIId: created.PersistentAppUIId,
		})
		require.NoError(t, err)
		return *out.PersistentAppUI.PersistentAppUIStatus == "ATTACHED"
	}, testTimeout, 20*time.Millisecond)
	create := func() error {
		_, err := c.client.CreatePersistentAppUI(t.Context(), &emr.CreatePersistentAppUIInput{TargetResourceArn: arn})
		return err
	}
	requireInvalid(t, create(), "limit of 200")
	require.NoError(t, c.store.SetClusterState(id, types.ClusterStateTerminating, types.ClusterStateChangeReason{}))
	c.awaitState(t, id, types.ClusterStateTerminatedWithErrors)
	requireInvalid(t, create(), "limit of 200")
	u.clock.SetTime(time.Now().Add(persistentui.Retention + time.Minute))
	require.NoError(t, create())
}
