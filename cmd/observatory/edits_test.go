package main_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// changes is what an up did to the stack's resources.
type changes struct{ created, updated, replaced, deleted int }

func (c *cloud) up(t *testing.T, config ...string) changes {
	t.Helper()
	args := []string{"up", "--no-job"}
	for _, e := range config {
		args = append(args, "--config", e)
	}
	out := c.run(t, args...)
	m := regexp.MustCompile(`resources: .*`).FindString(out)
	var n changes
	_, err := fmt.Sscanf(m, "resources: %d created, %d updated, %d replaced, %d deleted", &n.created, &n.updated, &n.replaced, &n.deleted)
	require.NoErrorf(t, err, "%s", out)
	return n
}

// restarted names the workloads that got a new process between two looks.
func restarted(before, after map[int]string) []string {
	var names []string
	for pid, line := range before {
		if after[pid] != line {
			names = append(names, filepath.Base(strings.Fields(line)[0]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// servers are the processes of pods and daemons; shells and probes come and go.
func (c *cloud) servers(t *testing.T) map[int]string {
	t.Helper()
	found := c.processes(t)
	for pid, line := range found {
		if !regexp.MustCompile(`-config|--config|-storageDataPath|/java `).MatchString(line) {
			delete(found, pid)
		}
	}
	return found
}

func editRestartsOne(t *testing.T, c *cloud) {
	before := c.servers(t)
	n := c.up(t, "retention.tempoDays=15")
	require.Zero(t, n.deleted)
	require.Equal(t, []string{"tempo"}, restarted(before, c.servers(t)))
}

func editRestartsNothing(t *testing.T, c *cloud) {
	c.up(t) // back to the file's own configuration
	cluster := c.outputs(t).EMRClusterID
	before := c.servers(t)
	n := c.up(t, "tags.team=data")
	require.Positive(t, n.updated)
	require.Zero(t, n.replaced+n.deleted)
	require.Empty(t, restarted(before, c.servers(t)))
	require.Equal(t, cluster, c.outputs(t).EMRClusterID)
}
