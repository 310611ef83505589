package cloud_test

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
)

// TestLife runs the platform from the first up to the last down as a user would,
// with the real engine, EMR nodes, Spark and telemetry servers. Each part continues
// where the previous one ended: those that only read share the first up and its job,
// those that break something come last.
func TestLife(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: brings up the whole local cloud, some ten minutes")
	}
	t.Parallel() // see maxClouds
	c := newClone(t)
	var trace, line string
	panels := panelsJob{life: t, cloud: c}
	past := history{cloud: c, names: map[string]string{}}
	parts := []struct {
		name string
		run  func(*testing.T)
	}{
		{"up runs the job", func(t *testing.T) { trace, line = upRunsTheJob(t, c) }},
		{"the job's phases are where people look", func(t *testing.T) { phasesAreShown(t, c, line) }},
		{"a job that fills each panel starts", func(t *testing.T) { panels.start(t) }},
		{"a second up changes nothing", func(t *testing.T) { secondUpChangesNothing(t, c) }},
		{"every query of the dashboards has data", func(t *testing.T) { everyQueryHasData(t, c, &panels) }},
		{"every panel of VictoriaMetrics' own UI has data", func(t *testing.T) { predefinedPanelsHaveData(t, c) }},
		{"every metric of the contract is emitted", func(t *testing.T) { contractIsEmitted(t, c) }},
		{"panels by host show both core nodes", func(t *testing.T) { coreNodesDiffer(t, c) }},
		{"every signal is labelled", func(t *testing.T) { signalsAreLabelled(t, c, trace) }},
		{"limits are of clusters", func(t *testing.T) { limitsAreOfClusters(t, c) }},
		{"no secret is stored in plain text", func(t *testing.T) { noSecretInPlainText(t, c) }},
		{"S3 has the objects of every path", func(t *testing.T) { objectsUnderEachPath(t, c) }},
		{"machines reach S3 as their roles", func(t *testing.T) { rolesReachS3(t, c) }},
		{"the status page opens, and its links answer", func(t *testing.T) { statusPageOpens(t, c) }},
		{"a verdict follows each job", func(t *testing.T) { verdictsFollow(t, c) }},
		{"a job reaches nothing of others", func(t *testing.T) { intruderFails(t, c) }},
		{"other users and hosts are refused", func(t *testing.T) { outsidersAreRefused(t, c) }},
		{"boto3 reads the cluster and the step", func(t *testing.T) { boto3Reads(t, c) }},
		{"a run of Airflow's DAG is one trace with its jobs", func(t *testing.T) { dagRunsAreTraces(t, c) }},
		{"an operator whose network is not admitted is locked out", func(t *testing.T) { lockedOut(t, c) }},
		{"an edit of a store's configuration restarts that store", func(t *testing.T) { editRestartsOne(t, c) }},
		{"traces and profiles come back from S3", func(t *testing.T) { readBackFromS3(t, c, trace) }},
		{"an edit of a tag restarts nothing", func(t *testing.T) { editRestartsNothing(t, c) }},
		{"a preset's cluster runs a job", func(t *testing.T) { presetRuns(t, c) }},
		{"presets run jobs of their kind", func(t *testing.T) { presetsRunTheirKind(t, c) }},
		{"each run of a schedule starts a cluster", func(t *testing.T) { eachRunStartsACluster(t, c) }},
		{"a tenant has its share while another floods", func(t *testing.T) { tenantsShare(t, c) }},
		{"clusters run side by side, a foreign one too", func(t *testing.T) { clustersSideBySide(t, c, past) }},
		{"nodes come and go in a job and by hand", func(t *testing.T) { nodesComeAndGo(t, c) }},
		{"the history of all clusters becomes tables", func(t *testing.T) { historyIsRead(t, c, past) }},
		{"a failing step reports why", func(t *testing.T) { failingStep(t, c) }},
		{"broken parts do not stop a job", func(t *testing.T) { brokenParts(t, c) }},
		{"a killed cloud comes up again", func(t *testing.T) { killedCloud(t, c) }},
		{"a new image of the control node keeps its data", func(t *testing.T) { newImageKeepsTelemetry(t, c, trace) }},
		{"a lost control node comes back from a snapshot", func(t *testing.T) { lostNodeComesBackFromSnapshot(t, c, trace) }},
		{"a flood is refused", func(t *testing.T) { floodIsRefused(t, c) }},
		{"down leaves nothing", func(t *testing.T) { downLeavesNothing(t, c) }},
	}
	for _, p := range parts {
		began := time.Now()
		ok := t.Run(p.name, p.run)
		t.Logf("%s: %s", p.name, time.Since(began).Round(time.Second))
		if !ok {
			return
		}
	}
}

// upRunsTheJob returns the trace ID of the first job, and the line of its phases.
func upRunsTheJob(t *testing.T, c *cloud) (trace, line string) {
	var out string
	c.recordCommandLines(func() { out = c.make(t, "up") })
	t.Log(out)
	require.Contains(t, out, "job orders.py: COMPLETED")
	page := c.running(t).URL(string(platform.WorkloadStatus)) + "/status"
	require.Equal(t, page, regexp.MustCompile(`https?://\S+`).FindString(out), "the first URL, with links to the others")
	m := regexp.MustCompile(`trace ([0-9a-f]{32})`).FindStringSubmatch(out)
	require.NotNil(t, m, out)
	line = regexp.MustCompile(`(?m)^` + platform.YARNApplicationID + `: .* · .*$`).FindString(out)
	require.NotEmpty(t, line, out)
	return m[1], line
}

// secondUpChangesNothing also checks the --json output: stdout is one JSON value,
// and its URLs respond.
func secondUpChangesNothing(t *testing.T, c *cloud) {
	out, progress, err := c.try(t, "up", "--no-job", "--json")
	require.NoError(t, err, progress)
	require.Equal(t, changes{}, changesIn(t, progress))
	var r struct {
		Stack, Bucket  string
		Clusters, URLs map[string]string
		Job            *json.RawMessage
		Objects        map[string]int
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	stack := c.outputs(t)
	require.Equal(t, []string{"local", stack.Clusters["main"].ID, stack.DataBucket}, []string{r.Stack, r.Clusters["main"], r.Bucket})
	require.Nil(t, r.Job)
	require.Equal(t, "https://"+stack.ControlPublicIP+":3000", stack.GrafanaURL)
	require.Contains(t, c.plainOutputs(t)[outputs.Kubeconfig], "https://"+stack.ControlPublicIP+":6443")
	require.Positive(t, r.Objects[platform.PrefixArtifacts.URI(stack.DataBucket)])
	require.NoError(t, send(t.Context(), http.MethodGet, r.URLs["status"], nil, nil))
}

func downLeavesNothing(t *testing.T, c *cloud) {
	region := c.running(t)
	c.make(t, "down")
	require.NoDirExists(t, c.state)
	// The process exists until its parent, the machine's init, has read its exit code.
	testenv.Eventually(t, func() bool { return errors.Is(syscall.Kill(region.PID, 0), syscall.ESRCH) }, testenv.Arrival, 10*time.Millisecond)
	for name, address := range region.Addresses {
		// Another test may have taken the port, for as long as it runs.
		testenv.Eventually(t, func() bool {
			connection, err := net.DialTimeout("tcp", address, time.Second)
			if err == nil {
				_ = connection.Close()
			}
			return errors.Is(err, syscall.ECONNREFUSED)
		}, testenv.Arrival, 100*time.Millisecond, name)
	}
	require.Contains(t, c.run(t, "down"), "removed", "a second down has nothing to do")
}
