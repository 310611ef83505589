package collector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/platform"
)

// MachineCommand is the first argument with which this program is started inside
// namespaces. Its main function then calls RunMachine.
const MachineCommand = "collector-machine"

// controlIP is the control node's address on the machine: loopback, but not the
// address at which the collector itself listens.
const controlIP = "127.0.0.2"

// machineRun is what a run prints, as JSON.
type machineRun struct {
	CPU float64 `json:"cpu_s"` // from the first line written until the last one arrived
}

// RunMachine runs the collector's binary as a node's unit does, writes the log, and
// prints the result once all lines have arrived. It changes mounts and network of
// its namespaces.
func RunMachine(ctx context.Context, binary string, out io.Writer) error {
	if err := errors.Join(prepare(), install(binary)); err != nil {
		return fmt.Errorf("prepare the machine: %w", err)
	}
	s, err := serveSink(fmt.Sprintf("%s:%d", controlIP, platform.OTLPGRPC))
	if err != nil {
		return fmt.Errorf("serve in place of the control node: %w", err)
	}
	defer s.stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd, err := unitCommand(ctx)
	if err != nil {
		return fmt.Errorf("read the unit: %w", err)
	}
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the collector: %w", err)
	}
	go func() {
		_ = cmd.Wait() // ProcessState has the outcome
		cancel(fmt.Errorf("the collector's end (%s)", cmd.ProcessState))
	}()
	used, err := cpuForLines(ctx, cmd.Process.Pid, s)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(machineRun{CPU: used})
}

// prepare empties the folders that the collector reads and writes, and brings up the
// loopback interface.
func prepare() error {
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	for _, dir := range []string{"/opt", "/mnt", "/var/log"} {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"); err != nil {
			return fmt.Errorf("mount %s: %w", dir, err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find the loopback interface: %w", err)
	}
	return netlink.LinkSetUp(lo)
}

// install puts the binary and the node's configuration where the unit expects them.
func install(binary string) error {
	config, err := node.CollectorConfig()
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(filepath.Dir(platform.NodeCollectorBinary), 0o755),
		os.MkdirAll(filepath.Dir(platform.NodeQueueDir), 0o755),
		os.Symlink(binary, platform.NodeCollectorBinary),
		os.WriteFile(platform.NodeCollectorConfig, config, 0o600),
	)
}

// unitCommand returns the command that the collector's unit runs, with its
// environment and that of a node without daemons.
func unitCommand(ctx context.Context) (*exec.Cmd, error) {
	unit, err := node.CollectorUnit()
	if err != nil {
		return nil, err
	}
	environment := append(os.Environ(), platform.EnvCluster+"=j-BENCH", platform.EnvRole+"="+platform.RoleCore,
		platform.EnvHost+"=bench", platform.EnvControl+"="+controlIP, platform.EnvYARNTargets+"=[]", platform.EnvHDFSTargets+"=[]")
	var words []string
	for line := range strings.Lines(string(unit)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "ExecStart":
			words = strings.Fields(value)
		case "Environment":
			environment = append(environment, value)
		}
	}
	if len(words) == 0 {
		return nil, errors.New("it has no ExecStart")
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = environment
	return cmd, nil
}

const (
	startTimeout = time.Minute
	// settle is how long after its start the collector has nothing left to do.
	settle = 3 * time.Second
	// arrivalTimeout is for a loaded machine; lines take a few seconds.
	arrivalTimeout = 3 * time.Minute
)

// cpuForLines returns the CPU time that the collector uses for the log's lines.
func cpuForLines(ctx context.Context, pid int, s *sink) (float64, error) {
	if err := poll.Until(ctx, poll.Options{Interval: 50 * time.Millisecond, Timeout: startTimeout}, healthy); err != nil {
		return 0, fmt.Errorf("collector not healthy %w", err)
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	before, err := cpuTime(pid)
	if err != nil {
		return 0, err
	}
	if err := writeLogs(Lines); err != nil {
		return 0, fmt.Errorf("write logs: %w", err)
	}
	err = poll.Until(ctx, poll.Options{Interval: 20 * time.Millisecond, Timeout: arrivalTimeout}, func(context.Context) error {
		if n := s.lines.Load(); n < Lines {
			return fmt.Errorf("%d of %d lines arrived", n, Lines)
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("lines not complete %w", err)
	}
	after, err := cpuTime(pid)
	if n := s.lines.Load(); err == nil && n != Lines {
		err = fmt.Errorf("%d lines arrived, must be %d", n, Lines)
	}
	return after - before, err
}

// healthy asks the collector's health check.
func healthy(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d", platform.CollectorHealth), nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("its health check answers %s", res.Status)
	}
	return nil
}

// cpuTime returns a process's CPU time in seconds, all threads.
func cpuTime(pid int) (float64, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, fmt.Errorf("read the collector's CPU time: %w", err)
	}
	stat, err := p.Stat()
	if err != nil {
		return 0, fmt.Errorf("read the collector's CPU time: %w", err)
	}
	return stat.CPUTime(), nil
}
