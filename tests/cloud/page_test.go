package cloud_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/emr-observatory/emr-observatory/platform"
)

// statusPageOpens opens the status page as a browser does, without a password: the
// forwarder has it. Every link answers.
func statusPageOpens(t *testing.T, c *cloud) {
	base := c.running(t).URL(string(platform.WorkloadStatus))
	links := map[string]string{}
	response := browse(t, base+"/status")
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	root, err := html.Parse(response.Body)
	require.NoError(t, err)
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "a" {
			continue
		}
		for _, a := range n.Attr {
			if a.Key == "href" {
				links[n.FirstChild.Data] = a.Val
			}
		}
	}
	for _, title := range []string{"EMR Overview", "metrics (VictoriaMetrics)", "profiles (Pyroscope)", "Spark history"} {
		require.Contains(t, links, title)
	}
	for title, link := range links {
		target, err := response.Request.URL.Parse(link)
		require.NoError(t, err, title)
		answer := browse(t, target.String())
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode, "%s: %s", title, target)
	}
}

// browse requests a page with a browser's header Accept.
func browse(t *testing.T, url string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	request.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	return response
}
