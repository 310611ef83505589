package senders_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi/emrapitest"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/redelivery"
	"github.com/emr-observatory/emr-observatory/status"
	"github.com/emr-observatory/emr-observatory/status/senders"
)

// nodes lists the addresses of a cluster's nodes, a page for each, and fails for a cluster without any.
type nodes struct {
	addresses map[string][]string
	asked     int
}

// ListInstances implements emr.ListInstancesAPIClient.
func (n *nodes) ListInstances(_ context.Context, in *emr.ListInstancesInput, _ ...func(*emr.Options)) (*emr.ListInstancesOutput, error) {
	n.asked++
	rest := n.addresses[*in.ClusterId]
	if len(rest) == 0 {
		return nil, errors.New("ThrottlingException: Rate exceeded")
	}
	page := 0
	if in.Marker != nil {
		page = len(*in.Marker)
	}
	out := &emr.ListInstancesOutput{Instances: []types.Instance{{PrivateIpAddress: aws.String(rest[page])}}}
	if page+1 < len(rest) {
		out.Marker = aws.String("xxxxxxxxxx"[:page+1])
	}
	return out, nil
}

// relay is the real relay, with what it was told last.
type relay struct {
	*httptest.Server
	told string
}

func startRelay(t *testing.T) *relay {
	t.Helper()
	whole, err := redelivery.New([]string{"a=http://x:1"}, nil)
	require.NoError(t, err)
	r := &relay{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		body, _ := io.ReadAll(in.Body)
		r.told = string(body)
		in.Body = io.NopCloser(bytes.NewReader(body))
		whole.Handler().ServeHTTP(w, in)
	}))
	t.Cleanup(r.Close)
	return r
}

func TestTheRelayKnowsWhoseNodesSend(t *testing.T) {
	store, err := emrapi.Open(t.TempDir())
	require.NoError(t, err)
	api, err := emrapi.New(store, emrapitest.NoNodes{}, slog.New(slog.DiscardHandler), emrapi.Options{})
	require.NoError(t, err)
	server := httptest.NewServer(api)
	t.Cleanup(func() { server.Close(); api.Close() })
	client := emr.New(emr.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 1, HTTPClient: testenv.AWSClient(),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	var ids []string
	for range 2 {
		id, err := store.PutJobFlow(emrapitest.JobFlow())
		require.NoError(t, err)
		ids = append(ids, id)
	}
	to := startRelay(t)
	config := status.Config{Endpoints: map[platform.Workload]status.Endpoint{platform.WorkloadRedelivery: {URL: to.URL}}}
	source := status.Source{Client: http.DefaultClient, Config: config, Clusters: status.NewClusterReader(client, config)}
	listed := &nodes{addresses: map[string][]string{ids[0]: {"10.0.1.5", "10.0.1.6"}, ids[1]: {"10.0.1.7"}}}
	r := senders.New(source, listed)
	now := time.Now()

	r.Round(t.Context(), now)
	require.Empty(t, r.Problems())
	require.Empty(t, to.told, "EMR was asked about no cluster yet: the relay keeps what it knows")

	require.Empty(t, source.Clusters.Refresh(t.Context(), append(ids, "j-FORGED"), now))
	r.Round(t.Context(), now)
	require.Empty(t, r.Problems())
	require.JSONEq(t, `{"10.0.1.5": "`+ids[0]+`", "10.0.1.6": "`+ids[0]+`", "10.0.1.7": "`+ids[1]+`"}`, to.told)
	asked := listed.asked
	r.Round(t.Context(), now.Add(30*time.Second))
	require.Equal(t, asked, listed.asked, "within a minute EMR is not asked again")

	listed.addresses[ids[0]] = nil
	r.Round(t.Context(), now.Add(2*time.Minute))
	require.Len(t, r.Problems(), 1)
	require.Contains(t, r.Problems()[0], "list the nodes of cluster "+ids[0]+", whose limits they share: ")
	require.Contains(t, to.told, "10.0.1.6", "the last answer stands")

	to.Close()
	r.Round(t.Context(), now.Add(3*time.Minute))
	require.Contains(t, r.Problems()[len(r.Problems())-1], "tell the relay whose nodes send: ")
}
