// Package regiontest runs a package's tests inside a region of their own, so
// that they boot real machines, reach them over the region's network, and may
// mount and change ids as the local cloud does.
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

// stateEnv tells the re-executed test binary that it is the region's process,
// and where its state is.
const stateEnv = "REGION_TEST_STATE"

const machinedPackage = "github.com/emr-observatory/emr-observatory/localcloud/machine/machined"

// aliveName is the inherited socket that closes when the outer process ends.
const aliveName = "alive"

// longest is how long tests may take; go test's own -timeout is to end them.
const longest = 2 * time.Hour

// Addresses of the region in tests: the network of instances with its gateway,
// which also serves, and the network of pods.
const (
	Gateway     = "10.0.0.1"
	Prefix      = 16
	PodsPrefix  = "10.42.0"
	PodsGateway = PodsPrefix + ".1"
)

// Main runs the tests inside a region and gives the exit code for os.Exit. In
// the process that go test starts it builds machined, starts the same binary in
// fresh namespaces and waits; output and flags are the inner process's.
func Main(m *testing.M) int {
	if dir := os.Getenv(stateEnv); dir != "" {
		return inside(m, dir)
	}
	code, err := outside()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func outside() (int, error) {
	dir, err := os.MkdirTemp("", "region-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", machined(dir), machinedPackage) //nolint:gosec // our own program
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build machined: %w\n%s", err, out)
	}
	alive, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	held, err := net.Dial("tcp", alive.Addr().String())
	if err != nil {
		return 0, err
	}
	defer held.Close()
	if err := os.Setenv(stateEnv, dir); err != nil {
		return 0, err
	}
	if _, err := region.Spawn(machined(dir), os.Args, map[string]net.Listener{aliveName: alive}, os.Stdout, longest); err != nil {
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

func inside(m *testing.M, dir string) int {
	listeners, done, err := region.Inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		conn, err := listeners[aliveName].Accept()
		if err == nil {
			_, _ = conn.Read(make([]byte, 1))
		}
		os.Exit(1) // nobody waits for the tests any more
	}()
	code := m.Run()
	if err := os.WriteFile(exitFile(dir), []byte(strconv.Itoa(code)), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := done(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

var open = sync.OnceValues(func() (*region.Region, error) {
	return region.Open(filepath.Join(os.Getenv(stateEnv), "machines"), Machined(),
		fmt.Sprintf("%s/%d", Gateway, Prefix), PodsGateway+"/24")
})

// Region gives the region of this process, which all its tests share; names of
// machines and addresses are theirs to keep apart.
func Region(t *testing.T) *region.Region {
	t.Helper()
	r, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Machined is the path of the machined binary.
func Machined() string { return machined(os.Getenv(stateEnv)) }
