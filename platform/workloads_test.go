package platform_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

func TestWorkloadRecordsAreConsistent(t *testing.T) {
	names, nodePorts := map[platform.Workload]bool{}, map[platform.Port]platform.Workload{}
	for _, r := range platform.Workloads() {
		require.Regexp(t, `^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$`, string(r.Name), "a label of DNS, with room for -config")
		require.False(t, names[r.Name], "%s: has two records", r.Name)
		names[r.Name] = true
		require.Positive(t, r.User, r.Name)
		require.Positive(t, r.MemoryMiB, r.Name)
		require.NotEmpty(t, r.Ready.Path, r.Name)
		require.True(t, r.AWSRole || r.OwnBinary == "", "%s: fetches its binary from S3", r.Name)

		ports := map[platform.Port]bool{}
		for _, p := range r.Ports {
			require.LessOrEqual(t, len(p.Name), 15, "%s: Kubernetes' limit for port names", r.Name)
			ports[p.Number] = true
			if p.Node {
				require.Empty(t, nodePorts[p.Number], "port %d of %s is taken on the node", p.Number, r.Name)
				nodePorts[p.Number] = r.Name
				require.GreaterOrEqual(t, p.Number, platform.ControlNodePortFirst, r.Name)
				require.LessOrEqual(t, p.Number, platform.ControlNodePortLast, r.Name)
			}
		}
		if r.Door != (platform.WorkloadDoor{}) {
			door, err := platform.Workloads().Get(r.Door.Workload)
			require.NoError(t, err)
			opens := func(p platform.WorkloadPort) bool { return p.Number == r.Door.Port }
			require.True(t, slices.ContainsFunc(door.Ports, opens), "%s: its door is no port of %s", r.Name, door.Name)
			onNode := slices.DeleteFunc(slices.Clone(r.Ports), func(p platform.WorkloadPort) bool { return !p.Node })
			require.Len(t, onNode, 1, "%s: a door has one port", r.Name)
		}
		used := []platform.Port{r.EndpointPort(), r.ReadyPort(), r.Metrics.Port, r.OperatorPort}
		if r.Intake != nil {
			used = append(used, r.Intake.Port)
			require.Positive(t, r.Intake.QueueGiB, r.Name)
		}
		for _, p := range used {
			require.True(t, p == 0 || ports[p], "%s: port %d is not one of its Service", r.Name, p)
		}
	}
}

func TestGetErrorListsTheWorkloads(t *testing.T) {
	r, err := platform.Workloads().Get(platform.WorkloadTempo)
	require.NoError(t, err)
	require.Equal(t, "http://tempo:3200/ready", r.ReadyURL())
	_, err = platform.Workloads().Get("temple")
	require.ErrorContains(t, err, `workload "temple": no record; there are collector,`)
}

func TestOperatorPorts(t *testing.T) {
	require.Equal(t, map[platform.Workload]platform.Port{
		"collector": 4317, "victoria-metrics": 8428, "victoria-logs": 9428, "tempo": 3200, "pyroscope": 4040, "grafana": 3000, "status": 8080,
		"tools": 8070,
	}, platform.Workloads().OperatorPorts())
}

// The reserve holds three queues of 1 GiB, the copy of one, and 2 GiB for
// write-ahead logs; another store's queue adds to it.
func TestStoreReserveFollowsTheQueues(t *testing.T) {
	require.Equal(t, 6, platform.StoreReserveGiB())
	table := append(platform.Workloads(), platform.WorkloadRecord{Name: "search", Intake: &platform.Intake{QueueGiB: 3}})
	require.Equal(t, 11, table.StoreReserveGiB())
}
