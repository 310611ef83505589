package run_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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

// restarted is a folder as Databricks delivers it: the parts 0 and 1 of a SparkContext whose
// driver restarted, and the first of the next one. Spark's version is known from metadata only.
func restarted(t *testing.T, parts map[string]string) string {
	t.Helper()
	logs := t.TempDir()
	folder := filepath.Join(logs, "0101-100000-abcdefgh", "eventlog", "ctx")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	for name, text := range parts {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return logs
}

const noon = 1767261600000

func partOf(context, number int, events ...string) string {
	const first = `{"Event":"DBCEventLoggingListenerMetadata","Spark Version":"3.5.2","Timestamp":%d,` +
		`"Rollover Number":%d,"SparkContext Id":%d}`
	return fmt.Sprintf(first, noon, number, context) + "\n" + strings.Join(events, "")
}

func startOf(id string) string {
	const cluster = `{"spark.databricks.clusterUsageTags.clusterId":"0101-100000-abcdefgh"}`
	return `{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":` + cluster + "}\n" +
		fmt.Sprintf(`{"Event":"SparkListenerApplicationStart","App Name":"Shell","App ID":%q,"Timestamp":%d,"User":"root"}`, id, noon) + "\n"
}

// jobOf is a job with a stage of two tasks.
func jobOf(id int) string {
	stage := fmt.Sprintf(`{"Stage ID":%d,"Stage Attempt ID":0,"Stage Name":"count","Number of Tasks":2,"Submission Time":%d`, id, noon)
	const start = `{"Event":"SparkListenerJobStart","Job ID":%d,"Submission Time":%d,"Stage Infos":[%s}],"Stage IDs":[%d]}`
	text := fmt.Sprintf(start, id, noon, stage, id) + "\n" +
		fmt.Sprintf(`{"Event":"SparkListenerStageSubmitted","Stage Info":%s}}`, stage) + "\n"
	for i := range 2 {
		task := fmt.Sprintf(`"Stage ID":%d,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},`+
			`"Task Info":{"Task ID":%d,"Index":%d,"Attempt":0,"Launch Time":%d,"Executor ID":"0","Host":"h"`, id, 2*id+i, i, noon)
		text += `{"Event":"SparkListenerTaskStart",` + task + "}}\n" +
			`{"Event":"SparkListenerTaskEnd",` + task + fmt.Sprintf(`,"Finish Time":%d}}`, noon+100) + "\n"
	}
	const end = `{"Event":"SparkListenerJobEnd","Job ID":%d,"Completion Time":%d,"Job Result":{"Result":"JobSucceeded"}}`
	return text + fmt.Sprintf(`{"Event":"SparkListenerStageCompleted","Stage Info":%s,"Completion Time":%d}}`, stage, noon+100) + "\n" +
		fmt.Sprintf(end, id, noon+100) + "\n"
}

// Two SparkContexts in one folder are two applications, and a missing part is a reason.
func TestPartsOfDatabricks(t *testing.T) {
	const a, b = "app-20260101100000-0000", "app-20260101130000-0000"
	const ofA, ofB = 3100000000000000001, 3100000000000000002
	first := partOf(ofA, 0, startOf(a), jobOf(0))
	for name, c := range map[string]struct {
		parts  map[string]string
		latest int              // SparkContext
		jobs   map[string]int64 // by application
		lost   []string
	}{
		"two contexts": {map[string]string{
			"eventlog-2026-01-01--10-00.gz": first, "eventlog-2026-01-01--11-00.gz": partOf(ofA, 1, jobOf(1)),
			"eventlog": partOf(ofB, 0, startOf(b), jobOf(0)),
		}, ofB, map[string]int64{a: 2, b: 1}, []string{
			a + " applications 1 missing_parts: part 2 of 0 to 2 is missing",
			b + " applications 1 truncation: the log lacks the end of the application",
		}},
		"a part is missing": {map[string]string{
			"eventlog-2026-01-01--10-00.gz": first, "eventlog": partOf(ofA, 2, jobOf(2)),
		}, ofA, map[string]int64{a: 2}, []string{
			a + " applications 1 truncation: the log lacks the end of the application",
			a + " jobs 1 missing_parts: part 1 of 0 to 2 is missing", a + " stages 1 missing_parts: part 1 of 0 to 2 is missing",
			a + " tasks 2 missing_parts: part 1 of 0 to 2 is missing",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			summary, _ := runOnce(t, ofLogs(restarted(t, c.parts), out))
			require.Empty(t, summary.Incomplete)
			jobs := map[string]int64{}
			for _, row := range read[tables.Application](t, out) {
				require.Equal(t, "3.5.2", row.SparkVersion)
				jobs[row.ApplicationID] = row.NumJobs
			}
			require.Equal(t, c.jobs, jobs)
			var lost []string
			for _, row := range read[tables.Completeness](t, out) {
				if row.Missing != nil && *row.Missing > 0 && row.Endpoint != "executors" {
					why := row.Detail[strings.LastIndex(row.Detail, ": ")+2:]
					lost = append(lost, fmt.Sprintf("%s %s %d %s: %s", row.ApplicationID, row.Endpoint, *row.Missing, row.Reason, why))
				}
			}
			require.ElementsMatch(t, c.lost, lost)
			require.Equal(t, strconv.Itoa(c.latest), aws.ToString(read[tables.ClusterSummary](t, out)[0].SparkContextID))
		})
	}
}
