package redelivery

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/emr-observatory/emr-observatory/platform"
)

// spansOf is a request with so many spans of a sender.
func spansOf(t *testing.T, sender string, count int) string {
	t.Helper()
	body, err := proto.Marshal(&tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{
		Resource: &resource.Resource{Attributes: []*common.KeyValue{
			{Key: platform.AttributeSender, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: sender}}},
		}},
		ScopeSpans: []*tracev1.ScopeSpans{{Spans: make([]*tracev1.Span, count)}},
	}}})
	require.NoError(t, err)
	return string(body)
}

// What is beyond a limit does not reach the store, and the collector, which cannot send less, is told that
// all is well. What the store refuses is sent again, and takes nothing of the share.
func TestWhatIsBeyondALimitStaysBehind(t *testing.T) {
	s := newFakeStore(t)
	d, err := New([]string{"tempo=" + s.URL}, []string{"traces=10"})
	require.NoError(t, err)
	front := httptest.NewServer(d.Handler())
	t.Cleanup(front.Close)
	post := func(path, contentType, body string) int {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = io.WriteString(w, body)
		require.NoError(t, w.Close())
		request, err := http.NewRequest(http.MethodPost, front.URL+path, &packed)
		require.NoError(t, err)
		request.Header.Set("Content-Type", contentType)
		request.Header.Set("Content-Encoding", "gzip")
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		return response.StatusCode
	}
	send := func(sender string, count int) int {
		return post("/tempo/v1/traces", "application/x-protobuf", spansOf(t, sender, count))
	}
	arrived := func() (count int) {
		for _, request := range s.accepted() {
			_, packed, _ := strings.Cut(request, "x-protobuf ")
			encoding := http.Header{"Content-Encoding": {encodingZstd}}
			if packed[:2] == "\x1f\x8b" { // as it came
				encoding.Set("Content-Encoding", encodingGzip)
			}
			var all tracev1.TracesData
			require.NoError(t, newPacking().unpack(encoding, []byte(packed), func(body []byte) { require.NoError(t, proto.Unmarshal(body, &all)) }))
			count += len(all.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans())
		}
		return count
	}
	refused := func(labels string) string {
		return fmt.Sprintf("%s{signal=\"traces\",%s} ", platform.MetricOverLimit, labels)
	}
	metrics := func() string {
		var all bytes.Buffer
		d.metrics.WritePrometheus(&all)
		return all.String()
	}
	require.Equal(t, http.StatusBadRequest, postPlain(t, front.URL+platform.SendersPath, `{"ten": "j-1"}`))
	require.Equal(t, http.StatusOK, postPlain(t, front.URL+platform.SendersPath, `{"10.0.0.1": "j-1"}`))
	s.setStatus(http.StatusServiceUnavailable)
	for range 3 {
		require.Equal(t, http.StatusServiceUnavailable, send("10.0.0.1:1", 12))
	}
	require.Contains(t, metrics(), refused(`cluster="j-1"`)+"0\n")
	s.setStatus(http.StatusOK)
	require.Equal(t, http.StatusOK, send("10.0.0.1:1", 12))
	require.Equal(t, 10, arrived())
	require.Equal(t, http.StatusOK, send("10.0.0.1:1", 5))
	require.Len(t, s.accepted(), 1, "a request of which nothing is left is not sent")
	require.Contains(t, metrics(), refused(`cluster="j-1"`)+"7\n")
	require.Equal(t, http.StatusOK, send("10.0.0.2:1", 9))
	require.Equal(t, 19, arrived())
	require.Contains(t, metrics(), refused(`sender="10.0.0.2"`)+"0\n")
	require.Equal(t, http.StatusBadRequest, postPlain(t, front.URL+"/tempo/v1/traces", "not compressed", "Content-Encoding", "gzip"))
}

func postPlain(t *testing.T, url, body string, header ...string) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_ = response.Body.Close()
	return response.StatusCode
}
