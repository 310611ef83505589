package pages_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/profiler/judge"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/pages"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/report"
	"github.com/emr-observatory/emr-observatory/rules"
)

// lakeOf reads event logs into tables.
func lakeOf(t *testing.T, logs string) *lake.Lake {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	options := run.AddFlags(flags, run.Table())
	require.NoError(t, flags.Parse([]string{"--logs", logs, "--output", t.TempDir()}))
	o, err := options.Resolve(func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	_, err = run.Run(t.Context(), aws.Config{}, o, quiet{})
	require.NoError(t, err)
	kept, _, err := run.Open(t.Context(), aws.Config{}, o)
	require.NoError(t, err)
	return kept
}

// An application whose rows a run has written, and not yet judged, has no page that says that
// nothing was found.
func TestPageWaitsForFindings(t *testing.T) {
	l, err := lake.Open(t.Context(), folder(t), "")
	require.NoError(t, err)
	_, err = l.Lock(t.Context(), "test")
	require.NoError(t, err)
	id := tables.Attempt{Cluster: tables.Cluster{ClusterID: "j-1"}, ApplicationID: "application_1_0001"}
	b, err := l.Begin(id, time.UnixMilli(1000))
	require.NoError(t, err)
	require.NoError(t, b.Put(&tables.Application{Attempt: id, StartTime: 1000}))
	_, err = b.Commit(t.Context(), true, "")
	require.NoError(t, err)
	_, err = pages.Of(t.Context(), l, id.ApplicationID)
	require.ErrorIs(t, err, pages.ErrUnknown)
	require.ErrorContains(t, err, "not in the tables with findings")
	_, err = judge.All(t.Context(), l, nil)
	require.NoError(t, err)
	page, err := pages.Of(t.Context(), l, id.ApplicationID)
	require.NoError(t, err)
	require.Equal(t, id.ApplicationID, page.ID)
}

func folder(t *testing.T) lake.Store {
	t.Helper()
	f, err := lake.NewFolder(t.TempDir())
	require.NoError(t, err)
	return f
}

// quiet shows no progress.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Clusters(int)          {}
func (quiet) Applications(int)      {}
func (quiet) ClusterDone()          {}
func (quiet) ApplicationDone()      {}

var applicationID = regexp.MustCompile(`application_[0-9]+_[0-9]+`)

// copyLog writes a log of phases/testdata under an application id.
func copyLog(t *testing.T, dir, name, id string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../phases/testdata/logs", name+".jsonl"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, id), applicationID.ReplaceAll(text, []byte(id)), 0o600))
}

// The page of an application has the figures of its tables.
func TestPageHasTheTablesFigures(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"reference", "retries", "no-executors", "overlap", "killed-driver", "excluded-stage", "nested"} {
		copyLog(t, dir, name, fmt.Sprintf("application_1700000000000_%04d", i))
	}
	kept, found := lakeOf(t, dir), 0
	for row, err := range lake.Read[tables.Application](t.Context(), kept, lake.Filter{}) {
		require.NoError(t, err)
		found++
		page, err := pages.Of(t.Context(), kept, row.ApplicationID)
		require.NoError(t, err)
		phases, wall := time.Duration(0), 0.0
		for _, p := range page.Phases {
			phases += p.Took
			wall += p.Share
		}
		require.InDelta(t, 1, wall, 1e-6)
		require.GreaterOrEqual(t, phases+time.Second, page.Wall, "the phases begin with the submission")
		require.EqualValues(t, row.NumJobs, len(page.Jobs)+page.Omitted.Jobs)
		require.EqualValues(t, row.NumStages, len(page.Stages)+page.Omitted.Stages)
		require.Len(t, page.Runs, 1)
		require.True(t, page.Runs[0].This)
		requireFindings(t, kept, page)
		var html strings.Builder
		require.NoError(t, report.Write(&html, page, ""))
		require.Contains(t, html.String(), page.ID)
		for _, f := range page.Findings {
			require.Contains(t, html.String(), f.Title)
		}
	}
	require.Equal(t, 7, found)
}

// requireFindings requires every row of the table on the page, and every other rule among those
// that found nothing.
func requireFindings(t *testing.T, kept *lake.Lake, page report.Application) {
	t.Helper()
	rows, seen := 0, map[string]bool{}
	for row, err := range lake.Read[tables.Finding](t.Context(), kept, lake.Filter{ApplicationID: page.ID}) {
		require.NoError(t, err)
		rows++
		seen[row.Finding] = true
	}
	require.Equal(t, rows, len(page.Findings)+len(page.NotChecked))
	clean := 0
	for _, rule := range rules.All() {
		if len(rule.Columns) > 0 && !seen[string(rule.ID)] {
			require.Contains(t, page.Clean, rule.Title)
			clean++
		}
	}
	require.Len(t, page.Clean, clean)
	for i := 1; i < len(page.Findings); i++ {
		a, b := page.Findings[i-1].Impact, page.Findings[i].Impact
		require.False(t, b != nil && (a == nil || *a < *b), "the most costly first")
	}
}

func TestApplicationsThatCannotBeShown(t *testing.T) {
	dir := t.TempDir()
	copyLog(t, dir, "reference", "application_1700000000000_0001")
	copyLog(t, dir, "overlap", "application_1700000000000_0002")
	kept := lakeOf(t, dir)
	_, err := pages.Of(t.Context(), kept, "application_1700000000000_0003")
	require.EqualError(t, err, "application \"application_1700000000000_0003\": is not in the tables; `run` reads the history into them")
	require.ErrorIs(t, err, pages.ErrUnknown)
	_, err = pages.Of(t.Context(), kept, "")
	require.ErrorContains(t, err, "the tables have 2 applications: name one, such as application_1700000000000_000")
	page, err := pages.Of(t.Context(), kept, "application_1700000000000_0001")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(page.Verdict(), "Ended after "), page.Verdict())
}

// The page of a Spark Connect server lists what its clients asked for, by session.
func TestSessionsOfConnect(t *testing.T) {
	const name = "connect.jsonl"
	logs := t.TempDir()
	content, err := os.ReadFile(filepath.Join("../../phases/testdata/logs", name))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(logs, name), content, 0o600))
	page, err := pages.Of(t.Context(), lakeOf(t, logs), "")
	require.NoError(t, err)
	var got []string
	for _, session := range page.Sessions {
		for _, o := range session.Operations {
			got = append(got, fmt.Sprintf("%s %s: %s, from %.0f for %.0f, failed %t", session.User, session.ID[:4], o.Label,
				o.Start.Sub(page.Started).Seconds(), o.End.Sub(o.Start).Seconds(), o.Failed))
		}
	}
	require.Equal(t, []string{
		`ann aaaa: CREATE VIEW v AS SELECT "x", from 10 for 4, failed false`, "ann aaaa: SELECT 1, from 20 for 11, failed false",
		`ann aaaa: SELECT 'ü\n' OPTIONS (password *********(redacted)), from 71 for 4, failed true`,
		"bob_Session_x bbbb: a plan or command without a job, from 35 for 2, failed true",
		"bob_Session_x bbbb: a plan with job 1, from 40 for 14, failed true",
	}, got)
	var html strings.Builder
	require.NoError(t, report.Write(&html, page, platform.Project))
	require.Contains(t, html.String(), "ann aaaaaaaa: SELECT 1")
}
