package cloud_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// changes is what an up did to the stack's resources.
type changes struct{ created, updated, replaced, deleted int }

// up runs the up command without a job, with configuration values as key=value.
func (c *cloud) up(t *testing.T, config ...string) changes {
	t.Helper()
	return changesIn(t, c.run(t, upArgs(config...)...))
}

func upArgs(config ...string) []string {
	args := []string{"up", "--no-job"}
	for _, e := range config {
		args = append(args, "--config", e)
	}
	return args
}

// changesIn reads the summary that an up prints.
func changesIn(t *testing.T, out string) changes {
	t.Helper()
	m := regexp.MustCompile(`resources: .*`).FindString(out)
	var n changes
	_, err := fmt.Sscanf(m, "resources: %d created, %d updated, %d replaced, %d deleted", &n.created, &n.updated, &n.replaced, &n.deleted)
	require.NoErrorf(t, err, "%s", out)
	return n
}

// restartedServers names the workloads whose process changed between two snapshots.
func restartedServers(before, after map[int]string) []string {
	var names []string
	for pid, line := range before {
		if after[pid] != line {
			names = append(names, filepath.Base(strings.Fields(line)[0]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// servers returns the processes of pods and of Hadoop's daemons. Shells, probes, executors and
// the Spark History Servers of persistent UIs come and go.
func (c *cloud) servers(t *testing.T) map[int]string {
	t.Helper()
	found := c.processes(t)
	for pid, line := range found {
		if !regexp.MustCompile(`-config|--config|-storageDataPath|hadoop\.(yarn|hdfs)\.server`).MatchString(line) {
			delete(found, pid)
		}
	}
	return found
}

// Edits of TestLife, in this order; each up repeats the earlier ones.
const (
	storeEdit = "retention.tempoDays=15"
	tagEdit   = "tags.team=data"
)

// lockOut admits a network that the program does not run in.
const lockOut = "operatorCidrs[0]=192.88.99.128/25"

// operatorRules is how many rules of the control node's security group admit a network
// of operators.
func operatorRules() int { return len(platform.OperatorPorts(true)) }

// lockedOut takes the operator's network from the security group, which leaves the
// program's own connections to the control node without an answer, as on AWS.
func lockedOut(t *testing.T, c *cloud) {
	testenv.RequireLong(t, "tests/reach TestGateOnAWorkstation is locked out by the same gateway")
	n := c.up(t, lockOut)
	require.Equal(t, []int{operatorRules(), operatorRules()}, []int{n.created, n.deleted})
	out, _, err := c.try(t, "up", "--no-job", "--config", lockOut, "--config", storeEdit)
	require.Error(t, err)
	require.Contains(t, out, "kubernetes provider: connect to https://"+c.outputs(t).ControlPublicIP+":6443: not ready within")
	require.Contains(t, out, "connect from 192.88.99.10: dial tcp")
	require.Contains(t, out, "i/o timeout")
}

// editRestartsOne also lets the operator in again, where it was locked out: the update
// edits the security group before it connects.
func editRestartsOne(t *testing.T, c *cloud) {
	before := c.servers(t)
	n := c.up(t, storeEdit)
	if testenv.Long() {
		require.Equal(t, operatorRules(), n.deleted, "the rules of the other network")
	}
	require.Equal(t, []string{"tempo"}, restartedServers(before, c.servers(t)))
}

func editRestartsNothing(t *testing.T, c *cloud) {
	cluster := c.outputs(t).Clusters["main"].ID
	before := c.servers(t)
	n := c.up(t, storeEdit, tagEdit)
	require.Positive(t, n.updated)
	require.Zero(t, n.replaced+n.deleted)
	require.Empty(t, restartedServers(before, c.servers(t)))
	require.Equal(t, cluster, c.outputs(t).Clusters["main"].ID)
}
