// Package regiontest runs a package's tests inside a region, so that they boot
// real machines, reach them over the region's network, and may mount and change
// uids as the local cloud does.
//
// It is for tests only: call Main from TestMain, then Region from tests.
package regiontest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/emr-observatory/emr-observatory/localcloud/region"
)

// stateEnv is set in the re-executed test binary, which is the region's process:
// the folder of its state.
const stateEnv = "REGION_TEST_STATE"

const machinedPackage = "github.com/emr-observatory/emr-observatory/localcloud/machine/machined"

// aliveName is the inherited socket that closes when the outer process exits.
const aliveName = "alive"

// testTimeout is longer than any -timeout of go test, which stops them first.
const testTimeout = 2 * time.Hour

// Addresses of the region in tests: the network of instances with its gateway,
// which also serves, and the network of pods.
const (
	Gateway     = "10.0.0.1"
	Prefix      = 16
	PodsPrefix  = "10.42.0"
	PodsGateway = PodsPrefix + ".1"
)

// Main runs the tests inside a region and returns the exit code for os.Exit. In
// the process that go test starts it builds machined, starts the same binary in
// new namespaces and waits; output and flags are the inner process'.
func Main(m *testing.M) int {
	if dir := os.Getenv(stateEnv); dir != "" {
		return runTests(m, dir)
	}
	code, err := spawnRegion()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// spawnRegion runs this binary again inside a region and returns its exit code.
func spawnRegion() (int, error) {
	dir, err := os.MkdirTemp("", "region-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", machined(dir), machinedPackage)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build machined: %w\n%s", err, out)
	}
	alive, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	keepAlive, err := net.Dial("tcp", alive.Addr().String())
	if err != nil {
		return 0, err
	}
	defer keepAlive.Close()
	if err := os.Setenv(stateEnv, dir); err != nil {
		return 0, err
	}
	if _, err := region.Spawn(machined(dir), os.Args, map[string]net.Listener{aliveName: alive}, os.Stdout, testTimeout); err != nil {
		return 0, err
	}
	raw, err := os.ReadFile(exitFile(dir))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(raw))
}

func machined(dir string) string { return filepath.Join(dir, "machined") }
func exitFile(dir string) string { return filepath.Join(dir, "exit-code") }

// runTests runs the tests in the region's process and records their exit code.
func runTests(m *testing.M, dir string) int {
	listeners, reportUp, err := region.Inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	finished := make(chan struct{})
	go func() {
		conn, err := listeners[aliveName].Accept()
		if err == nil {
			_, _ = conn.Read(make([]byte, 1))
		}
		select {
		case <-finished:
		default:
			os.Exit(1) // the outer process was killed
		}
	}()
	code := m.Run()
	close(finished)
	if err := os.WriteFile(exitFile(dir), []byte(strconv.Itoa(code)), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := reportUp(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

var openRegion = sync.OnceValues(func() (*region.Region, error) {
	return region.Open(filepath.Join(os.Getenv(stateEnv), "machines"), Machined(),
		fmt.Sprintf("%s/%d", Gateway, Prefix), PodsGateway+"/24")
})

// Region returns the region of this process, which all its tests share: they keep
// the machines' names and addresses apart.
func Region(t *testing.T) *region.Region {
	t.Helper()
	r, err := openRegion()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Machined returns the path of the machined binary.
func Machined() string { return machined(os.Getenv(stateEnv)) }
