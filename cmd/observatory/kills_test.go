package main_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKilledCommands kills up and down at random moments. The next up must
// mend whatever that left.
func TestKilledCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: brings up the whole local cloud again and again")
	}
	t.Parallel() // beside TestLife
	c := newCloud(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // moments, no secrets
	for _, kill := range []struct {
		command string
		within  time.Duration // about as long as the command takes
	}{
		{"up", 40 * time.Second}, {"down", 8 * time.Second}, {"up", 40 * time.Second}, {"down", 8 * time.Second}, {"up", 40 * time.Second},
		{"down", 8 * time.Second}, {"up", 40 * time.Second}, {"down", 8 * time.Second}, {"up", 40 * time.Second}, {"down", 8 * time.Second},
	} {
		for hit := false; !hit; { // until a kill comes before the command's own end
			if kill.command == "up" {
				c.run(t, "down")
			}
			after := time.Duration(random.Int64N(int64(kill.within)))
			hit = c.killed(t, kill.command, after)
			t.Logf("%s is killed after %s: %t", kill.command, after.Round(time.Millisecond), hit)
			c.up(t)
		}
	}
	require.Equal(t, changes{}, c.up(t))
	regions := 0
	for pid := range parents(t) {
		if strings.Contains(commandLine(pid), "observatory region "+c.state) && !strings.Contains(commandLine(pid), "machined") {
			regions++
		}
	}
	require.Equal(t, 1, regions, "local clouds on this state")
	require.Eventually(t, func() bool { return len(c.status(t).Nodes) == 4 }, time.Minute, time.Second, "the control node and the cluster's three, no node of an earlier one")
	c.run(t, "down")
	require.NoDirExists(t, c.state)
}

// killed starts a command and kills it after a while; false: it ended before.
func (c *cloud) killed(t *testing.T, command string, after time.Duration) bool {
	t.Helper()
	args := []string{command}
	if command == "up" {
		args = append(args, "--no-job")
	}
	cmd := c.command(t, args...)
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		require.NoError(t, err, "it ended before it was killed")
		return false
	case <-time.After(after): // the moment itself
		require.NoError(t, cmd.Process.Kill())
		<-ended
		return true
	}
}
