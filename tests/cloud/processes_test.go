package cloud_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// machineOf returns the init process of the machine that a process runs on. If it is
// killed, the kernel kills all processes of the machine.
func (c *cloud) machineOf(t *testing.T, pid int) int {
	t.Helper()
	programs, parent := c.processes(t), parents(t)
	for !strings.HasSuffix(strings.TrimSpace(programs[pid]), "machined boot") {
		require.Containsf(t, programs, pid, "a process of the region's machines")
		pid = parent[pid]
	}
	return pid
}

// parents maps every process to its parent.
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
			continue // it has exited
		}
		// The command's name, in parentheses, may contain any characters.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		found[pid], _ = strconv.Atoi(fields[1])
	}
	return found
}

// hostOf returns the host name of the machine that a process runs on.
func hostOf(t *testing.T, pid int) string {
	t.Helper()
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/etc/hostname", pid))
	require.NoError(t, err)
	return strings.TrimSpace(string(name))
}

// processes maps the process ids of the region and all its descendants to their
// command lines. Those of pods and daemons stay the same until a restart.
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

// commandLine returns a process's arguments, each followed by a space, or "" after
// it has exited.
func commandLine(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}

// recordCommandLines collects the command lines of all processes on the machine ten
// times a second while do runs: what anyone with ps could see.
func (c *cloud) recordCommandLines(do func()) {
	stop, recorded := make(chan struct{}), make(chan map[string]bool)
	go func() {
		lines := map[string]bool{}
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				recorded <- lines
				return
			case <-tick.C:
			}
			running, _ := filepath.Glob("/proc/[0-9]*")
			for _, folder := range running {
				if pid, err := strconv.Atoi(filepath.Base(folder)); err == nil {
					lines[commandLine(pid)] = true
				}
			}
		}
	}()
	defer func() { close(stop); c.commandLines = <-recorded }()
	do()
}

// process returns the id of the one process whose command line begins with name.
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
