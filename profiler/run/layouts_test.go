package run_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/profiler/tables"
)

// Of two logs of an application one is read; of two applications with one id, too, but
// that is an error.
func TestLogsOfOneID(t *testing.T) {
	logs, out := folderOf(t, "adaptive", "static"), t.TempDir()
	whole := logOf(t, "adaptive", appID(1))
	require.NoError(t, os.WriteFile(filepath.Join(logs, "copy-of-a-part"), whole[:len(whole)/2], 0o600))
	other := strings.ReplaceAll(string(logOf(t, "adaptive", appID(2))), "1700000", "1800000")
	other = strings.ReplaceAll(other, "application_1800000", "application_1700000")
	require.NoError(t, os.WriteFile(filepath.Join(logs, "other-with-the-same-id"), []byte(other), 0o600))
	summary, said := runOnce(t, ofLogs(logs, out))
	require.Equal(t, 2, summary.ApplicationsRead)
	require.Contains(t, said.text(), "1 event logs skipped, because a more complete log of the same application attempt exists")
	require.Contains(t, said.text(), "the first: copy-of-a-part")
	require.Len(t, summary.Incomplete, 1)
	require.Contains(t, summary.Incomplete[0].Reason, "another application with the id "+appID(2))
	require.Len(t, read[tables.Application](t, out), 2)
}

// Logs as Databricks delivers them belong to the cluster that they name.
func TestLogsOfDatabricks(t *testing.T) {
	logs, out := t.TempDir(), t.TempDir()
	for n, cluster := range []string{"0123-456789-abc", "0123-456789-def"} {
		folder := filepath.Join(logs, cluster, "eventlog", cluster+"_10_0_0_1", "7000000000000000001")
		require.NoError(t, os.MkdirAll(folder, 0o755))
		text := strings.Replace(string(logOf(t, "adaptive", "app-20231114221320-0000")), `"Spark Properties":{`, fmt.Sprintf(
			`"Spark Properties":{"spark.databricks.clusterUsageTags.clusterId":%q,"spark.databricks.clusterUsageTags.clusterName":"nightly",`+
				`"spark.databricks.sparkContextId":"700000000000000000%d",`, cluster, n+1), 1)
		half := strings.Index(text[len(text)/2:], "\n") + len(text)/2 + 1
		var early bytes.Buffer
		zipped := gzip.NewWriter(&early)
		fmt.Fprint(zipped, text[:half])
		require.NoError(t, zipped.Close())
		require.NoError(t, os.WriteFile(filepath.Join(folder, "eventlog-2023-11-14--22-00.gz"), early.Bytes(), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "eventlog"), []byte(text[half:]), 0o600))
	}
	summary, _ := runOnce(t, ofLogs(logs, out))
	require.Empty(t, summary.Incomplete)
	require.Equal(t, 2, summary.ClustersRead)
	for _, row := range read[tables.ClusterSummary](t, out) {
		require.Equal(t, "nightly", row.ClusterName)
		require.Contains(t, []string{"7000000000000000001", "7000000000000000002"}, aws.ToString(row.SparkContextID))
	}
	require.Len(t, read[tables.Application](t, out), 2)
}
