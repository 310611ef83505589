package workloadconfig_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"

	workloadconfig "github.com/emr-observatory/emr-observatory/assets/workloads"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// insideLab is the variable with the folder of the project's own binary. It is set
// in the namespaces.
const insideLab = "OBSERVATORY_TEST_INSIDE"

// TestMain runs the tests in network and mount namespaces of their own, so that
// the servers listen on their real ports and find each other by their real
// names, whatever else runs on the machine.
func TestMain(m *testing.M) {
	if os.Getenv(insideLab) == "" {
		os.Exit(runInNamespaces())
	}
	if err := setUpNamespaces(); err != nil {
		fmt.Fprintln(os.Stderr, "set up namespaces:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// runInNamespaces runs the test binary again in namespaces of its own and returns
// its exit code.
func runInNamespaces() int {
	// What only tests run is built and fetched here, since the namespaces have no
	// network.
	if _, err := servers.Build(context.Background(), string(platform.WorkloadYACE), nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if _, err := applications.Fetch(context.Background(), nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	own, err := os.MkdirTemp("", "own")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(own) }()
	build := exec.Command("go", "build", "-o", filepath.Join(own, "observatory"), "../../cmd/observatory-control")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n%s", build, err, out)
		return 1
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), insideLab+"="+own)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "enter namespaces (allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1):", err)
		return 1
	}
	return 0
}

// setUpNamespaces enables the loopback interface and gives it the names of all
// workloads.
func setUpNamespaces() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return err
	}
	hosts, err := os.CreateTemp("", "hosts")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(hosts.Name()) }()
	names := "localhost"
	for _, w := range platform.Workloads() {
		names += " " + string(w.Name)
	}
	if _, err := fmt.Fprintf(hosts, "127.0.0.1 %s\n", names); err != nil {
		return err
	}
	if err := hosts.Close(); err != nil {
		return err
	}
	return syscall.Mount(hosts.Name(), "/etc/hosts", "", syscall.MS_BIND, "")
}

// server is a running server and the folder in place of its container.
type server struct {
	cmd  *exec.Cmd
	dir  string
	done chan struct{} // closed when it has ended
}

// start runs a workload's real server with its configuration, after its preparation;
// only ConfigDir, DataDir and PreparedDir are in dir. Its output is shown if the test
// fails.
func start(t *testing.T, w platform.Workload, c workloadconfig.Config, dir string, env ...string) *server {
	t.Helper()
	rebase := strings.NewReplacer(workloadconfig.ConfigDir, filepath.Join(dir, "config"), workloadconfig.DataDir, filepath.Join(dir, "data"),
		workloadconfig.PreparedDir, filepath.Join(dir, "prepared"))
	for name, body := range c.Files {
		writeFile(t, filepath.Join(dir, "config", name), rebase.Replace(body))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data"), 0o755))
	var args []string
	for _, a := range c.Args {
		args = append(args, rebase.Replace(a))
	}
	if c.Preparation != nil {
		prepare(t, *c.Preparation, rebase, dir, env)
	}
	for k, v := range c.Env {
		env = append(env, k+"="+v)
	}
	return run(t, string(w), dir, env, args...)
}

// run starts a program until the end of the test.
func run(t *testing.T, name, dir string, env []string, args ...string) *server {
	t.Helper()
	binary, args := commandOf(t, name, args)
	out, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	s := &server{cmd: exec.Command(binary, args...), dir: dir, done: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env = dir, append(os.Environ(), env...)
	s.cmd.Stdout, s.cmd.Stderr = out, out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, s.cmd.Start())
	go func() { _ = s.cmd.Wait(); close(s.done) }()
	t.Cleanup(func() {
		s.stop(t)
		if t.Failed() {
			log, _ := os.ReadFile(out.Name())
			t.Logf("output of %s:\n%s", name, tail(log, 3000))
		}
		_ = out.Close()
	})
	return s
}

// commandOf returns what a workload's container runs: the server of its image, or
// the project's own binary, which may start that server.
func commandOf(t *testing.T, name string, args []string) (string, []string) {
	t.Helper()
	r, err := platform.Workloads().Get(platform.Workload(name))
	own := err == nil && r.OwnBinary != ""
	if own && r.Executable == "" {
		return ownBinary(), args
	}
	image, err := servers.Find(context.Background(), name)
	require.NoError(t, err)
	if !own {
		return image, args
	}
	at := slices.Index(args, r.Executable)
	if at < 0 { // the test starts the server without the wrapper
		return image, args
	}
	args = slices.Clone(args)
	args[at] = image
	return ownBinary(), args
}

func ownBinary() string { return filepath.Join(os.Getenv(insideLab), "observatory") }

func (s *server) exited() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// kill sends SIGKILL.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// stop sends SIGTERM, as Kubernetes does, and waits.
func (s *server) stop(t *testing.T) {
	t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
	case <-time.After(testenv.Limit(corev1.DefaultTerminationGracePeriodSeconds * time.Second).Scaled()):
		s.kill()
		t.Errorf("%s did not exit within Kubernetes' grace period", s.cmd.Path)
	}
}

func writeFile(t *testing.T, path, body string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(body), 0o644))
}

func tail(b []byte, n int) []byte {
	if len(b) > n {
		return b[len(b)-n:]
	}
	return b
}

// request returns status and answer; a refused connection is status 0.
func request(method, url, contentType, body string, headers ...string) (int, string) {
	return requestWithin(testenv.Answer, method, url, contentType, body, headers...)
}

// requestWithin is like request, for an answer that takes long.
func requestWithin(limit testenv.Limit, method, url, contentType, body string, headers ...string) (int, string) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Content-Type", contentType)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Timeout: limit.Scaled()}
	res, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	var b bytes.Buffer
	_, _ = io.Copy(&b, res.Body)
	return res.StatusCode, b.String()
}

// ready waits until a server reports that it is ready, or fails if it exits.
func (s *server) ready(t *testing.T, url string) {
	t.Helper()
	ended := false
	if !waitFor(testenv.Start, func() bool {
		select {
		case <-s.done:
			ended = true
		default:
		}
		status, _ := request("GET", url, "", "")
		return ended || status == http.StatusOK
	}) || ended {
		t.Fatalf("%s: not ready at %s; ended: %t", s.cmd.Path, url, ended)
	}
}

// eventually polls until the answer of url satisfies ok.
func eventually(t *testing.T, limit testenv.Limit, method, url string, ok func(status int, body string) bool) string {
	t.Helper()
	var last string
	if !waitFor(limit, func() bool {
		var status int
		status, last = request(method, url, "application/json", "")
		return ok(status, last)
	}) {
		t.Fatalf("%s %s: condition not met; last answer: %s", method, url, last)
	}
	return last
}

// waitFor polls until ok is true, and reports whether it was within the time.
func waitFor(limit testenv.Limit, ok func() bool) bool {
	return testenv.Poll(context.Background(), limit, 100*time.Millisecond, func(context.Context) error {
		if !ok() {
			return errors.New("not yet")
		}
		return nil
	}) == nil
}

func is200(status int, _ string) bool { return status == http.StatusOK }

// countContained counts the words that body contains.
func countContained(body string, words []string) int {
	n := 0
	for _, w := range words {
		if strings.Contains(body, w) {
			n++
		}
	}
	return n
}

// copyFolder replaces a folder by a copy of another, with its files' times.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(to))
	out, err := exec.Command("cp", "-a", from, to).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// contains accepts responses with status 200 and a text, for eventually.
func contains(s string) func(int, string) bool {
	return func(status int, body string) bool { return status == http.StatusOK && strings.Contains(body, s) }
}
