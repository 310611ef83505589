package cloud_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/browser"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
)

// statusPageOpens opens the status page in Chromium, without a password: the forwarder
// has it. A healthy cloud has no problems; the page fits a laptop's window and a phone,
// the keyboard reaches every link, and every link answers.
func statusPageOpens(t *testing.T, c *cloud) {
	page := c.running(t).URL(string(platform.WorkloadStatus)) + "/status"
	const healthy = "None found." // below the heading Problems
	require.NoError(t, testenv.Poll(t.Context(), testenv.Arrival, time.Second, func(context.Context) error {
		if text := browse(t, page); !strings.Contains(text, healthy) {
			return errors.New(text)
		}
		return nil
	}))
	steps := c.status(t).Steps
	require.NotEmpty(t, steps)
	last := steps[0]
	require.Equal(t, types.StepStateCompleted, last.State)
	require.NotEmpty(t, last.TraceID)
	require.Len(t, last.ApplicationIDs, 1)

	chromium := browser.Start(t)
	named := map[string]string{}
	for _, width := range []int64{900, 360} {
		for _, link := range chromium.Examine(t, page, width, nil) {
			named[link.Name] = link.URL
		}
	}
	for _, title := range []string{"EMR Overview", "metrics (VictoriaMetrics)", "profiles (Pyroscope)", "Spark history"} {
		require.Contains(t, named, title)
	}
	of := " of " + last.Name + ", " + last.ID
	for title, within := range map[string]string{
		"trace": last.TraceID, "logs": last.ApplicationIDs[0], "profile": last.ApplicationIDs[0], "dashboards": "g0.end_input=",
		"Spark history": last.ApplicationIDs[0],
	} {
		require.Contains(t, named[title+of], within, title)
	}
	for _, link := range named {
		browse(t, link)
	}
	require.Contains(t, browse(t, named["trace"+of]), "step "+last.Name, "the step's span")
	require.Contains(t, browse(t, named["profile"+of]), `"names":`, "stacks of the application")
	require.Contains(t, browse(t, named["Spark history"+of]), last.ApplicationIDs[0])
	chromium.Shows(t, named["logs"+of], last.ApplicationIDs[0]) // in the labels of the first lines; a job has more than one screen
}

// browse requests a page with a browser's header Accept, and returns it.
func browse(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	request.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", url, body)
	return string(body)
}
