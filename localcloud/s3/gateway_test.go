package s3_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/s3"
	"github.com/emr-observatory/emr-observatory/localcloud/servers"
)

func start(t *testing.T) *s3.Gateway {
	binary, err := servers.Find(t.Context(), servers.VersityGW)
	require.NoError(t, err)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, free.Close())
	log, err := os.Create(filepath.Join(t.TempDir(), "gateway.log"))
	require.NoError(t, err)
	t.Cleanup(func() { log.Close() })
	g, err := s3.Start(t.Context(), binary, t.TempDir(), free.Addr().String(), "us-east-1", "key", "secret-key", log)
	require.NoError(t, err)
	t.Cleanup(g.Stop)
	_, err = g.Client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("lake")})
	require.NoError(t, err)
	return g
}

func TestAKilledGatewayComesBackWithItsObjects(t *testing.T) {
	g := start(t)
	require.NoError(t, g.Put(t.Context(), "lake", "orders/part-0", []byte("one")))
	pid := g.PID()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Eventually(t, func() bool {
		body, err := g.Get(t.Context(), "s3://lake/orders/part-0")
		return err == nil && string(body) == "one"
	}, 30*time.Second, 100*time.Millisecond)
	require.NotEqual(t, pid, g.PID())
}

func TestEmptyTakesEveryObjectOfABucket(t *testing.T) {
	g := start(t)
	for i := range 3 {
		require.NoError(t, g.Put(t.Context(), "lake", fmt.Sprintf("a/%d", i), []byte("x")))
	}
	there, err := g.Exists(t.Context(), "lake", "a/1")
	require.NoError(t, err)
	require.True(t, there)
	require.NoError(t, g.Empty(t.Context(), "lake"))
	there, err = g.Exists(t.Context(), "lake", "a/1")
	require.NoError(t, err)
	require.False(t, there)
	_, err = g.Client.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: aws.String("lake")})
	require.NoError(t, err)
}
