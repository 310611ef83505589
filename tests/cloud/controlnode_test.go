package cloud_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// stored is what the stores held at a moment.
type stored struct {
	at      time.Time
	metrics []sample
	lines   map[string]int // by service
	trace   string
	hosts   []string // with profiles
}

// storedUntil reads what the stores held three minutes ago, which no late sample changes.
// A late log line adds to it.
func (c *cloud) storedUntil(t *testing.T, trace string) stored {
	t.Helper()
	s := stored{at: time.Now().Add(-3 * time.Minute), trace: trace, hosts: c.profiledHosts(t)}
	s.metrics, s.lines = c.metricsAt(t, s.at), c.linesUntil(t, s.at)
	require.NotEmpty(t, s.metrics)
	require.NotEmpty(t, s.lines)
	require.NotEmpty(t, s.hosts)
	return s
}

// requireStored requires that the stores still have it.
func (c *cloud) requireStored(t *testing.T, s stored) {
	t.Helper()
	for _, store := range []platform.Workload{platform.WorkloadVictoriaMetrics, platform.WorkloadVictoriaLogs} {
		testenv.Eventually(t, func() bool { return c.tryGet(t, string(store), "/health", new([]byte)) == nil }, testenv.Start, time.Second, store)
	}
	require.ElementsMatch(t, s.metrics, c.metricsAt(t, s.at), "metrics")
	lines := c.linesUntil(t, s.at)
	for service, n := range s.lines {
		require.GreaterOrEqual(t, lines[service], n, "log lines of %s", service) // late ones may have come
	}
	testenv.Eventually(t, func() bool {
		return c.tryGet(t, string(platform.WorkloadTempo), "/api/traces/"+s.trace, new(any)) == nil
	}, testenv.Job, time.Second, "the first job's trace")
	testenv.Eventually(t, func() bool {
		hosts, err := hostsWithProfiles(t, c.running(t).URL(string(platform.WorkloadPyroscope)))
		return err == nil && !slices.ContainsFunc(s.hosts, func(h string) bool { return !slices.Contains(hosts, h) })
	}, testenv.Job, time.Second, "profiles of every host")
}

// metricsAt returns a counter of every host that reported in the six hours before. A sum
// would depend on the order of the series.
func (c *cloud) metricsAt(t *testing.T, at time.Time) []sample {
	t.Helper()
	expr := fmt.Sprintf("max by (%s) (last_over_time(system_cpu_time_seconds_total[6h]))", platform.HostName.Metric())
	var answer struct{ Data struct{ Result []sample } }
	query := url.Values{"query": {expr}, "time": {fmt.Sprint(at.Unix())}}
	c.get(t, string(platform.WorkloadVictoriaMetrics), "/api/v1/query?"+query.Encode(), &answer)
	return answer.Data.Result
}

// linesUntil counts the log lines by service.
func (c *cloud) linesUntil(t *testing.T, at time.Time) map[string]int {
	t.Helper()
	const query = `_time:[2020-01-01T00:00:00Z, %s] | stats by ("service.name") count() lines`
	counts := map[string]int{}
	for _, line := range c.logs(t, fmt.Sprintf(query, at.UTC().Format(time.RFC3339)), 100) {
		n, err := strconv.Atoi(line["lines"])
		require.NoError(t, err)
		counts[line["service.name"]] = n
	}
	return counts
}

// requireNodesReport requires new samples of the control node and of every node of
// the cluster.
func (c *cloud) requireNodesReport(t *testing.T, since time.Time) {
	t.Helper()
	testenv.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		samples, err := c.tryQuery(ctx, t, "tlast_over_time(system_cpu_logical_count[5m])")
		if err != nil {
			t.Log(err)
			return false
		}
		reporting := 0
		for _, s := range samples {
			if s.number(t) > float64(since.Unix()) {
				reporting++
			}
		}
		return reporting == 4
	}, testenv.Arrival, time.Second, "samples of the control node, the primary and both core nodes")
}

// requireSameFrontDoor requires that nobody has to change an address, a certificate
// or a password.
func requireSameFrontDoor(t *testing.T, before, after map[string]any) {
	t.Helper()
	for _, name := range []string{
		outputs.ControlPrivateIP, outputs.GrafanaURL, outputs.StatusURL, outputs.CACertificate, outputs.GrafanaPassword,
		outputs.StatusPassword, outputs.Kubeconfig, outputs.Clusters,
	} {
		require.Equal(t, before[name], after[name], name)
	}
	require.NotEqual(t, before[outputs.ControlInstanceID], after[outputs.ControlInstanceID])
}

// imageEdit moves the control node to another image.
const imageEdit = "controlNode.ami=ami-0fedcba9876543210"

// newImageKeepsTelemetry replaces the instance by another image, as
// docs/guides/control-node.md does.
func newImageKeepsTelemetry(t *testing.T, c *cloud, trace string) {
	testenv.RequireLong(t, "assets/controlnode TestReplacedInstanceReusesVolume boots on such a volume; stacks/changes replaces the instance")
	held, before := c.storedUntil(t, trace), c.plainOutputs(t)
	n := c.up(t, imageEdit)
	require.Equal(t, 4, n.replaced, "instance, attachment, boot window and gate: %+v", n)
	replaced := time.Now()
	after := c.plainOutputs(t)
	requireSameFrontDoor(t, before, after)
	require.Equal(t, before[outputs.ControlVolumeID], after[outputs.ControlVolumeID])
	c.requireStored(t, held)
	c.requireNodesReport(t, replaced)
	require.Equal(t, changes{}, c.up(t, imageEdit))
}

// lostNodeComesBackFromSnapshot loses the instance and its volume at once, and
// restores both as docs/guides/control-node.md does. A copy of the volume's folder
// stands in for the volume that EC2 makes from a snapshot.
func lostNodeComesBackFromSnapshot(t *testing.T, c *cloud, trace string) {
	testenv.RequireLong(t, "stacks/changes TestLostControlNodeComesBackOnARestoredVolume does the same to the state")
	held, before := c.storedUntil(t, trace), c.plainOutputs(t)
	lost, restored := fmt.Sprint(before[outputs.ControlVolumeID]), "vol-0fedcba9876543210"
	c.killControlNode(t)
	volumes := filepath.Join(c.state, "ec2", "volumes")
	require.NoError(t, os.Rename(filepath.Join(volumes, lost), filepath.Join(volumes, restored)))

	c.run(t, "pulumi", "--", "refresh", "--yes", "--skip-preview", "--target", "**control-instance", "--target", "**control-attachment")
	state := filepath.Join(t.TempDir(), "state.json")
	c.run(t, "pulumi", "--", "stack", "export", "--file", state)
	out, err := exec.Command("sed", "-i", "s/"+lost+"/"+restored+"/g", state).CombinedOutput()
	require.NoError(t, err, string(out))
	c.run(t, "pulumi", "--", "stack", "import", "--file", state)
	c.up(t, imageEdit)

	replaced := time.Now()
	after := c.plainOutputs(t)
	requireSameFrontDoor(t, before, after)
	require.Equal(t, restored, after[outputs.ControlVolumeID])
	c.requireStored(t, held)
	c.requireNodesReport(t, replaced)
	require.Equal(t, changes{}, c.up(t, imageEdit))
}

// killControlNode ends the control node and its pods, as a failure of its host does.
func (c *cloud) killControlNode(t *testing.T) {
	t.Helper()
	ip := fmt.Sprint(c.plainOutputs(t)[outputs.ControlPrivateIP])
	host := "ip-" + strings.ReplaceAll(ip, ".", "-")
	killed := false
	for pid, line := range c.processes(t) {
		if strings.HasSuffix(strings.TrimSpace(line), "machined boot") && hostOf(t, pid) == host {
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			killed = true
		}
	}
	require.True(t, killed, "the machine of %s", host)
}
