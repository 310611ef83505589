package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// runningCloud is a state folder whose local cloud seems to run, with these addresses.
func runningCloud(t *testing.T, addresses map[string]string) string {
	t.Helper()
	state := t.TempDir()
	running := localcloud.Running{PID: os.Getpid(), Addresses: addresses}
	for name := range running.Environment(localcloud.Credentials{}) {
		t.Setenv(name, "") // what a command sets ends with the test
	}
	text, err := json.Marshal(running)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(state, "region.json"), text, 0o600))
	lock := flock.New(filepath.Join(state, "region.lock"))
	require.NoError(t, lock.Lock())
	t.Cleanup(func() { require.NoError(t, lock.Unlock()) })
	return state
}

// What is down comes before everything else, and decides the exit code.
func TestStatusTellsWhatIsDown(t *testing.T) {
	workload := func(w status.Workload) *status.Status {
		return &status.Status{SchemaVersion: status.SchemaVersion, Workloads: []status.Workload{w}}
	}
	for name, c := range map[string]struct {
		answer *status.Status // nil = 502
		first  string         // of the output
		code   error
	}{
		"all is ready": {workload(status.Workload{Name: "tempo", Ready: true}), "control node ", nil},
		"does not run": {workload(status.Workload{Name: "grafana", Absent: "no grafana is on PATH"}), "control node ", nil},
		"is not ready": {workload(status.Workload{Name: "tempo", Reason: "503"}), "problem: tempo is not ready: 503\n", exitDown},
		"no status":    {nil, "problem: fetch status: ", exitDown},
		"only a remark": {
			&status.Status{SchemaVersion: status.SchemaVersion, Problems: []string{"read it again"}}, "not known: read it again\n", nil,
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/workloads":
				_, _ = w.Write([]byte("[]"))
			case c.answer == nil:
				http.Error(w, "the control node does not answer", http.StatusBadGateway)
			default:
				assert.NoError(t, writeJSON(w, c.answer))
			}
		}))
		t.Cleanup(server.Close)
		address := server.Listener.Addr().String()
		state := runningCloud(t, map[string]string{string(platform.WorkloadStatus): address, localcloud.ServiceControl: address})
		for where, args := range map[string][]string{"local": nil, "AWS": {"--url", server.URL}, "JSON": {"--json"}} {
			var out bytes.Buffer
			command := statusCommand(&settings{state: state})
			command.SetOut(&out)
			command.SetErr(&out)
			command.SetArgs(args)
			err := command.ExecuteContext(t.Context())
			if where == "AWS" && c.answer == nil {
				require.ErrorContains(t, err, "502", "there is no status to print")
				continue
			}
			require.Equal(t, c.code, err, "%s, %s", name, where)
			if where != "JSON" {
				require.True(t, strings.HasPrefix(out.String(), c.first), "%s, %s: %s", name, where, out.String())
			}
		}
	}
}
