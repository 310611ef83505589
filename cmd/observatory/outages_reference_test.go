package main_test

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
)

var update = flag.Bool("update", false, "write the reference anew")

const outagesReference = "docs/reference/outages.md"

// writeOutages writes what a run measured, if -update asks for it.
func writeOutages(t *testing.T, lost map[string]map[string]int, twice map[string]int, markers int, gap time.Duration) {
	t.Helper()
	if !*update {
		return
	}
	var page strings.Builder
	fmt.Fprintf(&page, "# Outages\n\nWhat fails while each task of a Spark job sends a numbered line, span and counter sample a second, and what of them did not\n"+
		"arrive. Measured against what the nodes themselves sent, and written by `TestOutagesLoseNothing`, which allows no loss on any run. A line is\n"+
		"stored twice if a sender ends before it has noted that the line was taken.\n"+
		"Numbers of this run: %d. Longest time between two samples of a node's own counter: %s (allowed: %s). The step's trace arrived, and\n"+
		"nothing was mended by hand.\n\n"+
		"| what fails | how | %s lost | lines stored twice |\n|---|---|---|---|\n", markers, gap.Round(time.Second), allowedGap, strings.Join(signals(), ", "))
	for _, o := range outages() {
		var counts []string
		for _, signal := range signals() {
			counts = append(counts, strconv.Itoa(lost[o.name][signal]))
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %d |\n", o.name, o.how(), strings.Join(counts, ", "), twice[o.name])
	}
	page.WriteString(otherFaultsTable())
	require.NoError(t, os.WriteFile(filepath.Join(root, outagesReference), []byte(page.String()), 0o644))
}

// otherFaults are injected by tests of their own.
func otherFaults() []struct {
	fault, then string
	test        []string // folder and function
} {
	return []struct {
		fault, then string
		test        []string
	}{
		{"collector's or profiler's file missing, cut short, changed or hanging at bootstrap", "the node comes up without it and reports why", []string{"assets/node", "TestBootstrapRunsOnWithoutAPart"}},
		{"every download refused at bootstrap, no sudo, no systemctl, no facts", "the node comes up and reports what it can", []string{"assets/node", "TestBootstrapSurvivesANodeThatIsNotAsExpected"}},
		{"collector's and profiler's files cut short, on a whole cluster", "the job completes; a metric, a log line and /status name each part", []string{"cmd/observatory", "TestLife"}},
		{"a core node ends in a job", "the job completes on the other; no line of the other is lost", []string{"cmd/observatory", "TestOutagesLoseNothing"}},
		{"a node's queue is full", "bounded and counted; log lines wait in their files and arrive later", []string{"assets/node", "TestAFullQueueHoldsTheLogsBack"}},
		{"the control node's volume is full", "metrics and logs are refused and kept by the nodes, traces go on; nothing that was taken is lost", []string{"assets/workloads", "TestAFullDataVolumeLosesNothing"}},
		{"VictoriaMetrics, VictoriaLogs and Tempo killed at random moments, four times in a minute", "nothing that was taken is lost, no line is stored twice", []string{"assets/workloads", "TestKilledStoresLoseNothing"}},
		{"the control node's collector restarts with a store down", "nothing is lost", []string{"assets/workloads", "TestNothingIsLostWhileAStoreIsDown"}},
		{"the whole local cloud is killed", "the next up brings all back, metrics of before among them", []string{"cmd/observatory", "TestLife"}},
		{"up or down killed at ten random moments", "the next up mends it; the one after that has nothing to do", []string{"cmd/observatory", "TestKilledCommands"}},
	}
}

func otherFaultsTable() string {
	var page strings.Builder
	page.WriteString("\nOther faults, each injected by a test:\n\n| what fails | then | test |\n|---|---|---|\n")
	for _, f := range otherFaults() {
		fmt.Fprintf(&page, "| %s | %s | `%s` in %s |\n", f.fault, f.then, f.test[1], f.test[0])
	}
	return page.String()
}

func (o outage) how() string {
	if o.away > 0 {
		return fmt.Sprintf("does not answer for %s, then is killed", o.away)
	}
	return "killed, as when out of memory"
}

// The reference tells of these outages and no others.
func TestOutagesReference(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, outagesReference))
	require.NoError(t, err)
	if *update { // the second table needs no run
		measured, _, _ := strings.Cut(string(page), "\nOther faults")
		page = []byte(measured + otherFaultsTable())
		require.NoError(t, os.WriteFile(filepath.Join(root, outagesReference), page, 0o644))
	}
	require.True(t, strings.HasSuffix(string(page), otherFaultsTable()), "stale: go test ./cmd/observatory -run TestOutagesReference -update")
	for _, f := range otherFaults() {
		testExists(t, f.test)
	}
	for _, o := range outages() {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(o.name+" | "+o.how()) + ` \| 0, 0, 0 \| \d+ \|$`)
		require.Regexp(t, row, string(page), "stale: go test ./cmd/observatory -run TestOutagesLoseNothing -update")
	}
}
