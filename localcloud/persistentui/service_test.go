package persistentui_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktest "k8s.io/utils/clock/testing"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/localcloud/emrapi"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

// eventLogs is a folder with event logs of real applications.
const eventLogs = "../../phases/testdata/logs"

// testTimeout bounds every wait, far above the time that any should take.
const testTimeout = testenv.Start

// ui is a service with its front.
type ui struct {
	*persistentui.Service
	t     *testing.T
	clock *clocktest.FakePassiveClock
	front *httptest.Server
}

func newUI(t *testing.T, limits persistentui.Limits) *ui {
	t.Helper()
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	java, err := doctor.JDK()
	require.NoError(t, err)
	u := &ui{t: t, clock: clocktest.NewFakePassiveClock(time.Now())}
	u.Service = &persistentui.Service{
		Dir: t.TempDir(), Applications: tree, JavaHome: java, Clock: u.clock, Limits: limits,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	t.Cleanup(u.Close)
	u.front = httptest.NewTLSServer(u.Service)
	t.Cleanup(u.front.Close)
	u.Address = u.front.Listener.Addr().String()
	return u
}

// put adds an application's log to a cluster, under the application's id.
func (u *ui) put(cluster, log, id string) {
	u.t.Helper()
	text, err := os.ReadFile(filepath.Join(eventLogs, log))
	require.NoError(u.t, err)
	text = regexp.MustCompile(`application_[0-9]+_[0-9]+`).ReplaceAll(text, []byte(id))
	file := filepath.Join(u.Dir, "logs", cluster, id)
	require.NoError(u.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(u.t, os.WriteFile(file, text, 0o600))
	require.NoError(u.t, os.Chtimes(file, time.Time{}, u.clock.Now()))
}

// fault replaces the injected faults.
func (u *ui) fault(list string) {
	u.t.Helper()
	require.NoError(u.t, os.WriteFile(filepath.Join(u.Dir, persistentui.FaultFile), []byte(list), 0o600))
}

// client returns a client that trusts the front and keeps cookies.
func (u *ui) client() *http.Client {
	u.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(u.t, err)
	transport, ok := u.front.Client().Transport.(*http.Transport)
	require.True(u.t, ok)
	plain := transport.Clone()
	plain.DisableCompression = true // the bytes of a truncated response are counted
	u.t.Cleanup(plain.CloseIdleConnections)
	return &http.Client{Transport: plain, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// presign returns a new presigned URL of a page.
func (u *ui) presign(p emrapi.Page) string {
	u.t.Helper()
	url, err := u.Presign(p)
	require.NoError(u.t, err)
	return url
}

// login returns a client with a session.
func (u *ui) login(p emrapi.Page) *http.Client {
	u.t.Helper()
	c := u.client()
	status, body := u.get(c, u.presign(p))
	require.Equal(u.t, http.StatusFound, status, body)
	return c
}

func (u *ui) get(c *http.Client, address string) (int, string) {
	u.t.Helper()
	status, body, err := u.try(c, address)
	require.NoError(u.t, err)
	return status, body
}

// try returns a response, and the error if it is truncated.
func (u *ui) try(c *http.Client, address string) (int, string, error) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), testTimeout.Scaled())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	require.NoError(u.t, err)
	response, err := c.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// applications returns the ids of the applications that the UI lists.
func (u *ui) applications(c *http.Client) []string {
	u.t.Helper()
	status, body := u.get(c, u.front.URL+"/shs/api/v1/applications")
	require.Equal(u.t, http.StatusOK, status, body)
	var list []struct{ ID string }
	require.NoError(u.t, json.Unmarshal([]byte(body), &list))
	ids := make([]string, 0, len(list))
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids
}

const (
	cluster = "j-TEST"
	first   = "application_1700000000000_0001"
	second  = "application_1700000000000_0002"
)

// maxIdleBytes is how much memory the service may add while no UI is in use.
const maxIdleBytes = 30 << 20

// Servers stop when idle, and no more than MaxServers run. Once all have stopped, the process
// is about as large as before, and has no children. The test comes first, before the process
// has done anything else.
func TestHistoryServersStop(t *testing.T) {
	before := residentBytes(t)
	u := newUI(t, persistentui.Limits{IdleTime: 2 * time.Second, MaxServers: 1})
	c := u.login(emrapi.Page{ClusterID: cluster})
	require.Empty(t, u.applications(c))
	require.Equal(t, []string{cluster}, u.Running())
	require.Empty(t, u.applications(u.login(emrapi.Page{ClusterID: "j-OTHER"})))
	require.Equal(t, []string{"j-OTHER"}, u.Running(), "it made room")
	testenv.Eventually(t, func() bool { return len(u.Running()) == 0 }, testTimeout, 50*time.Millisecond)
	require.Empty(t, children(t))
	more := residentBytes(t) - before
	t.Logf("%.1f MiB more than before", float64(more)/(1<<20))
	require.Less(t, more, maxIdleBytes)
}

// children returns the process ids of this process's children.
func children(t *testing.T) (pids []string) {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, file := range lists {
		list, err := os.ReadFile(file)
		if !errors.Is(err, os.ErrNotExist) { // a thread that has ended
			require.NoError(t, err)
			pids = append(pids, strings.Fields(string(list))...)
		}
	}
	return pids
}

// childMappings returns the memory mappings of this process's only child.
func childMappings(t *testing.T) string {
	t.Helper()
	pids := children(t)
	require.Len(t, pids, 1)
	mappings, err := os.ReadFile(filepath.Join("/proc", pids[0], "maps"))
	require.NoError(t, err)
	return string(mappings)
}

// The real history server works behind the front: its list is complete in the first
// response, its pages link to paths below /shs, and every link works.
func TestHistoryServerBehindTheFront(t *testing.T) {
	u := newUI(t, persistentui.Limits{})
	u.put(cluster, "adaptive.jsonl", first)
	require.Empty(t, u.Running(), "no server runs before a URL is opened")
	c := u.login(emrapi.Page{ClusterID: cluster})
	require.Empty(t, u.Running(), "nor before a page is requested")
	require.Equal(t, []string{first}, u.applications(c))
	require.Equal(t, []string{cluster}, u.Running())
	require.Contains(t, childMappings(t), ".jsa", "its classes come from the archive")

	c.CheckRedirect = nil
	status, page := u.get(c, u.presign(emrapi.Page{ClusterID: cluster, ApplicationID: first}))
	require.Equal(t, http.StatusOK, status, page)
	require.Contains(t, page, "Completed Jobs")
	links := regexp.MustCompile(`(?:href|src)="(/[^"]*)"`).FindAllStringSubmatch(page, -1)
	require.NotEmpty(t, links)
	for _, link := range links {
		require.Regexp(t, "^/shs/", link[1])
		status, body := u.get(c, u.front.URL+link[1])
		require.Equal(t, http.StatusOK, status, "%s: %s", link[1], body)
	}

	u.put(cluster, "no-executors.jsonl", second)
	testenv.Eventually(t, func() bool { return len(u.applications(c)) == 2 }, testTimeout, 200*time.Millisecond,
		"a log added while the server runs")
}

// Logs expire by the service's clock.
func TestLogsExpire(t *testing.T) {
	u := newUI(t, persistentui.Limits{})
	u.put(cluster, "adaptive.jsonl", first)
	ended := u.clock.Now()
	u.clock.SetTime(ended.Add(persistentui.Retention))
	u.put(cluster, "no-executors.jsonl", second)
	require.NoError(t, u.Expire())
	require.FileExists(t, filepath.Join(u.Dir, "logs", cluster, first))
	u.clock.SetTime(ended.Add(persistentui.Retention + time.Second))
	require.NoError(t, u.Expire())
	require.NoFileExists(t, filepath.Join(u.Dir, "logs", cluster, first))
	require.FileExists(t, filepath.Join(u.Dir, "logs", cluster, second))
}

// A URL works once, and not after an hour; its cookie expires, too.
func TestURLsAndCookiesExpire(t *testing.T) {
	u := newUI(t, persistentui.Limits{URLLifetime: time.Hour, SessionLifetime: 10 * time.Minute})
	page := emrapi.Page{ClusterID: cluster, ApplicationID: "application_1_0001"}
	url := u.presign(page)
	c := u.client()
	response, err := c.Get(url)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusFound, response.StatusCode)
	require.Equal(t, "/shs/history/application_1_0001/", response.Header.Get("Location"))
	require.Len(t, response.Cookies(), 1)
	cookie := response.Cookies()[0]
	require.True(t, cookie.Secure)
	require.True(t, cookie.HttpOnly)
	require.Equal(t, 600, cookie.MaxAge)
	require.NotContains(t, url, cookie.Value)

	status, _ := u.get(u.client(), url)
	require.Equal(t, http.StatusForbidden, status, "a URL works once")
	status, _ = u.get(u.client(), u.front.URL+"/shs/api/v1/applications")
	require.Equal(t, http.StatusUnauthorized, status, "without a cookie")

	second := u.presign(page)
	u.clock.SetTime(u.clock.Now().Add(time.Hour))
	status, _ = u.get(u.client(), second)
	require.Equal(t, http.StatusForbidden, status, "a URL expires")

	c = u.login(emrapi.Page{ClusterID: cluster})
	u.clock.SetTime(u.clock.Now().Add(10*time.Minute - time.Second))
	elsewhere := u.front.URL + "/nothing"
	status, _ = u.get(c, elsewhere)
	require.Equal(t, http.StatusNotFound, status)
	u.clock.SetTime(u.clock.Now().Add(time.Second))
	status, _ = u.get(c, elsewhere)
	require.Equal(t, http.StatusUnauthorized, status, "a cookie expires")
	require.Empty(t, u.Running())
}

// residentBytes returns this process's resident memory, without memory that Go has freed.
func residentBytes(t *testing.T) int {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

func TestFaults(t *testing.T) {
	u := newUI(t, persistentui.Limits{AttachTime: time.Millisecond})
	u.put(cluster, "adaptive.jsonl", first)
	list := u.front.URL + "/shs/api/v1/applications"
	page := emrapi.Page{ClusterID: cluster}
	c := u.login(page)

	u.fault(`[{"kind": "throttled", "path": "/applications$", "after": 1, "times": 2}]`)
	for _, want := range []int{http.StatusOK, http.StatusTooManyRequests, http.StatusTooManyRequests, http.StatusOK} {
		status, _ := u.get(c, list)
		require.Equal(t, want, status)
	}
	u.fault(`[{"kind": "server-error"}]`)
	status, _ := u.get(c, list)
	require.Equal(t, http.StatusInternalServerError, status)
	u.fault(`[{"kind": "slow", "delay_ms": 200}]`)
	begun := time.Now()
	status, _ = u.get(c, list)
	require.Equal(t, http.StatusOK, status)
	require.GreaterOrEqual(t, time.Since(begun), 200*time.Millisecond)
	u.fault(`[{"kind": "truncated", "bytes": 10}]`)
	_, body, err := u.try(c, list)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Len(t, body, 10)

	for kind, want := range map[string]int{"unauthorized": http.StatusUnauthorized, "login-page": http.StatusOK} {
		u.fault(`[{"kind": "` + kind + `", "times": 1}]`)
		status, body := u.get(c, list)
		require.Equal(t, want, status)
		require.Equal(t, kind == "login-page", regexp.MustCompile("Sign in").MatchString(body))
		status, _ = u.get(c, list)
		require.Equal(t, http.StatusUnauthorized, status, "the session has ended")
		c = u.login(page)
	}

	u.fault(`[{"kind": "expired-url"}]`)
	status, _ = u.get(u.client(), u.presign(page))
	require.Equal(t, http.StatusForbidden, status)
	u.fault(`[{"kind": "quota-full"}]`)
	require.True(t, u.QuotaFull())
	u.fault(`[{"kind": "stuck-starting"}]`)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, u.Attach(ctx, cluster), "stuck-starting")
	require.NoError(t, os.Remove(filepath.Join(u.Dir, persistentui.FaultFile)))
	require.NoError(t, u.Attach(t.Context(), cluster))
	require.False(t, u.QuotaFull())
	require.Len(t, u.applications(c), 1)
}
