package status_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/emr-observatory/emr-observatory/internal/storetest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/status"
)

// accept is the header Accept of Firefox and Chromium.
const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

func TestBrowsersGetAPageAndProgramsJSON(t *testing.T) {
	url, access := serve(t, config(t, "http://"+testenv.Address(t)))
	for asked, page := range map[string]bool{
		accept: true, "text/html": true, "TEXT/HTML; q=0.5": true, "application/json;q=0.4, text/html;q=0.5": true,
		"": false, "*/*": false, "application/json": false, "text/*": false, "text/html;q=0": false,
		"application/json, text/html;q=0.9": false, "text/html;q=high": false, ";;": false,
	} {
		response, body := get(t, access, url+"/status", platform.StatusUser, password, "Accept", asked)
		require.Equal(t, "Accept, Observatory-Services, Observatory-Absent", response.Header.Get("Vary"))
		if !page {
			require.Equal(t, "application/json", response.Header.Get("Content-Type"), asked)
			require.True(t, json.Valid([]byte(body)))
			continue
		}
		require.Equal(t, "text/html; charset=utf-8", response.Header.Get("Content-Type"), asked)
		require.Equal(t, "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			response.Header.Get("Content-Security-Policy"))
		require.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", response.Header.Get("Referrer-Policy"))
	}
	section, _ := get(t, access, url+"/status?section=nodes", platform.StatusUser, password, "Accept", accept)
	require.Equal(t, "application/json", section.Header.Get("Content-Type"), "a section stays JSON")
	style, body := get(t, access, url+"/status/style.css", platform.StatusUser, password)
	require.Equal(t, "text/css; charset=utf-8", style.Header.Get("Content-Type"))
	require.Contains(t, body, "prefers-color-scheme: dark")
	without, _ := get(t, access, url+"/status/style.css", "", "")
	require.Equal(t, http.StatusUnauthorized, without.StatusCode)
}

// element is an element of a page.
type element struct {
	name, text string
	attributes map[string]string
}

// open parses the page that a browser gets, with headers (name, value, …), and
// returns its elements in order.
func open(t *testing.T, c status.Config, headers ...string) []element {
	t.Helper()
	return openSource(t, source(t, c), headers...)
}

// openSource is like open, for any source.
func openSource(t *testing.T, from status.Source, headers ...string) []element {
	t.Helper()
	url, access := serveSource(t, from)
	response, body := get(t, access, url+"/status", platform.StatusUser, password, append(headers, "Accept", accept)...)
	require.Equal(t, http.StatusOK, response.StatusCode, body)
	root, err := html.Parse(strings.NewReader(body))
	require.NoError(t, err)
	var all []element
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		e := element{name: n.Data, attributes: map[string]string{}}
		for _, a := range n.Attr {
			e.attributes[a.Key] = a.Val
		}
		for text := range n.Descendants() {
			if text.Type == html.TextNode {
				e.text += " " + text.Data
			}
		}
		e.text = strings.Join(strings.Fields(e.text), " ")
		all = append(all, e)
	}
	return all
}

// named returns the elements of a name.
func named(all []element, name string) []element {
	return slices.DeleteFunc(slices.Clone(all), func(e element) bool { return e.name != name })
}

// texts returns the text of the elements of a name.
func texts(all []element, name string) []string {
	var out []string
	for _, e := range named(all, name) {
		out = append(out, e.text)
	}
	return out
}

// links returns the targets of the links by their texts.
func links(all []element) map[string]string {
	out := map[string]string{}
	for _, e := range named(all, "a") {
		out[e.text] = e.attributes["href"]
	}
	return out
}

// A screen reader's user finds one heading, every table's caption and headers, and
// can skip to the content; nobody's text becomes markup.
func TestPageIsAccessible(t *testing.T) {
	c := config(t, "http://"+testenv.Address(t))
	c.Endpoints[`<script>x</script>`] = status.Endpoint{URL: "http://h:1", ReadyURL: "http://" + testenv.Address(t) + "/ready"}
	all := open(t, c)
	require.Equal(t, []string{"Status of the observatory"}, texts(all, "h1"))
	require.Equal(t, "en", named(all, "html")[0].attributes["lang"])
	require.Equal(t, "Skip to content", named(all, "a")[0].text, "the first that the keyboard reaches")
	require.Equal(t, "#main", named(all, "a")[0].attributes["href"])
	require.Equal(t, "main", named(all, "main")[0].attributes["id"])
	require.Len(t, named(all, "caption"), len(named(all, "table")))
	for _, header := range named(all, "th") {
		require.Contains(t, []string{"row", "col"}, header.attributes["scope"], header.text)
	}
	ids := map[string]bool{}
	for _, e := range all {
		if id := e.attributes["id"]; id != "" {
			require.False(t, ids[id], id)
			ids[id] = true
		}
	}
	for _, e := range all {
		if label := e.attributes["aria-labelledby"]; label != "" {
			require.True(t, ids[label], label)
		}
		require.NotContains(t, e.attributes, "style", "the policy forbids it")
	}
	require.Empty(t, named(all, "script"))
	require.Contains(t, texts(all, "th"), "<script>x</script>")
	require.Contains(t, named(all, "meta")[1].attributes["content"], "width=device-width")
}

func TestPageShowsProblemsFirst(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	importSamples(t, metrics, time.Second,
		metric(platform.MetricHostSeen, "j-1", "core", "ip-10-0-0-12", "", 7),
		metric(platform.MetricHostSeen, "j-1", "core", "ip-10-0-0-13", "", 7),
		metric(platform.MetricHostSeen, "j-1", "master", "ip-10-0-0-11", "", 7),
		metric(platform.MetricBootstrapUp, "j-1", "core", "ip-10-0-0-12", `,component="profiler"`, 0),
		metric(platform.MetricBootstrapUp, "j-1", "master", "ip-10-0-0-11", `,component="profiler"`, 1))
	all := open(t, config(t, metrics))
	require.Equal(t, []string{"Problems", "Last steps", "Where to look", "Workloads", "Clusters and nodes", "S3 paths"}, texts(all, "h2"))
	items := texts(all, "li")
	require.Contains(t, items[0], "grafana is not ready: ")
	require.Contains(t, items[1], "pyroscope is not ready: ")
	require.Equal(t, "node ip-10-0-0-12 of j-1: its bootstrap action is partial, without profiler", items[2])
	require.Equal(t, "node ip-10-0-0-13 of j-1 has sent no report of its bootstrap action", items[3])
	require.Equal(t, "(4) Status of the observatory", texts(all, "title")[0])
	rows := texts(all, "tr")
	require.Contains(t, rows, "j-1 j-1 not known 1 master, 2 core not known")
	require.Contains(t, rows, "tempo yes")
	require.True(t, slices.ContainsFunc(rows, func(row string) bool {
		return strings.HasPrefix(row, "ip-10-0-0-12 core j-1 ") && strings.HasSuffix(row, "s ago partial, without profiler")
	}), rows)
	require.Contains(t, rows, "lake s3://data/lake/ Tables of the jobs, and of their history below history/.")

	c := config(t, metrics)
	c.Endpoints = map[platform.Workload]status.Endpoint{platform.WorkloadVictoriaMetrics: c.Endpoints[platform.WorkloadVictoriaMetrics]}
	require.NotContains(t, texts(open(t, c), "p"), "None found.", "nodes still lack a part")
}

// What a forwarder says does not run where the server runs is no problem, unless it
// runs all the same.
func TestAbsentWorkloadsAreNoProblem(t *testing.T) {
	absent := []string{platform.AbsentHeader, platform.EncodeAbsent(map[string]string{
		"grafana": "no registry has it", "tempo": "it is ready", "other": "there is none",
	})}
	c := config(t, storetest.DefaultMetrics(t))
	all := open(t, c, absent...)
	require.Len(t, named(all, "li"), 1)
	require.Contains(t, texts(all, "li")[0], "pyroscope is not ready: ")
	require.Contains(t, texts(all, "tr"), "grafana not here no registry has it")
	require.Contains(t, texts(all, "tr"), "tempo yes")

	url, access := serve(t, c)
	_, body := get(t, access, url+"/status?section=workloads", platform.StatusUser, password, absent...)
	var workloads []status.Workload
	require.NoError(t, json.Unmarshal([]byte(body), &workloads))
	require.Equal(t, status.Workload{Name: platform.WorkloadGrafana, Absent: "no registry has it"}, workloads[0])
	var text bytes.Buffer
	require.NoError(t, status.Status{Workloads: workloads}.Render(&text, time.Now()))
	require.Regexp(t, `grafana +│ not here │ no registry has it`, text.String())
}

func TestPageWithoutProblems(t *testing.T) {
	metrics := storetest.DefaultMetrics(t)
	c := config(t, metrics)
	c.Endpoints = map[platform.Workload]status.Endpoint{platform.WorkloadVictoriaMetrics: c.Endpoints[platform.WorkloadVictoriaMetrics]}
	all := open(t, c)
	require.Contains(t, texts(all, "p"), "None found.")
	require.Contains(t, texts(all, "p"), "No EMR cluster sends telemetry.")
	require.Contains(t, texts(all, "p"), "No EMR cluster that sends telemetry has steps.")
	require.Equal(t, "Status of the observatory", texts(all, "title")[0])
}

// The page leads to Grafana where it runs. Where it does not, it leads to the
// dashboards of VictoriaMetrics, if a forwarder says how the client reaches it.
func TestPageLeadsToWhatTheClientReaches(t *testing.T) {
	c := config(t, "http://"+testenv.Address(t))
	c.Dashboards = []status.Link{
		{Title: "EMR Overview", Service: platform.WorkloadGrafana, Path: "/d/emr-overview"},
		{Title: "EMR Overview", Service: platform.WorkloadVictoriaMetrics, Path: "/vmui/#/dashboards"},
	}
	require.NotContains(t, links(open(t, c)), "EMR Overview", "Grafana is not ready")
	require.Contains(t, texts(open(t, c), "p"), "Grafana is not ready, and nothing else can be reached from here.")

	services := platform.EncodeServices(map[string]string{
		"victoria-metrics": "http://127.0.0.1:8428", "pyroscope": "http://127.0.0.1:4040", "history": "http://127.0.0.1:18080",
		"tempo": "javascript:alert(1)", "grafana": "http://127.0.0.1:3000", "s3": "http://127.0.0.1:7070",
	})
	got := links(open(t, c, platform.ServicesHeader, services))
	require.Equal(t, "http://127.0.0.1:8428/vmui/#/dashboards", got["EMR Overview"])
	require.Equal(t, "http://127.0.0.1:8428/vmui", got["victoria-metrics"])
	require.Equal(t, "http://127.0.0.1:4040/", got["profiles (Pyroscope)"])
	require.Equal(t, "http://127.0.0.1:18080", got["Spark history"])
	for title, url := range got {
		require.NotContains(t, url, "alert", title)
		require.NotContains(t, url, ":3000", title)
	}

	grafana := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(grafana.Close)
	c.Endpoints[platform.WorkloadGrafana] = status.Endpoint{URL: grafana.URL, ReadyURL: grafana.URL + "/api/health"}
	got = links(open(t, c, platform.ServicesHeader, services))
	require.Equal(t, "https://10.0.0.4:3000/d/emr-overview", got["EMR Overview"])
	require.Equal(t, "https://10.0.0.4:3000/", got["grafana"])
	require.Len(t, slices.DeleteFunc(named(open(t, c, platform.ServicesHeader, services), "a"),
		func(e element) bool { return e.text != "EMR Overview" }), 1)
}

// The page says when schedules start, and first of all which run did not.
func TestPageShowsSchedules(t *testing.T) {
	c := config(t, storetest.DefaultMetrics(t))
	c.Schedules = []status.ScheduleConfig{
		{Key: "nightly", Cluster: "lake", Expression: "cron(0 2 * * ? 2199)", Timezone: "UTC", Enabled: true},
		{Key: "often", Cluster: "lake", Expression: "rate(1 hour)", Timezone: "UTC"},
	}
	from := source(t, c)
	now := time.Now().UTC().Truncate(time.Second)
	from.LostRuns = func() []status.LostRun {
		return []status.LostRun{{Schedule: "nightly", Scheduled: now, Reason: "ValidationException: <i>ended</i>", Told: now}}
	}
	all := openSource(t, from)
	trouble := "schedule nightly did not start at " + now.Format(time.RFC3339) + ": ValidationException: <i>ended</i>"
	require.Contains(t, texts(all, "li"), trouble)
	cells := texts(all, "td")
	for _, cell := range []string{"Tue 2199-01-01 02:00 UTC", "none among the newest steps", "not enabled", "none"} {
		require.Contains(t, cells, cell)
	}
	require.True(t, slices.ContainsFunc(cells, func(c string) bool { return strings.HasSuffix(c, ": ValidationException: <i>ended</i>") }))
}
