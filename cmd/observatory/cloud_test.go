package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// cloud is a local cloud under test, driven by the program's own commands.
type cloud struct {
	state   string
	project string
	program string
	seen    map[string]bool // command lines, see watched
}

// keptState names a state folder that outlives the test, so that a part of
// TestLife can be tried again without bringing all up anew.
const keptState = "OBSERVATORY_KEPT_STATE"

// newCloud gives the program an empty state folder. What still runs when the
// test ends is ended, and its log shown if the test failed.
func newCloud(t *testing.T) *cloud {
	project, err := filepath.Abs("../..")
	require.NoError(t, err)
	if kept := os.Getenv(keptState); kept != "" {
		return &cloud{state: kept, project: project, program: filepath.Join(programs(t), "observatory")}
	}
	// Not t.TempDir: accounts of the nodes must be able to pass through it.
	state, err := os.MkdirTemp("", "observatory-life-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(state, 0o755)) //nolint:gosec // see above
	c := &cloud{state: filepath.Join(state, "state"), project: project, program: filepath.Join(programs(t), "observatory")}
	t.Cleanup(func() {
		if t.Failed() {
			if log, err := os.ReadFile(filepath.Join(c.state, "region.log")); err == nil {
				t.Logf("the end of region.log:\n%s", log[max(0, len(log)-6000):])
			}
		}
		if r, err := localcloud.Find(c.state); err == nil {
			_ = syscall.Kill(r.PID, syscall.SIGKILL)
		}
		_ = os.RemoveAll(state)
	})
	return c
}

// command is the program with arguments on this cloud, not started yet.
func (c *cloud) command(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), c.program, append([]string{"--state", c.state}, args...)...)
	cmd.Dir = c.project
	return cmd
}

// try runs the program and gives what it printed.
func (c *cloud) try(t *testing.T, args ...string) (stdout, stderr string, err error) {
	cmd := c.command(t, args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err = cmd.Run()
	return out.String(), problems.String(), err
}

// run is try for commands that must succeed.
func (c *cloud) run(t *testing.T, args ...string) string {
	t.Helper()
	began := time.Now()
	out, problems, err := c.try(t, args...)
	require.NoErrorf(t, err, "observatory %s\n%s\n%s", strings.Join(args, " "), out, problems)
	t.Logf("observatory %s: %s", strings.Join(args, " "), time.Since(began).Round(time.Second))
	return out
}

func (c *cloud) running(t *testing.T) localcloud.Running {
	t.Helper()
	r, err := localcloud.Find(c.state)
	require.NoError(t, err)
	return r
}

// machineOf is the init of the machine that a process belongs to: the kernel
// ends all of a machine's processes with it.
func (c *cloud) machineOf(t *testing.T, pid int) int {
	t.Helper()
	programs, parent := c.processes(t), parents(t)
	for !strings.HasSuffix(strings.TrimSpace(programs[pid]), "machined boot") {
		require.Containsf(t, programs, pid, "a process of the region's machines")
		pid = parent[pid]
	}
	return pid
}

// parents are the processes that run here, each with the one that started it.
func parents(t *testing.T) map[int]int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	found := map[int]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// The command's name, in brackets, may hold anything.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		found[pid], _ = strconv.Atoi(fields[1])
	}
	return found
}

// hostOf is the host name of the machine that a process runs on.
func hostOf(t *testing.T, pid int) string {
	t.Helper()
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/etc/hostname", pid))
	require.NoError(t, err)
	return strings.TrimSpace(string(name))
}

// outputs are the stack's, as the engine's own command prints them.
func (c *cloud) outputs(t *testing.T) outputs.Outputs {
	t.Helper()
	o, _, err := outputs.FromMap(c.plainOutputs(t))
	require.NoError(t, err)
	return o
}

// plainOutputs are the stack's outputs by name, secrets in clear.
func (c *cloud) plainOutputs(t *testing.T) map[string]any {
	t.Helper()
	var all map[string]any
	require.NoError(t, json.Unmarshal([]byte(c.run(t, "pulumi", "--", "stack", "output", "--json", "--show-secrets")), &all))
	return all
}

// processes are the region's programs by name and process id. Pods and daemons
// keep theirs as long as nothing restarts them.
func (c *cloud) processes(t *testing.T) map[int]string {
	t.Helper()
	children := map[int][]int{}
	for pid, parent := range parents(t) {
		children[parent] = append(children[parent], pid)
	}
	found, queue := map[int]string{}, []int{c.running(t).PID}
	for len(queue) > 0 {
		pid := queue[0]
		queue = append(queue[1:], children[pid]...)
		if line := commandLine(pid); line != "" {
			found[pid] = line
		}
	}
	return found
}

// commandLine is a process's, with spaces between its arguments; "" once it has
// ended.
func commandLine(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}

// watched keeps the command lines of all that runs on the machine while
// something is done: ten looks a second, as a person with ps would have.
func (c *cloud) watched(t *testing.T, do func()) {
	t.Helper()
	stop, seen := make(chan struct{}), make(chan map[string]bool)
	go func() {
		lines := map[string]bool{}
		for look := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-stop:
				seen <- lines
				return
			case <-look.C:
			}
			running, _ := filepath.Glob("/proc/[0-9]*")
			for _, of := range running {
				if pid, err := strconv.Atoi(filepath.Base(of)); err == nil {
					lines[commandLine(pid)] = true
				}
			}
		}
	}()
	defer func() { close(stop); c.seen = <-seen }()
	do()
}

// process is the one process whose command line begins with name.
func (c *cloud) process(t *testing.T, name string) int {
	t.Helper()
	var pids []int
	for pid, line := range c.processes(t) {
		if strings.HasPrefix(line, name+" ") {
			pids = append(pids, pid)
		}
	}
	require.Lenf(t, pids, 1, "processes named %s", name)
	return pids[0]
}

// get reads a service's page into v, or only checks that it answers 200.
func (c *cloud) get(t *testing.T, service, path string, v any) {
	t.Helper()
	require.NoError(t, c.tryGet(t, service, path, v))
}

func (c *cloud) tryGet(t *testing.T, service, path string, v any) error {
	return c.send(t, http.MethodGet, service, path, nil, v)
}

func (c *cloud) send(t *testing.T, method, service, path string, body io.Reader, v any) error {
	return send(t.Context(), method, c.running(t).URL(service)+path, body, v)
}

// send gives a request's body and reads the answer into v, unless that is nil.
func send(ctx context.Context, method, url string, body io.Reader, v any) error {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %.300s", method, url, res.Status, raw)
	}
	switch v := v.(type) {
	case nil:
		return nil
	case *[]byte: // no JSON, or more than one
		*v = raw
		return nil
	default:
		return json.Unmarshal(raw, v)
	}
}

// sample is one series of an instant query's answer.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"`
}

func (s sample) number(t *testing.T) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(fmt.Sprint(s.Value[1]), 64)
	require.NoError(t, err)
	return f
}

// query asks VictoriaMetrics for the present.
func (c *cloud) query(t *testing.T, expr string) []sample {
	t.Helper()
	var answer struct {
		Data struct {
			Result []sample `json:"result"`
		} `json:"data"`
	}
	c.get(t, "victoria-metrics", "/api/v1/query?query="+url.QueryEscape(expr), &answer)
	return answer.Data.Result
}
