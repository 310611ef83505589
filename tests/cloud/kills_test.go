package cloud_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
)

// TestKilledCommands kills up and down at random moments. The next up must repair
// what they left behind.
func TestKilledCommands(t *testing.T) {
	testenv.RequireLong(t, "make test-long kills both at random moments; internal/engine kills a program inside an update")
	t.Parallel() // see maxClouds
	c := newCloud(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 5 {
		c.killAndRepair(t, random, "up", 40*time.Second)
		c.killAndRepair(t, random, "down", 8*time.Second)
	}
	require.Equal(t, changes{}, c.up(t))
	regions := 0
	for pid := range parents(t) {
		if strings.Contains(commandLine(pid), "observatory region "+c.state) && !strings.Contains(commandLine(pid), "machined") {
			regions++
		}
	}
	require.Equal(t, 1, regions, "local clouds on this state")
	testenv.Eventually(t, func() bool { return len(c.status(t).Nodes) == 4 }, testenv.Arrival, time.Second,
		"the control node and the cluster's three nodes, none of an earlier cluster")
	c.run(t, "down")
	require.NoDirExists(t, c.state)
}

// killAndRepair kills a command at a random moment within about its usual duration,
// and brings the platform up again. It repeats a command that exited earlier.
func (c *cloud) killAndRepair(t *testing.T, random *rand.Rand, command string, within time.Duration) {
	t.Helper()
	for hit := false; !hit; {
		if command == "up" {
			c.run(t, "down")
		}
		after := time.Duration(random.Int64N(int64(within)))
		hit = c.startAndKill(t, command, after)
		t.Logf("%s is killed after %s: %t", command, after.Round(time.Millisecond), hit)
		c.up(t)
	}
}

// startAndKill starts a command and kills it after a delay. It returns false if the
// command exited earlier.
func (c *cloud) startAndKill(t *testing.T, command string, after time.Duration) bool {
	t.Helper()
	args := []string{command}
	if command == "up" {
		args = append(args, "--no-job")
	}
	cmd := c.command(t, args...)
	require.NoError(t, cmd.Start())
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err := <-exited:
		require.NoError(t, err, "the command exited before it was killed")
		return false
	case <-time.After(after): // the moment itself
		err := cmd.Process.Kill()
		if errors.Is(err, os.ErrProcessDone) {
			require.NoError(t, <-exited, "the command exited before it was killed")
			return false
		}
		require.NoError(t, err)
		t.Logf("%s: %v", command, <-exited)
		return true
	}
}
