package cloud_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/browser"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// phasesAreShown requires the line that `make up` printed of its job on the status
// page, too, in both with the numbers of the metrics.
func phasesAreShown(t *testing.T, c *cloud, printed string) {
	steps := c.status(t).Steps
	require.NotEmpty(t, steps)
	last := steps[0]
	require.Len(t, last.Phases, 1)
	shown := last.Phases[0]
	require.Equal(t, printed, shown.ApplicationID+": "+shown.String())
	require.NotNil(t, shown.Verdict)
	require.NotContains(t, shown.Line, "approximate")
	wall := 0.0
	for phase, seconds := range shown.Seconds {
		stored := c.query(t, fmt.Sprintf("last_over_time(%s{%s=%q}[1d])", phase.Metric(), platform.SparkAppID.Metric(), shown.ApplicationID))
		require.Len(t, stored, 1, phase)
		require.InDelta(t, stored[0].number(t), seconds, 1e-6, phase)
		wall += seconds
	}
	require.Len(t, shown.Seconds, len(platform.Phases()))
	took := last.Took(*last.Ended).Seconds()
	require.Less(t, wall, took+1)
	require.Greater(t, wall, took/4, "the rest is the start and the end of spark-submit")

	page := c.running(t).URL(string(platform.WorkloadStatus)) + "/status"
	text := strings.ReplaceAll(browse(t, page), "\u00a0", " ")
	require.Contains(t, text, shown.Line)
	require.Contains(t, text, shown.Verdict.Text)
	named := map[string]string{}
	for _, link := range browser.Start(t).Examine(t, page, 360, nil) {
		named[link.Name] = link.URL
	}
	require.Equal(t, shown.Timeline, named[fmt.Sprintf("page of %s, %s, %s", shown.ApplicationID, last.Name, last.ID)])
	require.Equal(t, shown.Page, shown.Timeline, "no Grafana runs here")
	require.Contains(t, shown.Page, status.ApplicationsPath+"/"+shown.ApplicationID)
}
