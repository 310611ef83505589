package cloud_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/internal/trial"
	"github.com/emr-observatory/emr-observatory/platform"
)

var update = flag.Bool("update", false, "rewrite docs/reference/outages.md")

const outagesReference = "docs/reference/outages.md"

// writeOutages writes the results of a run to the reference if -update is set.
func writeOutages(t *testing.T, lost map[string]map[string]int, duplicates map[string]int, markers int, gap time.Duration) {
	t.Helper()
	if !*update {
		return
	}
	require.True(t, testenv.Long(), "the reference has all outages: OBSERVATORY_LONG=1")
	var page strings.Builder
	fmt.Fprintf(&page, "# Outages\n\n"+
		"What fails while each task of a Spark job sends a numbered line, span and counter sample a second, and what of them did not\n"+
		"arrive. Measured against what the nodes themselves sent, and written by `TestOutagesLoseNothing`, which allows no loss on any\n"+
		"run. A line is stored twice if a sender ends before it records the acknowledgement.\n"+
		"Numbers of this run: %d. Longest time between two samples of a node's own counter: %s (allowed: %s). The step's trace arrived,\n"+
		"and no manual repair was needed.\n\n"+
		"| what fails | how | %s lost | lines stored twice |\n|---|---|---|---|\n",
		markers, gap.Round(time.Second), allowedGap, strings.Join(signals(), ", "))
	for _, o := range outages() {
		var counts []string
		for _, signal := range signals() {
			counts = append(counts, strconv.Itoa(lost[o.name][signal]))
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %d |\n", o.name, o.how(), strings.Join(counts, ", "), duplicates[o.name])
	}
	page.WriteString(otherFaultsTable())
	require.NoError(t, os.WriteFile(filepath.Join(trial.Root(t), outagesReference), []byte(page.String()), 0o644))
}

// otherFaults lists the faults that other tests inject.
func otherFaults() []struct {
	fault, then string
	test        []string // folder and function
} {
	return []struct {
		fault, then string
		test        []string
	}{
		{
			"collector's or profiler's file missing, cut short, changed or hanging at bootstrap",
			"the node starts without it and reports why",
			[]string{"assets/node", "TestBootstrapContinuesWithoutAPart"},
		},
		{
			"every download refused at bootstrap, no sudo, no systemctl, no facts",
			"the node starts and reports what it can",
			[]string{"assets/node", "TestBootstrapSurvivesUnexpectedNodes"},
		},
		{
			"collector's and profiler's files cut short, on a whole cluster",
			"the job completes; a metric, a log line and /status name each part",
			[]string{"tests/cloud", "TestLife"},
		},
		{
			"a core node is lost in a job",
			"the job completes on the other; no line of the other is lost",
			[]string{"tests/cloud", "TestOutagesLoseNothing"},
		},
		{
			"a JVM ends and the node's collector does not answer, or the machine is too busy to send within two seconds",
			"the job's result and exit code are the same; what the JVM had not sent is lost, and its phases may be approximate; " +
				"`-D" + platform.LauncherExitProperty + "=` gives it more time",
			[]string{"assets/node", "TestFailingCollectorDoesNotAffectAJob"},
		},
		{
			"a node's queue is full",
			"bounded and counted; log lines wait in their files and arrive later",
			[]string{"assets/node", "TestFullQueuePausesLogReading"},
		},
		{
			"the control node's volume is full",
			"metrics and logs are refused and kept by the nodes, traces continue; nothing that was accepted is lost",
			[]string{"assets/workloads", "TestFullDataVolumeLosesNothing"},
		},
		{
			"VictoriaMetrics, VictoriaLogs and Tempo killed at random moments, four times in a minute",
			"nothing that was accepted is lost, no line is stored twice",
			[]string{"assets/workloads", "TestKilledStoresLoseNothing"},
		},
		{
			"the control node's collector restarts with a store down",
			"nothing is lost",
			[]string{"assets/workloads", "TestCollectorBuffersWhileStoreIsDown"},
		},
		{
			"the whole local cloud is killed, in `make test-long`",
			"the next up restores everything, earlier metrics included",
			[]string{"tests/cloud", "TestLife"},
		},
		{
			"up and down killed at ten random moments, in `make test-long`",
			"the next up repairs it; the one after that has nothing to do",
			[]string{"tests/cloud", "TestKilledCommands"},
		},
	}
}

// otherFaultsTable renders otherFaults, the reference's second table.
func otherFaultsTable() string {
	var page strings.Builder
	page.WriteString("\nOther faults, each injected by a test:\n\n| what fails | then | test |\n|---|---|---|\n")
	for _, f := range otherFaults() {
		fmt.Fprintf(&page, "| %s | %s | `%s` in %s |\n", f.fault, f.then, f.test[1], f.test[0])
	}
	return page.String()
}

// how describes how the part fails.
func (o outage) how() string {
	if o.away > 0 {
		return fmt.Sprintf("does not answer for %s, then is killed", o.away)
	}
	return "killed, as when out of memory"
}

// TestOutagesReference requires the reference to list exactly these outages.
func TestOutagesReference(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(trial.Root(t), outagesReference))
	require.NoError(t, err)
	if *update { // the second table needs no run
		measured, _, _ := strings.Cut(string(page), "\nOther faults")
		page = []byte(measured + otherFaultsTable())
		require.NoError(t, os.WriteFile(filepath.Join(trial.Root(t), outagesReference), page, 0o644))
	}
	require.True(t, strings.HasSuffix(string(page), otherFaultsTable()), "stale: go test ./tests/cloud -run TestOutagesReference -update")
	for _, f := range otherFaults() {
		trial.RequireTest(t, f.test[0], f.test[1])
	}
	for _, o := range outages() {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(o.name+" | "+o.how()) + ` \| 0, 0, 0 \| \d+ \|$`)
		require.Regexp(t, row, string(page), "stale: go test ./tests/cloud -run TestOutagesLoseNothing -update")
	}
}
