package persistentui_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	testclock "k8s.io/utils/clock/testing"

	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
)

// hdfsFile is a file in HDFS. While it is written to, the NameNode lists an earlier length.
type hdfsFile struct {
	content string
	length  int
}

// serveHDFS answers as WebHDFS does.
func serveHDFS(t *testing.T, files map[string]hdfsFile) persistentui.HDFS {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := strings.TrimPrefix(r.URL.Path, "/webhdfs/v1")
		if r.URL.Query().Get("op") == "OPEN" {
			offset, err := strconv.Atoi(r.URL.Query().Get("offset"))
			if err != nil || offset > files[at].length {
				http.Error(w, "beyond the end", http.StatusForbidden)
				return
			}
			_, _ = w.Write([]byte(files[at].content[offset:]))
			return
		}
		found, seen := []map[string]any{}, map[string]bool{}
		for name, f := range files {
			rest, below := strings.CutPrefix(name, at+"/")
			first, _, folder := strings.Cut(rest, "/")
			if !below || seen[first] {
				continue
			}
			seen[first] = true
			kind := map[bool]string{false: "FILE", true: "DIRECTORY"}[folder]
			found = append(found, map[string]any{"pathSuffix": first, "type": kind, "length": f.length, "modificationTime": 1})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"FileStatuses": map[string]any{"FileStatus": found}})
	}))
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	return persistentui.HDFS{NameNode: address, Hosts: map[string]string{"127.0.0.1": "127.0.0.1"}, EventLog: "/logs"}
}

// The last file of a rolled log is copied as far as the driver has flushed it, although the
// NameNode lists an earlier length, and its copy is not truncated.
func TestRolledLogThatIsWrittenTo(t *testing.T) {
	now := time.Now()
	s := persistentui.Service{Dir: t.TempDir(), Clock: testclock.NewFakePassiveClock(now), Log: slog.New(slog.DiscardHandler)}
	const log = "/logs/eventlog_v2_app-1/"
	files := map[string]hdfsFile{
		log + "appstatus_app-1.inprogress": {}, log + "events_9_app-1": {"old\n", 4}, log + "events_10_app-1": {"first\nsecond\n", 6},
	}
	hdfs := serveHDFS(t, files)
	last := filepath.Join(s.Dir, "logs", "j-1", "eventlog_v2_app-1", "events_10_app-1")
	collect := func() (string, time.Time) {
		require.NoError(t, s.Collect(t.Context(), "j-1", hdfs))
		text, err := os.ReadFile(last)
		require.NoError(t, err)
		info, err := os.Stat(last)
		require.NoError(t, err)
		return string(text), info.ModTime()
	}
	text, modified := collect()
	require.Equal(t, "first\nsecond\n", text)
	require.WithinDuration(t, now, modified, time.Second, "HDFS does not update the time of a file that is written to")
	before, err := os.Stat(last)
	require.NoError(t, err)
	files[log+"events_10_app-1"] = hdfsFile{"first\nsecond\nthird\n", 6}
	text, _ = collect()
	require.Equal(t, "first\nsecond\nthird\n", text)
	after, err := os.Stat(last)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))

	delete(files, log+"appstatus_app-1.inprogress")
	files[log+"appstatus_app-1"], files[log+"events_10_app-1"] = hdfsFile{}, hdfsFile{"first\nsecond\nthird\nend\n", 23}
	text, modified = collect()
	require.Equal(t, "first\nsecond\nthird\nend\n", text)
	require.Equal(t, int64(1), modified.UnixMilli())
	require.FileExists(t, path.Join(path.Dir(last), "appstatus_app-1"))
}
