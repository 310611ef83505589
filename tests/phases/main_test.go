// Package phases_test runs real Spark jobs, which keep their own clock, on a real
// YARN with a real S3 gateway, and compares that clock with the phases of the
// platform: those of the Go engine from the event logs, and the plugin's.
//
// One ResourceManager and one NodeManager serve all tests of the package. They are
// plain processes, not machines of the local cloud: the network of a region is of
// no interest here, and a cluster of it takes a minute to start.
package phases_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// insideVariable is set in the process that runs the tests: the folder of its state.
const insideVariable = "OBSERVATORY_PHASES_STATE"

// TestMain runs the tests in user, mount, network and process namespaces of their
// own, where the launcher finds its files and the daemons their ports, whatever
// runs on this machine. Nothing of the tests outlives the process namespace.
func TestMain(m *testing.M) {
	if os.Getenv(insideVariable) == "" {
		os.Exit(again())
	}
	if err := enter(); err != nil {
		fmt.Fprintln(os.Stderr, "prepare the namespaces:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// again runs this binary again inside the namespaces and returns its exit code.
func again() int {
	dir, err := os.MkdirTemp("", "phases-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if os.Getenv("OBSERVATORY_KEPT_STATE") == "" {
		defer os.RemoveAll(dir)
	}
	if err := fetchJars(filepath.Join(dir, "jars")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	inner := exec.Command("unshare", append([]string{
		"--map-root-user", "--user", "--mount", "--net", "--pid", "--fork", "--kill-child", os.Args[0],
	}, os.Args[1:]...)...)
	inner.Env = append(os.Environ(), insideVariable+"="+dir)
	inner.Stdout, inner.Stderr = os.Stdout, os.Stderr
	err = inner.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "start the namespaces:", err)
		return 1
	}
	return 0
}

// cloudJar has the binding between Spark's writes and S3A's committers, which EMR's
// Spark contains.
const cloudJar = "org.apache.spark:spark-hadoop-cloud_2.12:" + applications.Spark

// fetchJars fetches, while there is a network, what jobs need beside EMR's applications.
func fetchJars(dir string) error {
	out, err := exec.Command("mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy",
		"-Dartifact="+cloudJar, "-DoutputDirectory="+dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("fetch %s: %w\n%s", cloudJar, err, out)
	}
	return nil
}

// enter gives the process a /proc and /opt of its own and a loopback network.
func enter() error {
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", "/opt", "tmpfs", 0, "mode=0755"); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(lo)
}
