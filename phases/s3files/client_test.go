package s3files_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/phases/s3files"
)

// Requests that run at the same time, again and again, do not dial again: a TLS handshake with S3 takes
// longer than a small object.
func TestConnectionsAreKept(t *testing.T) {
	const atOnce, rounds, ofSDK = 40, 5, 10 // ofSDK: idle connections that the SDK's own client keeps
	var dialled atomic.Int64
	var arrived sync.WaitGroup
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived.Done()
		arrived.Wait() // so that all run at a time
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			dialled.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	client := s3files.Client(aws.Config{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
	for range rounds {
		arrived.Add(atOnce)
		var done sync.WaitGroup
		for range atOnce {
			done.Go(func() {
				_, err := client.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String("lake")})
				assert.NoError(t, err)
			})
		}
		done.Wait()
	}
	// A connection may not be idle again yet when the next round begins.
	require.Less(t, dialled.Load(), int64(atOnce+(rounds-1)*(atOnce-ofSDK)/2))
}
