package judge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/profiler/findings"
	"github.com/emr-observatory/emr-observatory/profiler/judge"
	"github.com/emr-observatory/emr-observatory/profiler/lake"
	"github.com/emr-observatory/emr-observatory/profiler/run"
	"github.com/emr-observatory/emr-observatory/profiler/tables"
	"github.com/emr-observatory/emr-observatory/rules"
)

// judgedFolder makes the test binary a process that judges the tables in a folder.
const judgedFolder = "OBSERVATORY_TEST_JUDGED"

func TestMain(m *testing.M) {
	if dir := os.Getenv(judgedFolder); dir != "" {
		if _, err := judged(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func judged(ctx context.Context, dir string) (s judge.Summary, err error) {
	err = run.Locked(ctx, aws.Config{}, options(dir), "test", func(l *lake.Lake, _ run.Place) (err error) {
		s, err = judge.All(ctx, l, nil)
		return err
	})
	return s, err
}

func options(dir string) run.Options {
	return run.Options{
		Timeout: time.Minute, MaxClusters: 5, EndpointFailures: 3, ClusterThreads: 1, AppThreads: 2, BatchSize: 10, Environment: "dev",
		Output: dir,
	}
}

var applicationID = regexp.MustCompile(`application_[0-9]+_[0-9]+`)

// logs writes the logs that tests of other packages read, each under an id of its own, and
// returns their folder and their names by application.
func logs(t testing.TB) (dir string, names map[string]string) {
	t.Helper()
	dir, names = filepath.Join(t.TempDir(), "team-a"), map[string]string{}
	require.NoError(t, os.Mkdir(dir, 0o755))
	synthetic, err := filepath.Glob("../../phases/testdata/logs/*.jsonl")
	require.NoError(t, err)
	for i, path := range synthetic {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if !strings.Contains(string(text), `"App ID"`) {
			continue // no event names the application
		}
		id := fmt.Sprintf("application_1700000000000_%04d", i)
		names[id] = strings.TrimSuffix(filepath.Base(path), ".jsonl")
		require.NoError(t, os.WriteFile(filepath.Join(dir, id), applicationID.ReplaceAll(text, []byte(id)), 0o600))
	}
	written := map[string]string{
		"../../eventlog/testdata/eventlog_v2_app-20261123103508-0000":        "rolled, Spark 3.5",
		"../../eventlog/testdata/spark4/eventlog_v2_app-20261124085717-0000": "rolled, Spark 4",
		"../fold/testdata/app-20261124083856-0000.zstd":                      "failures, Spark 3.5",
	}
	for path, name := range written {
		into := filepath.Join(dir, filepath.Base(path))
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			require.NoError(t, os.CopyFS(into, os.DirFS(path)))
		} else {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(into, text, 0o600))
		}
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "eventlog_v2_"), ".zstd")
		names[id] = name
	}
	return dir, names
}

// tablesOf reads logs into tables in a new folder.
func tablesOf(t testing.TB, logs string) string {
	t.Helper()
	o := options(t.TempDir())
	o.Logs = logs
	s, err := run.Run(t.Context(), aws.Config{}, o, quiet{})
	require.NoError(t, err)
	require.Empty(t, s.Incomplete)
	require.Positive(t, s.Judged)
	require.NotEmpty(t, s.Findings)
	return o.Output
}

// quiet shows no progress.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Clusters(int)          {}
func (quiet) Applications(int)      {}
func (quiet) ClusterDone()          {}
func (quiet) ApplicationDone()      {}

// read returns the rows of a table in a folder.
func read[T any, P interface {
	*T
	tables.Row
}](t *testing.T, dir string) (rows []T) {
	t.Helper()
	l, _, err := run.Open(t.Context(), aws.Config{}, options(dir))
	require.NoError(t, err)
	for row, err := range lake.Read[T, P](t.Context(), l, lake.Filter{}) {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

// critical are the critical findings of the logs, each with why a reader of the log shares it.
// The logs in phases/testdata/logs are made by hand: their stages last for minutes or hours.
func critical() map[string]map[rules.ID]string {
	return map[string]map[rules.ID]string{
		"rolled, Spark 4": {
			rules.DriverBound: "it is a session that its user left idle between jobs for ten minutes",
			rules.Skew:        "a task of 23 s among 200 of 0.4 s: the first on a new executor",
		},
		"reference": {
			rules.ResourceWait:   "an hour of two without an executor",
			rules.SlowWrite:      "an hour of two in which tasks write or commit",
			rules.LowParallelism: "one task of 37 minutes beside an idle core",
		},
		"failures, Spark 3.5": {
			rules.PythonUDF: "its first UDF: starting Python took 39 of its tasks' 41 s, for a thousand rows",
		},
		"driver-bound":   {rules.DriverBound: "two minutes in which no job ran"},
		"client-wait":    {rules.ResourceWait: "half a minute of fifty seconds without an executor"},
		"no-executors":   {rules.ResourceWait: "it never had an executor"},
		"retries":        {rules.StageRetries: "ten seconds of forty repeat a lost stage"},
		"overlap":        {rules.LowParallelism: "one task beside an idle core"},
		"excluded-stage": {rules.LowParallelism: "two tasks, and one of two executors excluded"},
	}
}

// What the rules find in logs is what their readers would; no impact is more than the wall
// clock.
func TestFindingsOfLogs(t *testing.T) {
	from, names := logs(t)
	dir := tablesOf(t, from)
	walls := map[string]*int64{}
	for _, a := range read[tables.Application](t, dir) {
		walls[a.ApplicationID] = a.DurationMillis
	}
	require.Len(t, walls, len(names))
	want, have := critical(), map[string]map[rules.ID]bool{}
	for _, f := range read[tables.Finding](t, dir) {
		name := names[f.ApplicationID]
		rule := rules.Get(rules.ID(f.Finding))
		require.Equal(t, findings.Version(), f.Rules)
		if f.NotChecked != "" {
			continue
		}
		if wall := walls[f.ApplicationID]; f.Impact != nil {
			require.GreaterOrEqual(t, *f.Impact, int64(0))
			if wall != nil {
				require.LessOrEqual(t, *f.Impact, *wall, name)
				require.InDelta(t, float64(*f.Impact)/float64(*wall), *f.ImpactRate, 1e-9)
			}
		}
		require.Equal(t, rule.Basis == rules.Event || rule.Basis == rules.Cores, f.Impact == nil, f.Finding)
		if f.Severity != string(rules.Critical) {
			continue
		}
		if have[name] == nil {
			have[name] = map[rules.ID]bool{}
		}
		have[name][rule.ID] = true
		if want[name][rule.ID] == "" {
			t.Errorf("%s: %s\n%s", name, f.Finding, f.Summary)
		}
	}
	for name, of := range want {
		for id := range of {
			require.True(t, have[name][id], "%s: %s", name, id)
		}
	}
}

// Findings are those of whole rows: the rules name every column that decides.
func TestColumnsSuffice(t *testing.T) {
	from, names := logs(t)
	l, _, err := run.Open(t.Context(), aws.Config{}, options(tablesOf(t, from)))
	require.NoError(t, err)
	compared := 0
	for held, err := range l.Attempts(t.Context()) {
		require.NoError(t, err)
		rows := findings.Rows{
			Environment: lake.ReadHeld[tables.Environment](t.Context(), held),
			Phases:      lake.ReadHeld[tables.Phase](t.Context(), held),
			Executors:   lake.ReadHeld[tables.Executor](t.Context(), held),
			Stages:      lake.ReadHeld[tables.StageRow](t.Context(), held),
			Summaries:   lake.ReadHeld[tables.TaskSummary](t.Context(), held),
			Jobs:        lake.ReadHeld[tables.Job](t.Context(), held),
			SQL:         lake.ReadHeld[tables.SQL](t.Context(), held),
			Nodes:       lake.ReadHeld[tables.SQLNode](t.Context(), held),
		}
		for row, err := range lake.ReadHeld[tables.Application](t.Context(), held) {
			require.NoError(t, err)
			rows.Application = row
		}
		want, err := findings.Judge(rows)
		require.NoError(t, err)
		var whole, have []string
		for _, f := range want {
			whole = append(whole, text(t, f))
		}
		for f, err := range lake.ReadHeld[tables.Finding](t.Context(), held) {
			require.NoError(t, err)
			have = append(have, text(t, f))
		}
		require.ElementsMatch(t, whole, have, names[held.ApplicationID])
		compared += len(want)
	}
	require.Positive(t, compared)
}

// text writes a finding; an empty list is as none.
func text(t *testing.T, f tables.Finding) string {
	t.Helper()
	for _, list := range []*[]string{&f.Evidence, &f.Changes, &f.Settings} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	raw, err := json.Marshal(f)
	require.NoError(t, err)
	return string(raw)
}

// objects returns the contents of all files by name, but for the writer's lease.
func objects(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, "writer.json") && !strings.Contains(path, "/.parts/") {
			text, failed := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir)], err = string(text), failed
		}
		return err
	}))
	return all
}

// unjudged makes attempts count as judged by other rules.
func unjudged(t testing.TB, dir string) {
	t.Helper()
	manifests, err := filepath.Glob(filepath.Join(dir, "_manifest/attempts/*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, manifests)
	for _, name := range manifests {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Contains(t, string(text), findings.Version())
		require.NoError(t, os.WriteFile(name, []byte(strings.ReplaceAll(string(text), findings.Version(), "older")), 0o600))
	}
}

// Judging needs no log, changes nothing but findings, and writes nothing the second time.
func TestJudgeAgain(t *testing.T) {
	from, names := logs(t)
	dir := tablesOf(t, from)
	require.NoError(t, os.RemoveAll(from))
	before := objects(t, dir)
	s, err := judged(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, len(names), s.Current)
	require.Zero(t, s.Judged+s.Objects+s.Removed)
	require.Equal(t, before, objects(t, dir))
	require.Contains(t, before["/_manifest/judged.json"], findings.Version())

	unjudged(t, dir)
	s, err = judged(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, len(names), s.Judged)
	require.Zero(t, s.Objects, "the findings are the same")
	require.Equal(t, before, objects(t, dir))

	unjudged(t, dir)
	files, err := filepath.Glob(filepath.Join(dir, "findings/*/*.parquet"))
	require.NoError(t, err)
	for _, name := range files {
		require.NoError(t, os.Remove(name))
	}
	for name, text := range objects(t, dir) { // as an earlier version left it: without findings
		if strings.HasPrefix(name, "/_manifest/attempts/") {
			text = regexp.MustCompile(`(?s)    "findings": \{.*?\},\n`).ReplaceAllString(text, "")
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	s, err = judged(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, len(files), s.Objects)
	require.Equal(t, before, objects(t, dir))
}

// Rows that cannot be read are named, and the other attempts are judged.
func TestDamagedRows(t *testing.T) {
	from, names := logs(t)
	dir := tablesOf(t, from)
	unjudged(t, dir)
	for table, id := range map[string]string{"stages": "application_1700000000000_0003", "applications": "application_1700000000000_0004"} {
		damaged, err := filepath.Glob(filepath.Join(dir, table, "*", id+".*.parquet"))
		require.NoError(t, err)
		require.Len(t, damaged, 1)
		require.NoError(t, os.WriteFile(damaged[0], []byte("no Parquet"), 0o600))
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "_manifest", "attempts", "application_1700000000000_0005.*"))
	require.NoError(t, err)
	require.Len(t, manifests, 1)
	require.NoError(t, os.WriteFile(manifests[0], []byte("{"), 0o600))
	s, err := judged(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, len(names)-3, s.Judged)
	require.Len(t, s.Failed, 3)
	require.Equal(t, "application_1700000000000_0003", s.Failed[0].ApplicationID)
	require.Contains(t, s.Failed[0].Reason, "stages/")
	require.Contains(t, s.Failed[1].Reason, "applications/")
	require.Equal(t, "_manifest/attempts/"+filepath.Base(manifests[0]), s.Failed[2].Manifest)
	require.Contains(t, s.Failed[2].Reason, s.Failed[2].Manifest)
}

// A run that is slower than its five earlier ones has a finding, also if those are read later.
func TestSlowerThanUsual(t *testing.T) {
	text, err := os.ReadFile("../../phases/testdata/logs/static.jsonl")
	require.NoError(t, err)
	from := filepath.Join(t.TempDir(), "team-a")
	require.NoError(t, os.Mkdir(from, 0o755))
	end := regexp.MustCompile(`(ApplicationEnd","Timestamp":)(\d+)`)
	started := regexp.MustCompile(`(ApplicationStart".*?"Timestamp":)(\d+)`)
	add := func(n int, minutes int64) {
		id := fmt.Sprintf("application_1700000000000_%04d", n)
		log := started.ReplaceAllString(applicationID.ReplaceAllString(string(text), id), fmt.Sprintf("${1}%d", 1_700_000_000_000+n))
		log = end.ReplaceAllString(log, fmt.Sprintf("${1}%d", 1_700_000_000_000+minutes*60_000))
		require.NoError(t, os.WriteFile(filepath.Join(from, id), []byte(log), 0o600))
	}
	slow := func(dir string) (ids []string) {
		for _, f := range read[tables.Finding](t, dir) {
			if f.Finding == string(rules.Slower) {
				require.Equal(t, string(rules.Critical), f.Severity)
				require.Len(t, f.Evidence, 1+5+1)
				require.Contains(t, f.Summary, "The phase driver grew most")
				ids = append(ids, f.ApplicationID)
			}
		}
		return ids
	}
	add(9, 30)
	o := options(t.TempDir())
	o.Logs = from
	_, err = run.Run(t.Context(), aws.Config{}, o, quiet{})
	require.NoError(t, err)
	require.Empty(t, slow(o.Output))
	for n := range 5 {
		add(n, 10)
	}
	s, err := run.Run(t.Context(), aws.Config{}, o, quiet{})
	require.NoError(t, err)
	require.Equal(t, 6, s.Judged)
	require.Equal(t, []string{"application_1700000000000_0009"}, slow(o.Output))
}

// A process that is killed while it judges leaves complete tables, and the next one the same
// findings.
func TestKilledJudge(t *testing.T) {
	from, _ := logs(t)
	dir := tablesOf(t, from)
	want := objects(t, dir)
	for name := range maps.Clone(want) {
		if strings.HasPrefix(name, "/findings/") {
			require.NoError(t, os.Remove(filepath.Join(dir, name)))
		}
		if strings.HasPrefix(name, "/_manifest/attempts/") {
			text := regexp.MustCompile(`(?s)    "findings": \{.*?\},\n`).ReplaceAllString(want[name], "")
			text = strings.ReplaceAll(text, findings.Version(), "older")
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	start := func(dir string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), judgedFolder+"="+dir), os.Stderr
		require.NoError(t, cmd.Start())
		return cmd
	}
	begun := time.Now()
	undisturbed := t.TempDir()
	require.NoError(t, os.CopyFS(undisturbed, os.DirFS(dir)))
	require.NoError(t, start(undisturbed).Wait())
	whole := time.Since(begun)
	require.Equal(t, want, objects(t, undisturbed))
	kills, halfway := testenv.Repeats(4, 20), 0
	for killed := 0; killed < kills || halfway == 0 && killed < 10*kills; killed++ {
		out := t.TempDir()
		require.NoError(t, os.CopyFS(out, os.DirFS(dir)))
		cmd := start(out)
		timer := time.AfterFunc(whole*time.Duration(killed%kills+1)/time.Duration(kills+1), func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		if err == nil {
			whole = whole * 3 / 4 // this time it was faster
			continue
		}
		have := objects(t, out)
		if n := judgedIn(have); n > 0 && n < judgedIn(want) {
			halfway++
		}
		for name, text := range want {
			if !strings.HasPrefix(name, "/findings/") && !strings.HasPrefix(name, "/_manifest/") {
				require.Equal(t, text, have[name], name)
			}
		}
		require.NoError(t, start(out).Wait())
		require.Equal(t, want, objects(t, out))
	}
	require.NotZero(t, halfway)
}

func judgedIn(files map[string]string) (n int) {
	for name := range files {
		if strings.HasPrefix(name, "/findings/") {
			n++
		}
	}
	return n
}

// A thousand applications are judged without their logs, in bounded memory.
func TestThousandApplications(t *testing.T) {
	testenv.RequireLong(t, "TestJudgeAgain judges fewer")
	const applications = 1000
	from := filepath.Join(t.TempDir(), "team-a")
	require.NoError(t, os.Mkdir(from, 0o755))
	text, err := os.ReadFile("../../phases/testdata/logs/reference.jsonl")
	require.NoError(t, err)
	for i := range applications {
		id := fmt.Sprintf("application_1700000000000_%04d", i)
		require.NoError(t, os.WriteFile(filepath.Join(from, id), applicationID.ReplaceAll(text, []byte(id)), 0o600))
	}
	o := options(t.TempDir())
	o.Logs, o.MaxApplications = from, 0
	_, err = run.Run(t.Context(), aws.Config{}, o, quiet{})
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(from))
	unjudged(t, o.Output)
	cpu, peak := processorTime(t), uint64(0)
	err = run.Locked(t.Context(), aws.Config{}, o, "test", func(l *lake.Lake, _ run.Place) error {
		s, err := judge.All(t.Context(), l, func(s judge.Summary) {
			if s.Attempts%100 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		})
		require.Equal(t, applications, s.Judged)
		return err
	})
	require.NoError(t, err)
	t.Logf("%s of CPU per application; %d MiB of live heap", (processorTime(t)-cpu)/applications, peak>>20)
	require.Less(t, peak, uint64(64<<20))
	s, err := judged(t.Context(), o.Output)
	require.NoError(t, err)
	require.Zero(t, s.Judged+s.Objects)
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
