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

// The real stores, killed, are in assets/workloads: TestKilledStoresLoseNothing.
// Here a store says what a real one cannot be made to say.

// teller is a store that answers as it is told, and notes what it took.
type teller struct {
	*httptest.Server
	lock   sync.Mutex
	status int
	fails  string // a path that answers 500
	took   []string
}

func newTeller(t *testing.T) *teller {
	t.Helper()
	s := &teller{status: http.StatusOK}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.lock.Lock()
		defer s.lock.Unlock()
		if r.Method == http.MethodPost && s.status == http.StatusOK {
			s.took = append(s.took, r.URL.RequestURI()+" "+r.Header.Get("Content-Type")+" "+string(body))
		}
		w.Header().Set("Retry-After", "7")
		if r.URL.Path == s.fails {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(s.status)
		_, _ = fmt.Fprintf(w, "said %d", s.status)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *teller) answers(status int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.status = status
}

// dies ends every connection, as a killed process does.
func (s *teller) dies() { s.CloseClientConnections() }

func (s *teller) taken() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return append([]string{}, s.took...)
}

// between gives a redelivery of one store, which only beats when it is told to.
func between(t *testing.T, s *teller) (post func(body string) *http.Response, beat func(), metric func() string, of *store) {
	t.Helper()
	d, err := New([]string{"a=" + s.URL})
	require.NoError(t, err)
	front := httptest.NewServer(d.Handler())
	t.Cleanup(front.Close)
	of = d.stores[0]
	post = func(body string) *http.Response {
		response, err := http.Post(front.URL+"/a/v1/traces?of=b", "text/plain", strings.NewReader(body))
		require.NoError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	beat = func() {
		of.client.CloseIdleConnections() // one of them may be dead and not know it yet
		of.look(t.Context())
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
	return post, beat, metric, of
}

func TestAnAnswerIsTheStoresOwn(t *testing.T) {
	s := newTeller(t)
	post, beat, _, of := between(t, s)
	for _, status := range []int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		s.answers(status)
		response := post("x")
		require.Equal(t, status, response.StatusCode)
		require.Equal(t, "7", response.Header.Get("Retry-After"))
		said, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("said %d", status), string(said))
	}
	require.Empty(t, of.kept, "what was not taken is its sender's")
	s.answers(http.StatusOK)
	s.dies()
	beat()
	require.Empty(t, s.taken())
	s.Close()
	require.Equal(t, http.StatusServiceUnavailable, post("x").StatusCode, "a store that is away is tried again")
	require.Empty(t, of.kept)
}

func TestWhatHasNotSettledIsSentAgain(t *testing.T) {
	s := newTeller(t)
	post, beat, metric, of := between(t, s)
	post("old")
	beats := int(Settled / heartbeat)
	for range beats - 1 {
		beat()
	}
	require.Len(t, of.kept, 1)
	post("new")
	beat() // old has settled
	s.dies()
	s.answers(http.StatusServiceUnavailable)
	for range beats + 1 {
		beat() // what is due waits, however long
	}
	const old, young = "/v1/traces?of=b text/plain old", "/v1/traces?of=b text/plain new"
	require.Equal(t, []string{old, young}, s.taken())
	s.answers(http.StatusOK)
	beat()
	require.Equal(t, []string{old, young, young}, s.taken())
	require.Contains(t, metric(), MetricResent+`{store="a"} 1`)
	require.Contains(t, metric(), MetricKept+`{store="a"} 3`)
	s.dies()
	beat()
	require.Equal(t, []string{old, young, young, young}, s.taken(), "and again, until it has settled")
	for range beats {
		beat()
	}
	s.dies()
	beat()
	require.Len(t, s.taken(), 4)
	require.Contains(t, metric(), MetricKept+`{store="a"} 0`)
}

func TestWhatIsRefusedAgainIsCounted(t *testing.T) {
	s := newTeller(t)
	post, beat, metric, of := between(t, s)
	post("x")
	s.dies()
	s.answers(http.StatusBadRequest)
	beat()
	require.Empty(t, of.kept)
	require.Contains(t, metric(), MetricRefused+`{store="a"} 1`)
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	s := newTeller(t)
	post, beat, _, of := between(t, s)
	large := strings.Repeat("x", requestBytes)
	for range keptBytes / requestBytes {
		require.Equal(t, http.StatusOK, post(large).StatusCode)
	}
	response := post("x")
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Equal(t, "1", response.Header.Get("Retry-After"))
	for range int(Settled / heartbeat) {
		beat()
	}
	require.Zero(t, of.bytes)
	require.Equal(t, http.StatusOK, post("x").StatusCode)
	require.Equal(t, http.StatusRequestEntityTooLarge, post(large+"x").StatusCode)
}

// A store may die between its answer and the moment that the answer is read.
func TestARequestIsKeptFromBeforeItIsSent(t *testing.T) {
	s := newTeller(t)
	_, beat, _, of := between(t, s)
	r := &request{path: "/", body: []byte("x")}
	require.True(t, of.keep(r))
	s.dies()
	beat()
	require.Empty(t, s.taken(), "whether it was taken is not known yet")
	of.answer(r, true)
	beat()
	require.Equal(t, []string{"/  x"}, s.taken())
}

func TestWrongStoresAreAllNamed(t *testing.T) {
	wrong := []string{"a", "b=https://x:1", "c=http://x:1/path?a=b", "=http://x:1", "A{=http://x:1", "e=http://x"}
	_, err := New(append(wrong, "d=http://x:1", "d=http://y:1"))
	require.Error(t, err)
	for _, w := range wrong {
		require.ErrorContains(t, err, fmt.Sprintf("store %q: must be name=http://host:port", w))
	}
	require.ErrorContains(t, err, `store "d=http://y:1": there is another d`)
	require.NotContains(t, err.Error(), `"d=http://x:1"`)
	_, err = New(nil)
	require.ErrorContains(t, err, "give at least one")
}

// Lines that may be there are worth more than lines that surely are not.
func TestLinesAreSentThoughTheirStoreCannotTellWhichItHas(t *testing.T) {
	s := newTeller(t)
	_, beat, _, of := between(t, s)
	of.lines = true
	lines, err := proto.Marshal(&logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{ScopeLogs: []*logs.ScopeLogs{{LogRecords: []*logs.LogRecord{{TimeUnixNano: 1}}}}}}})
	require.NoError(t, err)
	r := &request{path: "/", body: lines}
	require.True(t, of.keep(r))
	of.answer(r, true)
	s.dies()
	s.fails = "/internal/force_flush"
	for range questions {
		beat()
		require.Empty(t, s.taken())
	}
	beat()
	require.Equal(t, []string{"/  " + string(lines)}, s.taken())
}

// A request that is no protobuf goes to VictoriaLogs as it is, who says so.
func TestUnreadableLinesAreGivenBack(t *testing.T) {
	for _, encoding := range []string{"", "gzip", "br"} {
		r := &request{header: http.Header{}, body: bytes.Repeat([]byte{0xff}, 9)}
		r.header.Set("Content-Encoding", encoding)
		same, err := new(store).linesLacking(t.Context(), r)
		require.NoError(t, err)
		require.Same(t, r, same)
	}
}
