package source_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/source"
)

// pages responds to ListClusters: pages of one cluster each, in no order. It records the
// times of requests.
type pages struct {
	pages     int
	throttled int         // first requests, which are refused
	at        []time.Time // of requests
}

func (p *pages) Do(r *http.Request) (*http.Response, error) {
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.at = append(p.at, time.Now())
	status := http.StatusOK
	var body string
	if len(p.at) <= p.throttled {
		status, body = http.StatusBadRequest, `{"__type":"ThrottlingException","message":"Rate exceeded"}`
	} else {
		n := 0
		if _, marker, ok := strings.Cut(string(request), `"Marker":"`); ok {
			_, err = fmt.Sscanf(marker, "%d", &n)
		}
		next := ""
		if n+1 < p.pages {
			next = fmt.Sprintf(`,"Marker":"%d"`, n+1)
		}
		created := time.Date(1999, 12, 1+n*7%p.pages, 0, 0, 0, 0, time.UTC).Unix()
		body = fmt.Sprintf(`{"Clusters":[{"Id":"j-%d","Name":"etl-%d",`+
			`"ClusterArn":"arn:aws-cn:elasticmapreduce:cn-north-1:123456789012:cluster/j-%d",`+
			`"Status":{"State":"TERMINATED","Timeline":{"CreationDateTime":%d,"EndDateTime":%d}}}]%s}`, n, n, n, created, created+3600, next)
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: io.NopCloser(strings.NewReader(body)),
	}, err
}

func (p *pages) source(change func(*source.EMROptions)) *source.EMR {
	o := source.EMROptions{AWS: aws.Config{
		Region: "cn-north-1", HTTPClient: p, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}}
	if change != nil {
		change(&o)
	}
	return source.NewEMR(context.Background(), o)
}

// Discovery reads all pages, stays within EMR's quota, and returns the newest first.
func TestDiscoveryStaysWithinQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := &pages{pages: 25}
		var listed []int
		found, err := served.source(func(o *source.EMROptions) { o.Listed = func(n int) { listed = append(listed, n) } }).Discover(t.Context())
		require.NoError(t, err)
		require.Len(t, listed, 24)
		require.Equal(t, 24, listed[23])
		require.Len(t, found, 25)
		for i, c := range found[1:] {
			require.False(t, c.Created.After(found[i].Created))
		}
		require.Equal(t, "cn-north-1", found[0].ID.Region)
		require.Equal(t, "123456789012", found[0].ID.Account)
		require.True(t, found[0].Settled)
		require.Equal(t, served.at[0], served.at[19], "a burst of 20")
		require.Equal(t, 10*time.Second, served.at[24].Sub(served.at[19]).Round(time.Millisecond), "then one every 2 s")
	})
}

// Throttled requests are retried later, and count towards the quota. This runs outside
// synctest: the SDK's adaptive rate limiter would spin on a clock that stands still.
func TestThrottledDiscovery(t *testing.T) {
	served := &pages{pages: 2, throttled: 3}
	found, err := served.source(nil).Discover(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Len(t, served.at, 5)
	require.Greater(t, served.at[3].Sub(served.at[0]), 100*time.Millisecond)
}

func TestDiscoveryFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served := &pages{pages: 10}
		found, err := served.source(func(o *source.EMROptions) {
			o.NameFilter, o.CreatedAfter = "etl-", time.Date(1999, 12, 6, 0, 0, 0, 0, time.UTC)
		}).Discover(t.Context())
		require.NoError(t, err)
		require.Len(t, found, 5, "created on the 6th or later")
		found, err = served.source(func(o *source.EMROptions) { o.NameFilter = "l-3" }).Discover(t.Context())
		require.NoError(t, err)
		require.Len(t, found, 1)
	})
}
