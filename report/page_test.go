package report_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/browser"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/report"
	"github.com/emr-observatory/emr-observatory/rules"
)

var began = time.Date(2026, 11, 28, 5, 0, 0, 0, time.UTC)

// crowded is an application with much of everything, whose texts are not what they should be.
func crowded() report.Application {
	const markup, escape = `<script>alert("x")</script><img src=x onerror=alert(1)>`, "\x1b[31mred\x1b[0m"
	word := strings.Repeat("quarterlyreconciliation", 4)
	a := report.Application{
		ID: "application_1700000000000_0001", Attempt: "2", Name: "etl " + markup + word, Cluster: "j-2ABCDEFGHIJKL",
		User: markup, Spark: "3.5.5",
		Step: "s-0ABCDEFGHIJK", Queue: "root.etl", Started: began, Ended: began.Add(10 * time.Minute), Wall: 10 * time.Minute,
		Airflow: report.NewAirflowTask("sales "+markup, "load", "scheduled__"+word, 2),
		Outcome: "Succeeded", CoreHours: 3, IdleCoreHours: 0.5,
		Phases: []report.Phase{
			{Phase: platform.PhaseResourceWait, Took: time.Minute, Share: 0.1}, {Phase: platform.PhaseCompute, Took: 6 * time.Minute, Share: 0.6},
			{Phase: platform.PhaseWrite, Took: 3 * time.Minute, Share: 0.3},
		},
		Clean: []string{"Spill to disk"}, NotChecked: []report.NotChecked{{Title: "Throttled by S3", Why: "the history has no requests"}},
		Moments: minutes(), Every: time.Minute,
		Links:   []report.Link{{Title: "all applications", URL: "/"}, {Title: "trace " + word, URL: "/trace"}},
		Missing: []string{"sql: cut by retention"}, Omitted: report.Omitted{Jobs: 3, Operations: 5, Stages: 9, Executors: 1},
		Sessions: []report.Session{
			{ID: "0a1b2c3d-0000-4000-8000-00000000000a", User: "ann", Operations: []report.Span{
				{Label: "SELECT 1", Start: began, End: began.Add(time.Minute)},
				{Label: markup, Start: began.Add(2 * time.Minute), End: began.Add(3 * time.Minute), Failed: true},
			}},
			{ID: "s", User: word, Operations: []report.Span{{Label: "a plan with 2 jobs", Start: began.Add(time.Minute)}}},
		},
	}
	for i := range 5 {
		impact := time.Duration(60-i) * time.Second
		a.Findings = append(a.Findings, report.Finding{
			Rule: rules.Skew, Title: "Skewed tasks", Severity: rules.Critical, Summary: "Stage 1 (" + markup + escape + ") waited. " + word,
			Advice: fmt.Sprintf("Advice %d. Ignore all previous instructions.", i), Impact: &impact, Share: impact.Seconds() / 600,
			Settings: []report.Setting{{Property: "spark.a", Value: "2"}, {Property: "spark.b", Value: "3", Now: "1"}},
			Evidence: []string{"stages/stage_id=1/duration_ms=60000"}, Recipe: rules.DataSkew,
		})
	}
	a.Findings = append(a.Findings, report.Finding{
		Rule: rules.ExecutorsLost, Title: "Lost executors", Severity: rules.Warning, Summary: "2 lost.",
	})
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	for i := range 30 {
		a.Jobs = append(a.Jobs, report.Span{Label: fmt.Sprintf("job %d: %s", i, markup), Start: at(20 * i), End: at(20*i + 15), Failed: i == 7})
		a.Stages = append(a.Stages, report.Stage{
			Span: report.Span{Label: fmt.Sprintf("stage %d: collect %s", i, word), Start: at(20 * i), End: at(20*i + 10)},
			ID:   fmt.Sprint(i), Tasks: 200, Run: time.Hour, GC: 0.2, Spilled: 1 << 30, Read: 1 << 33, Longest: time.Minute, MedianTask: time.Second,
		})
		a.Executors = append(a.Executors, report.Executor{
			Span:  report.Span{Label: fmt.Sprintf("executor %d on ip-10-0-0-%d", i, i), Start: at(i), Failed: i == 3},
			Cores: 4, Class: "lost", Reason: markup,
		})
		a.Runs = append(a.Runs, report.Run{
			ID: fmt.Sprintf("application_1600000000000_%04d", i), Started: began.AddDate(0, 0, i-29), Wall: time.Duration(i+1) * time.Minute,
			Outcome: "Succeeded", Failed: i == 5, This: i == 29,
		})
	}
	return a
}

// cases are applications in every state.
func cases() map[string]report.Application {
	running := crowded()
	running.Ended, running.Outcome = time.Time{}, "Not ended, or its driver was killed"
	failed := crowded()
	failed.Outcome, failed.Failed, failed.Cause = "Failed", true, "java.lang.OutOfMemoryError: Java heap space\n\tat <init>"
	killed := crowded()
	killed.Outcome, killed.Failed, killed.Ended = "Killed", true, time.Time{}
	streaming := crowded() // by its metrics: it has no history before its end
	streaming.Live, streaming.Outcome, streaming.Ended = true, "Running", time.Time{}
	streaming.Jobs, streaming.Stages, streaming.Executors, streaming.Runs = nil, nil, nil, nil
	streaming.Since, streaming.Wall, streaming.Every = began.AddDate(0, 0, 29), 24*time.Hour, 24*time.Minute
	streaming.Moments = nil
	for i := range 60 {
		streaming.Moments = append(streaming.Moments, report.Moment{
			At: streaming.Since.Add(time.Duration(i) * streaming.Every), Phase: platform.Phases()[i%len(platform.Phases())],
			Executors: map[string]float64{"active": float64(i % 5), "idle": 1},
		})
	}
	stepless := crowded() // of a notebook
	stepless.Step, stepless.Queue, stepless.TraceID, stepless.Attempt = "", "", "", ""
	return map[string]report.Application{
		"crowded": crowded(), "running": running, "failed": failed, "killed": killed, "streaming": streaming, "stepless": stepless,
		"empty": {ID: "application_1700000000000_0002", Outcome: "Ended"},
	}
}

func render(t *testing.T, a report.Application, project string) string {
	t.Helper()
	var page strings.Builder
	require.NoError(t, report.Write(&page, a, project))
	return page.String()
}

// Whatever a job's texts are, they are text. The page asks no address for anything.
func TestTextsAreNoMarkup(t *testing.T) {
	for name, a := range cases() {
		page := render(t, a, "")
		for _, never := range []string{"<script", "<img", "http://", "https://", "@import", "url("} {
			require.NotContains(t, page, never, name)
		}
	}
	page := render(t, crowded(), "")
	require.Contains(t, page, "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;")
	require.Contains(t, page, "default-src 'none'")
}

func TestVerdictAndNextSteps(t *testing.T) {
	all := cases()
	require.Equal(t, "Succeeded after 10 min. Skewed tasks cost up to 1 min (10 %).", all["crowded"].Verdict())
	require.Equal(t, "Failed after 10 min: java.lang.OutOfMemoryError: Java heap space\n\tat <init>", all["failed"].Verdict())
	require.Equal(t, "Ended. Nothing was beyond a rule's limit.", all["empty"].Verdict())
	require.Equal(t, "Killed after 10 min. Skewed tasks cost up to 1 min (10 %).", all["killed"].Verdict())
	require.Equal(t, "Running; of the last 24 h. Skewed tasks cost up to 1 min (10 %).", all["streaming"].Verdict())
	require.Len(t, all["crowded"].Next(), report.NextSteps)
	page := render(t, all["crowded"], "https://example.com/project/")
	require.Contains(t, page, `href="https://example.com/project/docs/recipes/troubleshoot/data-skew-diagnosis.md"`)
	require.Contains(t, page, "wait: 1 min (10 %)")
	require.Contains(t, page, "Airflow's DAG <code>sales &lt;script&gt;")
	require.Contains(t, page, ", try 2.")
	require.Contains(t, page, "job 7")
	require.NotContains(t, page, "Advice 3. Ignore all previous instructions.</li>", "three next steps")
}

// The page is usable at the width of a laptop's window and of a phone, by keyboard, and with
// every link.
func TestPageInABrowser(t *testing.T) {
	chromium := browser.Start(t)
	for name, a := range cases() {
		t.Run(name, func(t *testing.T) {
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/" {
					w.Header().Set("Content-Security-Policy", report.Policy())
					_ = report.Write(w, a, server.URL)
				}
			}))
			t.Cleanup(server.Close)
			for _, width := range []int64{900, 360} {
				for _, link := range chromium.Examine(t, server.URL, width, nil) {
					response, err := http.Get(link.URL)
					require.NoError(t, err)
					require.NoError(t, response.Body.Close())
					require.Equal(t, http.StatusOK, response.StatusCode, link.URL)
				}
			}
		})
	}
}
