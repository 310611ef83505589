package steplog_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/steplog"
)

func TestSplit(t *testing.T) {
	for uri, want := range map[string][2]string{
		"s3n://logs/a/b": {"logs", "a/b/"}, "s3://logs/": {"logs", ""}, "s3a://logs": {"logs", ""}, "s3://logs/a/": {"logs", "a/"},
	} {
		bucket, prefix, ok := steplog.Split(uri)
		require.True(t, ok, uri)
		require.Equal(t, want, [2]string{bucket, prefix}, uri)
	}
	for _, uri := range []string{"", "hdfs://logs/a", "s3://"} {
		_, _, ok := steplog.Split(uri)
		require.False(t, ok, uri)
	}
}

// The controller's log counts only if the program printed nothing.
func TestApplications(t *testing.T) {
	for _, test := range []struct {
		name string
		logs map[string]string
		want []string
		none bool
	}{
		{"printed", map[string]string{
			"stderr": "Submitted application_1700000000000_0007\ntracking application_1700000000000_0007\n",
			"stdout": "then application_1700000000000_0008\n", "controller": "application_1700000000000_0001",
		}, []string{"application_1700000000000_0007", "application_1700000000000_0008"}, false},
		{"nothing printed", map[string]string{"stderr": "", "controller": "application_1700000000000_0009"},
			[]string{"application_1700000000000_0009"}, false},
		{"none", nil, nil, true},
		{"a long line", map[string]string{"stdout": strings.Repeat("x", steplog.MaxLineBytes) + "\napplication_1_2\n"},
			[]string{"application_1_2"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			ids, err := steplog.Applications(t.Context(), bucketOf(t, test.logs), "s3n://logs/emr", "j-1", "s-1")
			if test.none {
				require.ErrorIs(t, err, steplog.ErrNone)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, ids)
		})
	}
}

func TestTruncatedLogIsAnError(t *testing.T) {
	whole := zipped("application_1_2\n")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(whole[:len(whole)-4]) }))
	t.Cleanup(server.Close)
	_, err := steplog.Applications(t.Context(), clientOf(server.URL), "s3://logs/emr", "j-1", "s-1")
	require.ErrorContains(t, err, "read s3://logs/emr/j-1/steps/s-1/stderr.gz: unexpected EOF")
}

// bucketOf returns a client of a server that serves the logs of step s-1 like S3.
func bucketOf(t *testing.T, logs map[string]string) *s3.Client {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, content := range logs {
			if r.URL.Path == "/logs/emr/j-1/steps/s-1/"+name+".gz" {
				_, _ = w.Write(zipped(content))
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchKey</Code><Message>absent</Message></Error>")
	}))
	t.Cleanup(server.Close)
	return clientOf(server.URL)
}

func clientOf(url string) *s3.Client {
	return s3.New(s3.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(url), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""), RetryMaxAttempts: 1,
	})
}

func zipped(content string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fmt.Fprint(w, content)
	_ = w.Close() // writes to memory
	return b.Bytes()
}
