package redelivery

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"
)

// TestKilledStoresLoseNothing in assets/workloads kills real stores. Here a fake store
// returns statuses that a real one cannot be made to return.

// fakeStore returns a configured status and records what it accepted.
type fakeStore struct {
	*httptest.Server
	lock        sync.Mutex
	status      int
	failingPath string // gets the status 500
	bodies      []string
}

func newFakeStore(t *testing.T) *fakeStore {
	t.Helper()
	s := &fakeStore{status: http.StatusOK}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.lock.Lock()
		defer s.lock.Unlock()
		if r.Method == http.MethodPost && s.status == http.StatusOK {
			s.bodies = append(s.bodies, r.URL.RequestURI()+" "+r.Header.Get("Content-Type")+" "+string(body))
		}
		w.Header().Set("Retry-After", "7")
		if r.URL.Path == s.failingPath {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(s.status)
		_, _ = fmt.Fprintf(w, "answer %d", s.status)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *fakeStore) setStatus(status int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.status = status
}

// restart closes every connection, as a killed process does.
func (s *fakeStore) restart() { s.CloseClientConnections() }

// accepted returns the requests that were accepted, as URI, content type and body.
func (s *fakeStore) accepted() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return append([]string{}, s.bodies...)
}

// startRelay starts a relay to one store. Heartbeats happen only when the test calls
// beat.
func startRelay(t *testing.T, s *fakeStore) (post func(body string) *http.Response, beat func(), metric func() string, target *store) {
	t.Helper()
	d, err := New([]string{"a=" + s.URL}, nil)
	require.NoError(t, err)
	front := httptest.NewServer(d.Handler())
	t.Cleanup(front.Close)
	target = d.stores[0]
	post = func(body string) *http.Response {
		response, err := http.Post(front.URL+"/a/v1/traces?of=b", "text/plain", strings.NewReader(body))
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	beat = func() {
		target.client.CloseIdleConnections() // one of them may be closed without the client knowing
		target.check(t.Context())
	}
	metric = func() string {
		response, err := http.Get(front.URL + "/metrics")
		require.NoError(t, err)
		defer response.Body.Close()
		all, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return string(all)
	}
	beat()
	return post, beat, metric, target
}

func TestRelayReturnsTheStoresResponse(t *testing.T) {
	s := newFakeStore(t)
	post, beat, _, target := startRelay(t, s)
	for _, status := range []int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		s.setStatus(status)
		response := post("x")
		require.Equal(t, status, response.StatusCode)
		require.Equal(t, "7", response.Header.Get("Retry-After"))
		answer, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("answer %d", status), string(answer))
	}
	require.Empty(t, target.requests, "the sender retries what was refused")
	s.setStatus(http.StatusOK)
	s.restart()
	beat()
	require.Empty(t, s.accepted())
	s.Close()
	require.Equal(t, http.StatusServiceUnavailable, post("x").StatusCode, "the sender retries while the store is down")
	require.Empty(t, target.requests)
}

func TestResendsUnsettledRequestsAfterARestart(t *testing.T) {
	s := newFakeStore(t)
	post, beat, metric, target := startRelay(t, s)
	post("old")
	beats := int(Settled / heartbeat)
	for range beats - 1 {
		beat()
	}
	require.Len(t, target.requests, 1)
	post("new")
	beat() // "old" has settled
	s.restart()
	s.setStatus(http.StatusServiceUnavailable)
	for range beats + 1 {
		beat() // due requests wait while the store refuses
	}
	const old, young = "/v1/traces?of=b text/plain old", "/v1/traces?of=b text/plain new"
	require.Equal(t, []string{old, young}, s.accepted())
	s.setStatus(http.StatusOK)
	beat()
	require.Equal(t, []string{old, young, young}, s.accepted())
	require.Contains(t, metric(), MetricResent+`{store="a"} 1`)
	require.Contains(t, metric(), MetricKept+`{store="a"} 3`)
	s.restart()
	beat()
	require.Equal(t, []string{old, young, young, young}, s.accepted(), "resent after each restart until it has settled")
	for range beats {
		beat()
	}
	s.restart()
	beat()
	require.Len(t, s.accepted(), 4)
	require.Contains(t, metric(), MetricKept+`{store="a"} 0`)
}

func TestCountsResentRequestsThatAreRefused(t *testing.T) {
	s := newFakeStore(t)
	post, beat, metric, target := startRelay(t, s)
	post("x")
	s.restart()
	s.setStatus(http.StatusBadRequest)
	beat()
	require.Empty(t, target.requests)
	require.Contains(t, metric(), MetricRefused+`{store="a"} 1`)
}

func TestBufferIsBounded(t *testing.T) {
	s := newFakeStore(t)
	post, beat, _, target := startRelay(t, s)
	large := strings.Repeat("x", maxRequestBytes)
	for range maxBufferedBytes / maxRequestBytes {
		require.Equal(t, http.StatusOK, post(large).StatusCode)
	}
	response := post("x")
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Equal(t, "1", response.Header.Get("Retry-After"))
	for range int(Settled / heartbeat) {
		beat()
	}
	require.Zero(t, target.bytes)
	require.Equal(t, http.StatusOK, post("x").StatusCode)
	require.Equal(t, http.StatusRequestEntityTooLarge, post(large+"x").StatusCode)
}

// A store may be killed between its answer and the moment that it is read.
func TestBuffersRequestBeforeForwarding(t *testing.T) {
	s := newFakeStore(t)
	_, beat, _, target := startRelay(t, s)
	r := &request{path: "/", body: []byte("x")}
	require.True(t, target.buffer(r))
	s.restart()
	beat()
	require.Empty(t, s.accepted(), "the store's answer is not known yet")
	target.acknowledge(r, true)
	beat()
	require.Equal(t, []string{"/  x"}, s.accepted())
}

func TestNewReportsEveryMalformedStore(t *testing.T) {
	wrong := []string{"a", "b=https://x:1", "c=http://x:1/path?a=b", "=http://x:1", "A{=http://x:1", "e=http://x"}
	_, err := New(append(wrong, "d=http://x:1", "d=http://y:1"), nil)
	require.Error(t, err)
	for _, w := range wrong {
		require.ErrorContains(t, err, fmt.Sprintf("store %q: must be name=http://host:port", w))
	}
	require.ErrorContains(t, err, `store "d=http://y:1": there is another d`)
	require.NotContains(t, err.Error(), `"d=http://x:1"`)
	_, err = New(nil, nil)
	require.ErrorContains(t, err, "give at least one")
}

// A duplicated line is better than a lost one.
func TestResendsLinesWhenLookupsFail(t *testing.T) {
	s := newFakeStore(t)
	_, beat, _, target := startRelay(t, s)
	target.keepsDuplicates = true
	lines, err := proto.Marshal(&logs.LogsData{ResourceLogs: []*logs.ResourceLogs{
		{ScopeLogs: []*logs.ScopeLogs{{LogRecords: []*logs.LogRecord{{TimeUnixNano: 1}}}}},
	}})
	require.NoError(t, err)
	r := &request{path: "/", body: lines}
	require.True(t, target.buffer(r))
	target.acknowledge(r, true)
	s.restart()
	s.failingPath = "/internal/force_flush"
	for range maxLookups {
		beat()
		require.Empty(t, s.accepted())
	}
	beat()
	require.Equal(t, []string{"/  " + string(lines)}, s.accepted())
}

// VictoriaLogs itself rejects a request that is no protobuf.
func TestMissingLinesReturnsUnreadableRequestsUnchanged(t *testing.T) {
	for _, encoding := range []string{"", "gzip", "zstd", "br"} {
		r := &request{header: http.Header{}, body: bytes.Repeat([]byte{0xff}, 9)}
		r.header.Set("Content-Encoding", encoding)
		same, err := (&store{packing: newPacking()}).missingLines(t.Context(), r)
		require.NoError(t, err)
		require.Same(t, r, same)
	}
}
