package s3_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// startGateway starts a gateway with a bucket "lake". Functions change its options.
func startGateway(t *testing.T, with ...func(*s3.Options)) *s3.Gateway {
	binary, err := servers.Find(t.Context(), servers.VersityGW)
	require.NoError(t, err)
	log, err := os.Create(filepath.Join(t.TempDir(), "gateway.log"))
	require.NoError(t, err)
	t.Cleanup(func() { log.Close() })
	o := s3.Options{
		Binary: binary, Dir: t.TempDir(), Address: testenv.Address(t), Region: "us-east-1",
		AccessKey: "key", SecretKey: "secret-key", Log: log,
	}
	for _, change := range with {
		change(&o)
	}
	g, err := s3.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(g.Stop)
	_, err = g.Client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("lake")})
	require.NoError(t, err)
	return g
}

func TestKilledGatewayRestartsWithItsObjects(t *testing.T) {
	g := startGateway(t)
	require.NoError(t, g.Put(t.Context(), "lake", "orders/part-0", []byte("one")))
	pid := g.PID()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	testenv.Eventually(t, func() bool {
		body, err := g.Get(t.Context(), "s3://lake/orders/part-0")
		return err == nil && string(body) == "one"
	}, testenv.Arrival, 100*time.Millisecond)
	require.NotEqual(t, pid, g.PID())
}

func TestEmptyDeletesEveryObject(t *testing.T) {
	g := startGateway(t)
	for i := range 3 {
		require.NoError(t, g.Put(t.Context(), "lake", fmt.Sprintf("a/%d", i), []byte("x")))
	}
	exists, err := g.Exists(t.Context(), "lake", "a/1")
	require.NoError(t, err)
	require.True(t, exists)
	require.NoError(t, g.Empty(t.Context(), "lake"))
	exists, err = g.Exists(t.Context(), "lake", "a/1")
	require.NoError(t, err)
	require.False(t, exists)
	_, err = g.Client.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: aws.String("lake")})
	require.NoError(t, err)
}
