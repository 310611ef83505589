// Package cloud_test runs the platform on a local cloud as its users do, with the real
// engine, EMR nodes, Spark and telemetry servers, through outages, kills and edits.
package cloud_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/keptlogs"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/stacks"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// programs are built once for all tests.
var programs = trial.NewPrograms()

func TestMain(m *testing.M) {
	code := m.Run()
	programs.Remove()
	os.Exit(code)
}

// cloud is a local cloud under test, driven by the program's own commands.
type cloud struct {
	state   string
	project string
	program string

	env          []string        // of its commands; nil: the test's
	commandLines map[string]bool // see recordCommandLines
	outputCache  map[string]any  // the stack's outputs, until the next up
}

// keptState names a state folder that outlives the test, so that a part of
// TestLife can be repeated without another up.
const keptState = "OBSERVATORY_KEPT_STATE"

// maxClouds bounds how many clouds exist at a time: one with a job needs 5 GiB.
const maxClouds = 2

var clouds = make(chan struct{}, maxClouds)

// gatewayRequest matches a request to the S3 gateway in region.log.
var gatewayRequest = regexp.MustCompile(`(?m)^.*\| vgw \|.*\n`)

// newCloud returns a cloud with an empty state folder, once fewer than maxClouds
// exist.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{project: trial.Root(t), program: filepath.Join(programs.Dir(t), "observatory")}
	c.state = filepath.Join(newCloudFolder(t), "state")
	c.cleanUp(t)
	return c
}

// newClone returns a cloud on a fresh copy of the checkout, as a new user has it:
// c.make runs its targets there.
func newClone(t *testing.T) *cloud {
	t.Helper()
	if kept := os.Getenv(keptState); kept != "" {
		return &cloud{project: trial.Root(t), program: filepath.Join(programs.Dir(t), "observatory"), state: kept}
	}
	project := filepath.Join(newCloudFolder(t), "emr-observatory")
	trial.CopyCheckout(t, project)
	c := &cloud{project: project, program: filepath.Join(project, "bin", "observatory"), state: filepath.Join(project, ".state")}
	// It uses the binaries that its own make built, also once other tests have built theirs.
	c.env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, stacks.BinaryEnv+"=") || strings.HasPrefix(variable, stacks.ProfilerBinaryEnv+"=")
	})
	c.cleanUp(t)
	return c
}

// newCloudFolder creates a folder that is removed when the test ends. Unlike
// t.TempDir it is readable by everyone, because processes of the nodes run as
// other users.
func newCloudFolder(t *testing.T) string {
	t.Helper()
	clouds <- struct{}{}
	t.Cleanup(func() { <-clouds })
	folder, err := os.MkdirTemp("", "observatory-cloud-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	require.NoError(t, os.Chmod(folder, 0o755))
	return folder
}

// cleanUp kills what still runs when the test ends, and keeps the logs of a
// failed test.
func (c *cloud) cleanUp(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		keptlogs.Copy(t, c.state)
		if t.Failed() {
			if log, err := os.ReadFile(filepath.Join(c.state, "region.log")); err == nil {
				log = gatewayRequest.ReplaceAll(log, nil) // they would hide what failed
				t.Logf("the end of region.log:\n%s", log[max(0, len(log)-2000):])
			}
		}
		if r, err := localcloud.Find(c.state); err == nil {
			_ = syscall.Kill(r.PID, syscall.SIGKILL)
		}
	})
}

// make runs a target in a clone, which uses the state folder below it. On a kept
// state it runs the command of the same name.
func (c *cloud) make(t *testing.T, target string) string {
	t.Helper()
	if os.Getenv(keptState) != "" {
		return c.run(t, target)
	}
	c.outputCache = nil
	began := time.Now()
	cmd := exec.CommandContext(t.Context(), "make", target)
	cmd.Dir, cmd.Env = c.project, c.env
	out, err := cmd.CombinedOutput()
	require.NoErrorf(t, err, "make %s\n%s", target, out)
	t.Logf("make %s: %s", target, time.Since(began).Round(time.Second))
	return string(out)
}

// command returns the observatory command for this cloud, not yet started.
func (c *cloud) command(t *testing.T, args ...string) *exec.Cmd {
	if args[0] == "up" || args[0] == "down" {
		c.outputCache = nil
	}
	cmd := exec.CommandContext(t.Context(), c.program, append([]string{"--state", c.state}, args...)...)
	cmd.Dir, cmd.Env = c.project, c.env
	return cmd
}

// try runs the program and returns what it printed.
func (c *cloud) try(t *testing.T, args ...string) (stdout, stderr string, err error) {
	cmd := c.command(t, args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err = cmd.Run()
	return out.String(), problems.String(), err
}

// run is like try, for commands that must succeed.
func (c *cloud) run(t *testing.T, args ...string) string {
	t.Helper()
	began := time.Now()
	out, problems, err := c.try(t, args...)
	require.NoErrorf(t, err, "observatory %s\n%s\n%s", strings.Join(args, " "), out, problems)
	t.Logf("observatory %s: %s", strings.Join(args, " "), time.Since(began).Round(time.Second))
	return out
}

// running describes the cloud's region process, which must exist.
func (c *cloud) running(t *testing.T) localcloud.Running {
	t.Helper()
	r, err := localcloud.Find(c.state)
	require.NoError(t, err)
	return r
}

// outputs returns the stack's outputs, as `pulumi stack output` prints them.
func (c *cloud) outputs(t *testing.T) outputs.Outputs {
	t.Helper()
	o, _, err := outputs.FromMap(c.plainOutputs(t))
	require.NoError(t, err)
	return o
}

// plainOutputs returns the stack's outputs by name, with secrets in plain text.
// Only an up changes them.
func (c *cloud) plainOutputs(t *testing.T) map[string]any {
	t.Helper()
	if c.outputCache == nil {
		text := c.run(t, "pulumi", "--", "stack", "output", "--json", "--show-secrets")
		require.NoError(t, json.Unmarshal([]byte(text), &c.outputCache))
	}
	return c.outputCache
}
