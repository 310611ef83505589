package source_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/source"
)

// An object that S3 refuses, for lack of a permission or since it is archived, is named and
// costs no other application.
func TestObjectsThatS3Refuses(t *testing.T) {
	refused := map[string]string{
		"logs/application_1_0002": "AccessDenied", "logs/renamed": "AccessDenied", "logs/application_1_0003": "InvalidObjectState",
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.URL.Path, "/bucket/")
		switch {
		case r.URL.Query().Has("list-type"):
			fmt.Fprint(w, `<ListBucketResult>`)
			for _, name := range []string{"application_1_0001", "application_1_0002", "application_1_0003", "renamed"} {
				fmt.Fprintf(w, `<Contents><Key>logs/%s</Key><Size>9</Size><LastModified>2026-01-01T10:00:00.000Z</LastModified></Contents>`, name)
			}
			fmt.Fprint(w, `</ListBucketResult>`)
		case refused[key] != "":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `<Error><Code>%s</Code><Message>not this one</Message></Error>`, refused[key])
		default:
			fmt.Fprint(w, `{"Event":"SparkListenerApplicationStart","App ID":"application_1_0001","Timestamp":1}`+"\n")
		}
	}))
	t.Cleanup(server.Close)
	logs, err := source.NewLogs(t.Context(), aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}, "s3://bucket/logs", "")
	require.NoError(t, err)
	listed, err := logs.Discover(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 1)
	cluster, err := logs.Open(t.Context(), listed[0])
	require.NoError(t, err)
	read := 0
	for _, a := range cluster.Applications {
		if a.Err == nil {
			read++
			require.Equal(t, "application_1_0001", a.ID.ApplicationID)
			continue
		}
		require.ErrorIs(t, a.Err, fs.ErrPermission)
		code, known := refused[a.Log.Name]
		require.True(t, known)
		require.ErrorContains(t, a.Err, "s3://bucket/"+a.Log.Name+": permission denied")
		require.ErrorContains(t, a.Err, code)
	}
	require.Equal(t, 1, read)
	require.Len(t, cluster.Applications, 4)
}
