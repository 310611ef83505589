package history_test

import (
	"archive/zip"
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/profiler/history"
)

// quick returns options with which retries take no time.
func quick() history.Options {
	return history.Options{Pause: time.Millisecond, Timeout: 10 * time.Second}
}

// respond sends a JSON text.
func respond(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, text)
}

func serve(t *testing.T, handler http.HandlerFunc) *history.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := history.Open(server.URL, quick())
	require.NoError(t, err)
	return client
}

// executions serves n executions, in pages unless it acts as a server before Spark 3.2.
func executions(n int, paged bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, length := 0, n
		if paged {
			from, _ = strconv.Atoi(r.FormValue("offset"))
			length, _ = strconv.Atoi(r.FormValue("length"))
		}
		text := "["
		for i := from; i < min(n, from+length); i++ {
			if i > from {
				text += ","
			}
			text += fmt.Sprintf(`{"id":%d,"status":"COMPLETED"}`, i)
		}
		respond(w, text+"]")
	}
}

func TestEveryExecutionOnce(t *testing.T) {
	for _, paged := range []bool{true, false} {
		for _, n := range []int{0, 1, 99, 100, 101, 198, 199, 200, 1000} {
			t.Run(fmt.Sprint(paged, n), func(t *testing.T) {
				all, _, err := serve(t, executions(n, paged)).UI("application_1_0001", "").SQL(t.Context())
				require.NoError(t, err)
				require.Len(t, all, n)
				for i, e := range all {
					require.EqualValues(t, i, e.ID)
				}
			})
		}
	}
}

// A running application evicts its oldest execution between two pages.
func TestShiftedPagesAreReadAgain(t *testing.T) {
	requests := 0
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 2 {
			offset, _ := strconv.Atoi(r.FormValue("offset"))
			r.Form.Set("offset", strconv.Itoa(offset+1))
		}
		executions(150, true)(w, r)
	})
	all, _, err := client.UI("a", "").SQL(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 150)
	require.Equal(t, 4, requests)
}

func TestPathsHaveNoEmptyAttempt(t *testing.T) {
	for attempt, want := range map[string]string{
		"": "/api/v1/applications/app%2F1/jobs", "2": "/api/v1/applications/app%2F1/2/jobs",
	} {
		var requested string
		client := serve(t, func(w http.ResponseWriter, r *http.Request) {
			requested = r.URL.EscapedPath()
			respond(w, "[]")
		})
		_, err := client.UI("app/1", attempt).Jobs(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, requested)
	}
}

func TestMissingTimes(t *testing.T) {
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		respond(w, `[{"id":"a","attempts":[
			{"startTimeEpoch":5,"startTime":"2026-11-24T08:16:37.068GMT","endTimeEpoch":-1,"endTime":"1969-12-31T23:59:59.999GMT"},
			{"startTime":"2026-11-24T08:16:37.068GMT","endTime":null}]}]`)
	})
	all, err := client.Applications(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 5, all[0].Attempts[0].Start)
	require.Zero(t, all[0].Attempts[0].End)
	require.EqualValues(t, 1795508197068, all[0].Attempts[1].Start)
	require.Zero(t, all[0].Attempts[1].End)
}

func TestRetriesUntilTheServerResponds(t *testing.T) {
	failures := map[string]http.HandlerFunc{
		"too many": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"server error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			respond(w, `[{"jobId":1`)
		},
		"cut at chunk": func(w http.ResponseWriter, _ *http.Request) { respond(w, `[{"jobId":1`) },
		"reset":        func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"loading": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>Loading historical Spark UI")
		},
	}
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			requests := 0
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if requests++; requests <= 2 {
					fail(w, r)
					return
				}
				respond(w, `[{"jobId":1}]`)
			})
			jobs, err := client.UI("a", "").Jobs(t.Context())
			require.NoError(t, err)
			require.Len(t, jobs, 1)
			require.Equal(t, 3, requests)
		})
	}
}

// Retry-After is respected: 1 second is longer than any pause of quick.
func TestRetryAfter(t *testing.T) {
	var last time.Time
	var pause time.Duration
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if last.IsZero() {
			last = time.Now()
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		pause = time.Since(last)
		respond(w, "[]")
	})
	_, err := client.UI("a", "").Jobs(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, pause, time.Second)
}

func TestFailureLimit(t *testing.T) {
	requests := map[string]int{}
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests[r.URL.Path]++
		if r.URL.Path == "/api/v1/applications/a/jobs" {
			respond(w, "[]")
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	})
	ui := client.UI("a", "")
	_, err := ui.Jobs(t.Context())
	require.NoError(t, err)
	for i := range 5 {
		_, err := ui.Stages(t.Context())
		require.Equal(t, i >= 3, errors.Is(err, history.ErrLeftOut), "%d: %v", i, err)
	}
	require.Equal(t, 3*5, requests["/api/v1/applications/a/stages"])
	_, err = ui.Jobs(t.Context())
	require.NoError(t, err, "other endpoints are still read")

	unread := client.UI("b", "")
	for range 3 {
		_, err = unread.Stages(t.Context())
		require.Error(t, err)
	}
	_, err = unread.Executors(t.Context())
	require.ErrorIs(t, err, history.ErrLeftOut, "none of its endpoints could be read")
}

// The first request of an application attempt, for which the server replays its log, is
// sent alone. Later ones share the server.
func TestSingleRequestUntilWarm(t *testing.T) {
	var client *history.Client
	var shared []bool
	client = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		shared = append(shared, client.Shares())
		respond(w, "[]")
	})
	for _, id := range []string{"a", "b"} {
		ui := client.UI(id, "")
		for range 2 {
			_, err := ui.Jobs(t.Context())
			require.NoError(t, err)
		}
	}
	require.Equal(t, []bool{false, true, false, true}, shared)
}

func TestLongResponses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		executions(50, strings.HasSuffix(r.URL.Path, "/sql"))(w, r)
	}))
	t.Cleanup(server.Close)
	o := quick()
	o.MaxBody = 4 * 200 // a page of 5 executions
	client, err := history.Open(server.URL, o)
	require.NoError(t, err)
	all, shortened, err := client.UI("a", "").SQL(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 50)
	require.Empty(t, shortened)
	_, err = client.UI("a", "").Jobs(t.Context())
	require.ErrorIs(t, err, history.ErrTooLong)
}

// Plans of which not even two fit into a page are left out, and the rows are named. The
// lengths of pages, halved, come to an odd number before.
func TestLongPlansAreLeftOut(t *testing.T) {
	const n, heavy = 20, 7
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("offset"))
		length, _ := strconv.Atoi(r.FormValue("length"))
		var rows []string
		for i := from; i < min(n, from+length); i++ {
			plan := ""
			if i >= heavy && i < heavy+3 && r.FormValue("planDescription") != "false" {
				plan = strings.Repeat("x", 2000)
			}
			rows = append(rows, fmt.Sprintf(`{"id":%d,"status":"COMPLETED","planDescription":%q}`, i, plan))
		}
		respond(w, "["+strings.Join(rows, ",")+"]")
	}))
	t.Cleanup(server.Close)
	o := quick()
	o.MaxBody = 4 * 3000
	client, err := history.Open(server.URL, o)
	require.NoError(t, err)
	all, shortened, err := client.UI("a", "").SQL(t.Context())
	require.NoError(t, err)
	require.Len(t, all, n)
	for i, e := range all {
		require.EqualValues(t, i, e.ID)
	}
	require.NotEmpty(t, shortened)
}

// trust makes AWS_CA_BUNDLE a file with the certificate of a TLS server.
func trust(t *testing.T, server *httptest.Server) {
	t.Helper()
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(bundle, text, 0o600))
	t.Setenv("AWS_CA_BUNDLE", bundle)
}

// A zip that would inflate to far more than event logs do is not read, and not asked for again.
func TestZipBombs(t *testing.T) {
	requests := 0
	zipped := func(inflated int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			requests++
			w.Header().Set("Content-Type", "application/octet-stream")
			archive := zip.NewWriter(w)
			file, err := archive.Create("application_1_0001")
			if err == nil {
				_, err = file.Write(bytes.Repeat([]byte{'\n'}, inflated))
			}
			if err := errors.Join(err, archive.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	logs, err := serve(t, zipped(1000)).UI("application_1_0001", "").Logs(t.Context())
	require.NoError(t, err)
	require.NoError(t, logs.Close())
	requests = 0
	_, err = serve(t, zipped(10<<20)).UI("application_1_0001", "").Logs(t.Context())
	require.ErrorIs(t, err, history.ErrTooLong)
	require.Equal(t, 1, requests)
}

// A download that would fill the disk ends, and may be tried again later. Others may have
// used the disk since the download began.
func TestDownloadsLeaveSpaceOnTheDisk(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(make([]byte, 101)) // fails when the client has enough
	}))
	t.Cleanup(server.Close)
	o, left := quick(), int64(60)
	o.Folder = t.TempDir()
	o.Spare = func(folder string) (int64, error) {
		require.Equal(t, o.Folder, folder)
		spare := left
		left -= 40
		return max(0, spare), nil
	}
	client, err := history.Open(server.URL, o)
	require.NoError(t, err)
	_, err = client.UI("application_1_0001", "").Logs(t.Context())
	require.ErrorIs(t, err, history.ErrNoSpace)
	require.ErrorContains(t, err, "not enough disk space in "+o.Folder)
	require.False(t, history.IsFinal(err))
	require.Negative(t, left, "it looked again while it read")
}

// The space of a real disk is known, and some of it is kept.
func TestSpaceOfTheDisk(t *testing.T) {
	folder := t.TempDir()
	var disk unix.Statfs_t
	require.NoError(t, unix.Statfs(folder, &disk))
	spare, err := history.Spare(folder)
	require.NoError(t, err)
	require.Less(t, spare, int64(disk.Bavail)*disk.Bsize)
	_, err = history.Spare(filepath.Join(folder, "missing"))
	require.ErrorContains(t, err, "look up the free space of "+folder)
}

// The server would read every task of every stage for their details.
func TestStagesAreListedWithoutTheirTasks(t *testing.T) {
	var query string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.RawQuery
		respond(w, "[]")
	})
	_, err := client.UI("application_1_0001", "").Stages(t.Context())
	require.NoError(t, err)
	require.Empty(t, query, "neither details nor withSummaries, and every status")
}
