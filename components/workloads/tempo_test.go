package workloads_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/emr-observatory/emr-observatory/platform"
)

// The repair is in the container's own command, so that the kubelet's restarts run
// it too, and repairs the folder that Tempo is configured with.
func TestTempoStartsThroughItsRepair(t *testing.T) {
	rec := record(t, sampleArgs(), nil)
	container := pods(t, rec)[platform.WorkloadTempo].Spec.Containers[0]
	require.Equal(t, []string{"/opt/bin/observatory"}, container.Command)
	require.Equal(t, []string{
		"tempo", "--wal=/var/lib/observatory/wal", "--", "/tempo", "-config.file=/etc/observatory/tempo.yaml",
	}, container.Args[:5])
	var files corev1.ConfigMap
	decodeObject(t, rec, "kubernetes:core/v1:ConfigMap", "workloads-tempo-config", &files)
	require.Contains(t, files.Data["tempo.yaml"], "wal: {path: /var/lib/observatory/wal, ingestion_time_range_slack: 2m}")
	require.Contains(t, files.Data["tempo.yaml"], "max_block_duration: 15m\n")
}
