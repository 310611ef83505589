package emr_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/emr"
	"github.com/emr-observatory/emr-observatory/localcloud/persistentui"
)

// madeLogs is a folder of HDFS in which a test makes logs of its own.
const madeLogs = "/tmp/made"

// webHDFS writes to the cluster's HDFS.
type webHDFS struct {
	persistentui.HDFS
	t *testing.T
}

func (c *cloud) webHDFS(t *testing.T, id string) webHDFS {
	t.Helper()
	instances, err := c.Store.Instances(id)
	require.NoError(t, err)
	h := webHDFS{persistentui.HDFS{Hosts: map[string]string{}, User: emr.HDFSUser(), EventLog: madeLogs}, t}
	for _, i := range instances {
		h.Hosts[*i.PrivateDnsName] = *i.PrivateIpAddress
		if *i.InstanceType == "m6g.xlarge" {
			h.NameNode = *i.PrivateIpAddress + ":9870"
		}
	}
	return h
}

// do sends a request about a path below madeLogs and returns the answer.
func (h webHDFS) do(method, path, query, body string) string {
	h.t.Helper()
	address := "http://" + h.NameNode + "/webhdfs/v1" + madeLogs + path + "?user.name=" + h.User + "&noredirect=true&" + query
	return h.send(method, address, body)
}

func (h webHDFS) send(method, address, body string) string {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, address, strings.NewReader(body))
	require.NoError(h.t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(h.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(h.t, err)
	require.Less(h.t, response.StatusCode, 300, "%s %s: %s", method, address, text)
	return string(text)
}

// write creates a file, or with the operation APPEND appends to it.
func (h webHDFS) write(operation, path, content string) {
	h.t.Helper()
	method := map[string]string{"CREATE": http.MethodPut, "APPEND": http.MethodPost}[operation]
	var answer struct{ Location string }
	require.NoError(h.t, json.Unmarshal([]byte(h.do(method, path, "overwrite=true&op="+operation, "")), &answer))
	for name, address := range h.Hosts { // the DataNode's name, which only nodes resolve
		answer.Location = strings.ReplaceAll(answer.Location, name, address)
	}
	h.send(method, answer.Location, content)
}

func (h webHDFS) rename(from, to string) {
	h.do(http.MethodPut, from, "op=RENAME&destination="+madeLogs+to, "")
}

// testEventLogCopies makes logs do in HDFS what Spark makes them do, and requires that
// the copies follow, each byte read once.
func (c *cloud) testEventLogCopies(t *testing.T, id string) {
	h := c.webHDFS(t, id)
	const made = "j-MADE"
	copies := filepath.Join(c.UIs.Dir, "logs", made)
	requireCopies := func(want map[string]string) {
		t.Helper()
		require.NoError(t, c.UIs.Collect(t.Context(), made, h.HDFS))
		got := map[string]string{}
		require.NoError(t, filepath.WalkDir(copies, func(file string, e os.DirEntry, err error) error {
			require.NoError(t, err)
			if e.IsDir() {
				return nil
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			relative, err := filepath.Rel(copies, file)
			got[relative] = string(text)
			return err
		}))
		require.Equal(t, want, got)
	}
	h.write("CREATE", "/one.inprogress", "a\n")
	h.write("CREATE", "/eventlog_v2_two/events_1_two", "1\n")
	h.write("CREATE", "/eventlog_v2_two/appstatus_two.inprogress", "")
	h.write("CREATE", "/.hidden", "not a log")
	requireCopies(map[string]string{
		"one.inprogress": "a\n", "eventlog_v2_two/events_1_two": "1\n", "eventlog_v2_two/appstatus_two.inprogress": "",
	})
	h.write("APPEND", "/one.inprogress", "b\n")
	h.write("APPEND", "/eventlog_v2_two/events_1_two", "2\n")
	h.write("CREATE", "/eventlog_v2_two/events_2_two", "3\n")
	requireCopies(map[string]string{
		"one.inprogress": "a\nb\n", "eventlog_v2_two/events_1_two": "1\n2\n", "eventlog_v2_two/events_2_two": "3\n",
		"eventlog_v2_two/appstatus_two.inprogress": "",
	})
	h.write("APPEND", "/one.inprogress", "c\n")
	h.rename("/one.inprogress", "/one")
	h.rename("/eventlog_v2_two/appstatus_two.inprogress", "/eventlog_v2_two/appstatus_two")
	h.do(http.MethodDelete, "/eventlog_v2_two/events_1_two", "op=DELETE", "") // as compaction does
	h.write("CREATE", "/eventlog_v2_two/events_1_two.compact", "12\n")
	ended := map[string]string{
		"one": "a\nb\nc\n", "eventlog_v2_two/events_1_two.compact": "12\n", "eventlog_v2_two/events_2_two": "3\n",
		"eventlog_v2_two/appstatus_two": "",
	}
	requireCopies(ended)
	h.do(http.MethodDelete, "", "op=DELETE&recursive=true", "")
	h.do(http.MethodPut, "", "op=MKDIRS", "")
	requireCopies(ended) // the copies outlive the logs
	h.write("CREATE", "/one", "z\n")
	ended["one"] = "z\n"
	requireCopies(ended) // another log of the same name
}
