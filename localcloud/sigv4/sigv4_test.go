package sigv4_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/sigv4"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

var own = aws.Credentials{AccessKeyID: "AKIAOWN", SecretAccessKey: "secret"}

const body = `{"JobFlowIds":["j-1"]}`

// signed returns a request as AWS's SDKs sign it.
func signed(t *testing.T, key aws.Credentials, service, region string, at time.Time) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:7071/?b=2&a=1", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", "ElasticMapReduce.TerminateJobFlows")
	sum := sha256.Sum256([]byte(body))
	require.NoError(t, v4.NewSigner().SignHTTP(context.Background(), key, r, hex.EncodeToString(sum[:]), service, region, at))
	return r
}

// ask sends a request to an API of EMR and returns its refusal, nil if it was passed on.
func ask(t *testing.T, r *http.Request) (refusal *sigv4.Refusal) {
	t.Helper()
	api := sigv4.API{
		Service: "elasticmapreduce", Region: "us-east-1", Now: func() time.Time { return now },
		Secret: func(id string) (string, bool) { return own.SecretAccessKey, id == own.AccessKeyID },
		Refuse: func(_ http.ResponseWriter, why sigv4.Refusal) { refusal = &why },
	}
	passed := false
	api.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		passed = err == nil && string(got) == body // it is there to be read
	})).ServeHTTP(httptest.NewRecorder(), r)
	require.NotEqual(t, passed, refusal != nil)
	return refusal
}

func TestSignedRequestsPass(t *testing.T) {
	for _, at := range []time.Time{now, now.Add(-4 * time.Minute), now.Add(4 * time.Minute)} {
		require.Nil(t, ask(t, signed(t, own, "elasticmapreduce", "us-east-1", at)))
	}
	proxied := signed(t, own, "elasticmapreduce", "us-east-1", now)
	proxied.Header.Set("User-Agent", "changed on the way")
	require.Nil(t, ask(t, proxied), "headers that are not signed may change")
	session := own
	session.SessionToken = "token"
	require.Nil(t, ask(t, signed(t, session, "elasticmapreduce", "us-east-1", now)))
}

func TestOtherRequestsAreRefused(t *testing.T) {
	const mine, here = "elasticmapreduce", "us-east-1"
	for name, test := range map[string]struct {
		request *http.Request
		change  func(*http.Request)
		want    sigv4.Reason
	}{
		"unsigned":        {signed(t, own, mine, here, now), func(r *http.Request) { r.Header.Del("Authorization") }, sigv4.Missing},
		"any credentials": {signed(t, own, mine, here, now), func(r *http.Request) { r.Header.Set("Authorization", "any") }, sigv4.Incomplete},
		"another key":     {signed(t, aws.Credentials{AccessKeyID: "AKIA", SecretAccessKey: "x"}, mine, here, now), nil, sigv4.UnknownKey},
		"another secret": {
			signed(t, aws.Credentials{AccessKeyID: own.AccessKeyID, SecretAccessKey: "x"}, mine, here, now), nil, sigv4.Mismatch,
		},
		"another service": {signed(t, own, "iam", here, now), nil, sigv4.Mismatch},
		"another region":  {signed(t, own, mine, "eu-west-1", now), nil, sigv4.Mismatch},
		"replayed later":  {signed(t, own, mine, here, now.Add(-6*time.Minute)), nil, sigv4.Mismatch},
		"signed ahead":    {signed(t, own, mine, here, now.Add(6*time.Minute)), nil, sigv4.Mismatch},
		"replayed with a new date": {signed(t, own, mine, here, now.Add(-6*time.Minute)), func(r *http.Request) {
			r.Header.Set("X-Amz-Date", now.Format("20060102T150405Z"))
		}, sigv4.Mismatch},
		"another body": {signed(t, own, mine, here, now), func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(`{"JobFlowIds":["j-2"]}`))
		}, sigv4.Mismatch},
		"another operation": {signed(t, own, mine, here, now), func(r *http.Request) {
			r.Header.Set("X-Amz-Target", "ElasticMapReduce.AddJobFlowSteps")
		}, sigv4.Mismatch},
		"an operation beside the signature": {signed(t, own, mine, here, now), func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), ";x-amz-target", "", 1))
		}, sigv4.Incomplete},
		"another host":  {signed(t, own, mine, here, now), func(r *http.Request) { r.Host = "attacker.example" }, sigv4.Mismatch},
		"another query": {signed(t, own, mine, here, now), func(r *http.Request) { r.URL.RawQuery += "&c=3" }, sigv4.Mismatch},
		"another path":  {signed(t, own, mine, here, now), func(r *http.Request) { r.URL.Path = "/other" }, sigv4.Mismatch},
		"a large body": {signed(t, own, mine, here, now), func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(strings.Repeat("x", 11<<20)))
		}, sigv4.Incomplete},
	} {
		t.Run(name, func(t *testing.T) {
			if test.change != nil {
				test.change(test.request)
			}
			refusal := ask(t, test.request)
			require.NotNil(t, refusal)
			require.Equal(t, test.want, refusal.Reason, refusal.Message)
		})
	}
}
