package redelivery

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

// nodes is a relay of profiles to a Pyroscope that records what reaches it.
type nodes struct {
	t       *testing.T
	relay   *httptest.Server
	metrics func() string
}

func startProfiles(t *testing.T, pyroscope http.HandlerFunc) nodes {
	t.Helper()
	store := httptest.NewServer(pyroscope)
	t.Cleanup(store.Close)
	d, err := New([]string{"a=" + store.URL}, nil)
	require.NoError(t, err)
	server, err := d.ProfilesServer("", store.URL)
	require.NoError(t, err)
	relay := httptest.NewUnstartedServer(server.Handler)
	relay.Config = server
	relay.Start()
	t.Cleanup(relay.Close)
	return nodes{t, relay, func() string {
		var all bytes.Buffer
		d.metrics.WritePrometheus(&all)
		return all.String()
	}}
}

// transport waits for the answer to the headers before it sends a large body.
var transport = &http.Transport{ExpectContinueTimeout: time.Minute}

// do sends a request whose path is as it is given, and returns the answer.
func (n nodes) do(method, target string, body io.Reader, header ...string) (int, string) {
	n.t.Helper()
	request, err := http.NewRequest(method, n.relay.URL, body)
	require.NoError(n.t, err)
	request.URL.Opaque = target
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := transport.RoundTrip(request)
	require.NoError(n.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(n.t, err)
	return response.StatusCode, string(text)
}

func (n nodes) requireRefused(reason string, count int) {
	n.t.Helper()
	require.Contains(n.t, n.metrics(), fmt.Sprintf("%s{reason=%q} %d\n", MetricProfilesRefused, reason, count))
}

func TestProfilesReachPyroscope(t *testing.T) {
	var got []string
	n := startProfiles(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Content-Type")+" "+string(body))
		for name := range r.Header {
			if name != "Content-Type" && name != "Content-Length" && name != "Accept-Encoding" && name != "User-Agent" {
				got = append(got, name)
			}
		}
		http.Error(w, "ring not ready", http.StatusUnprocessableEntity)
	})
	status, text := n.do(http.MethodPost, "/ingest?name=a%7Bb%3Dc%7D&from=1", strings.NewReader("profile"),
		"Content-Type", "multipart/form-data; boundary=x", "X-Scope-OrgID", "others", "Authorization", "Basic eDp5", "Cookie", "a=b",
		"X-Forwarded-For", "10.0.0.1")
	require.Equal(t, http.StatusUnprocessableEntity, status, "the launcher sends such a profile again")
	require.Equal(t, "ring not ready\n", text)
	require.Equal(t, []string{"POST /ingest?name=a%7Bb%3Dc%7D&from=1 multipart/form-data; boundary=x profile"}, got)
}

// All clusters share one Pyroscope, which asks for no password.
func TestNodesReachNothingElseOfPyroscope(t *testing.T) {
	n := startProfiles(t, func(http.ResponseWriter, *http.Request) { t.Error("reached") })
	requests := [][2]string{
		{"GET", "/ingest"}, {"PUT", "/ingest"}, {"POST", "/"}, {"POST", "/ingest/"}, {"POST", "//ingest"}, {"POST", "/%69ngest"},
		{"POST", "/ingest%2f..%2fready"}, {"POST", "/ingest/../querier.v1.QuerierService/Series"}, {"POST", "/INGEST"},
		{"POST", "/push.v1.PusherService/Push"}, {"POST", "/querier.v1.QuerierService/SelectMergeProfile"},
		{"GET", "/pyroscope/render?query=x"}, {"GET", "/ops/object-store/tenants"}, {"GET", "/metrics"}, {"GET", "/debug/pprof/heap"},
		{"POST", "http://pyroscope:4040/querier.v1.QuerierService/Series"},
	}
	for _, r := range requests {
		status, text := n.do(r[0], r[1], nil)
		require.Equal(t, http.StatusForbidden, status, r)
		require.Equal(t, "only POST /ingest is open to nodes\n", text)
	}
	status, _ := n.do(http.MethodPost, "/ingest", nil, "Connection", "Upgrade", "Upgrade", "h2c")
	require.Equal(t, http.StatusForbidden, status)
	n.requireRefused(refusedRequest, len(requests)+1)
}

// A profile that is too large is not sent again, with its size given or found on the way.
func TestLargeProfilesAreRefused(t *testing.T) {
	n := startProfiles(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	whole := bytes.Repeat([]byte("x"), maxProfileBytes+1)
	for i, body := range []io.Reader{bytes.NewReader(whole), io.MultiReader(bytes.NewReader(whole))} {
		status, text := n.do(http.MethodPost, "/ingest", body, "Expect", "100-continue") // the answer ends the sending
		require.Equal(t, http.StatusRequestEntityTooLarge, status)
		require.Equal(t, "the profile has more than 32 MiB: shorten its interval\n", text)
		n.requireRefused(refusedSize, i+1)
	}
	status, _ := n.do(http.MethodPost, "/ingest", bytes.NewReader(whole[1:]))
	require.Equal(t, http.StatusOK, status)
}

// However many profiles arrive, a bounded number of them takes memory; the senders of the others
// try again.
func TestProfilesOnTheirWayAreBounded(t *testing.T) {
	arrived, answer := make(chan struct{}), make(chan struct{})
	n := startProfiles(t, func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-answer })
	answered := make(chan int, maxProfiles)
	for range maxProfiles {
		go func() {
			response, err := http.Post(n.relay.URL+"/ingest", "text/plain", strings.NewReader("x"))
			if err != nil {
				answered <- 0
				return
			}
			_ = response.Body.Close()
			answered <- response.StatusCode
		}()
	}
	for range maxProfiles {
		<-arrived
	}
	status, text := n.do(http.MethodPost, "/ingest", strings.NewReader("x"))
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Equal(t, "64 profiles are on their way\n", text)
	n.requireRefused(refusedBusy, 1)
	close(answer)
	for range maxProfiles {
		require.Equal(t, http.StatusOK, <-answered)
	}
	go func() { <-arrived }()
	status, _ = n.do(http.MethodPost, "/ingest", strings.NewReader("x"))
	require.Equal(t, http.StatusOK, status)
}

// Connections that say nothing take a bounded part of the process that relays everything else.
func TestConnectionsAreBounded(t *testing.T) {
	n := startProfiles(t, func(http.ResponseWriter, *http.Request) {})
	held := make([]net.Conn, 0, maxProfileConnections)
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", n.relay.Listener.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	for range maxProfileConnections {
		held = append(held, dial())
	}
	_, err := dial().Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "closed at once")
	n.requireRefused(refusedBusy, 1)
	for _, conn := range held {
		require.NoError(t, conn.Close())
	}
	testenv.Eventually(t, func() bool {
		response, err := http.Post(n.relay.URL+"/ingest", "text/plain", strings.NewReader("x"))
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}, testenv.Answer, 10*time.Millisecond)
}

// The launcher sends a profile again after a status of 500 or more.
func TestProfilesAreSentAgainWhilePyroscopeIsDown(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, free.Close())
	d, err := New([]string{"a=http://x:1"}, nil)
	require.NoError(t, err)
	server, err := d.ProfilesServer("", "http://"+free.Addr().String())
	require.NoError(t, err)
	w := httptest.NewRecorder()
	server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/ingest", strings.NewReader("x")))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
}

func TestProfilesServerRefusesOtherTargets(t *testing.T) {
	d, err := New([]string{"a=http://x:1"}, nil)
	require.NoError(t, err)
	for _, target := range []string{"", "pyroscope:4040", "https://x:1", "http://x", "http://x:1/ingest", "http://u:p@x:1"} {
		_, err := d.ProfilesServer("", target)
		require.ErrorContains(t, err, fmt.Sprintf("profiles %q: must be http://host:port", target))
	}
}
