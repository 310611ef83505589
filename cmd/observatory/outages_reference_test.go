package main_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the reference anew")

const outagesReference = "docs/reference/outages.md"

// writeOutages writes what a run measured, if -update asks for it.
func writeOutages(t *testing.T, lost map[string]int, lines int, gap time.Duration) {
	t.Helper()
	if !*update {
		return
	}
	var page strings.Builder
	fmt.Fprintf(&page, "# Outages\n\nWhat fails while one Spark job writes a line a second and task, and what of it did not arrive. Measured against what the nodes\n"+
		"themselves wrote, and written by `TestOutagesLoseNothing`, which holds the bounds on each run. Lines of this run: %d. Longest time\n"+
		"between two samples of a node's counter: %s (allowed: %s). The step's trace arrived, and nothing was mended by hand.\n\n"+
		"| what fails | how | lines lost | lines that may be lost, of each task |\n|---|---|---|---|\n", lines, gap.Round(time.Second), allowedGap)
	for _, o := range outages() {
		fmt.Fprintf(&page, "| %s | %s | %d | %s |\n", o.name, o.how(), lost[o.name], o.bound())
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, outagesReference), []byte(page.String()), 0o644))
}

func (o outage) how() string {
	switch {
	case o.resumes:
		return fmt.Sprintf("does not answer for %s", o.away)
	case o.away > 0:
		return fmt.Sprintf("does not answer for %s, then is killed", o.away)
	default:
		return "killed, as when out of memory"
	}
}

func (o outage) bound() string {
	bound := strconv.Itoa(o.mayLose)
	if o.because != "" {
		bound += "; " + o.because
	}
	return bound
}

// The reference tells of these outages and no others.
func TestOutagesReference(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, outagesReference))
	require.NoError(t, err)
	require.Equal(t, len(outages())+2, strings.Count(string(page), "\n| "))
	for _, o := range outages() {
		require.Containsf(t, string(page), fmt.Sprintf("| %s | %s | ", o.name, o.how()), "stale: go test ./cmd/observatory -run TestOutagesLoseNothing -update")
		require.Contains(t, string(page), "| "+o.bound()+" |")
	}
}
