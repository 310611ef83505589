package node_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/sparktest"
	"github.com/emr-observatory/emr-observatory/internal/testenv"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

const sparkVariable = "OBSERVATORY_TEST_SPARK" // SPARK_HOME, found outside the namespaces

// sparkHome returns the folder of the Spark of the local cloud. Its JVMs load their classes from an
// archive.
func sparkHome(t *testing.T) string {
	t.Helper()
	if home := os.Getenv(sparkVariable); home != "" {
		return home
	}
	tree, err := applications.Fetch(context.Background(), func(part, message string, _ time.Duration) { t.Log(part, message) })
	require.NoError(t, err)
	java := t.TempDir()
	require.NoError(t, sparktest.WriteJavaHome(t.Context(), tree, java))
	t.Setenv("JAVA_HOME", java)
	home := filepath.Join(tree, "spark")
	t.Setenv(sparkVariable, home)
	return home
}

// pluginPath is the class path of the jars that nodes install, compiled against Spark
// 3.4. The lock refuses them if the sources have changed since.
func pluginPath(t *testing.T) string {
	t.Helper()
	return lockedFile(t, platform.ArtifactLauncher) + ":" + lockedFile(t, platform.ArtifactPlugin)
}

// pluginMains holds the folder of the plugin's compiled test sources.
var pluginMains struct {
	once   sync.Once
	folder string
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(pluginMains.folder)
	os.Exit(code)
}

// compilePluginMains compiles the plugin's test sources, once for all tests.
func compilePluginMains(t *testing.T) (classPath string) {
	t.Helper()
	path := pluginPath(t) + ":" + filepath.Join(sparkHome(t), "jars", "*") + ":" + sparkConnect().file(t)
	pluginMains.once.Do(func() {
		if pluginMains.folder, pluginMains.err = os.MkdirTemp("", "observatory-plugin-mains-"); pluginMains.err == nil {
			pluginMains.err = javac(pluginMains.folder, path, "spark-plugin/src/test/java/observatory/*/*.java")
		}
	})
	require.NoError(t, pluginMains.err)
	return pluginMains.folder + ":" + path
}

// javac compiles sources for every Java that Spark runs on.
func javac(target, classPath, pattern string) error {
	sources, err := filepath.Glob(pattern)
	if err != nil || len(sources) == 0 {
		return fmt.Errorf("no sources in %s", pattern)
	}
	args := append([]string{
		"-J-XX:TieredStopAtLevel=1", "--release", "8", "-nowarn", "-proc:none", "-Xlint:-options", "-cp", classPath, "-d", target,
	}, sources...)
	if out, err := exec.Command("javac", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("javac: %w\n%s", err, out)
	}
	return nil
}

// moduleOptions are what spark-submit gives the JVM (JavaModuleOptions); others have
// to ask for it.
func moduleOptions() []string {
	var options []string
	for _, name := range []string{"java.lang", "java.lang.invoke", "java.nio", "java.util", "java.util.concurrent", "sun.nio.ch",
		"sun.util.calendar"} {
		options = append(options, "--add-opens=java.base/"+name+"=ALL-UNNAMED")
	}
	return options
}

// pluginMain runs a main class of the plugin's test sources.
func pluginMain(t *testing.T, main string, args ...string) string {
	t.Helper()
	return pluginMainIn(t, compilePluginMains(t), main, args...)
}

// pluginMainIn runs it with a class path of the caller's.
func pluginMainIn(t *testing.T, classPath, main string, args ...string) string {
	t.Helper()
	line := append(moduleOptions(), "-cp", classPath, "observatory.spark."+main)
	cmd := exec.Command("java", append(line, args...)...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), errs.String())
	require.NotContains(t, errs.String(), "observatory:", "what the plugin could not do")
	return out.String()
}

// Spark's own reader gives the plugin the events of each log.
func TestPluginPhasesMatchHandWrittenLogs(t *testing.T) {
	const folder = "../../phases/testdata/logs/"
	logs, err := filepath.Glob(folder + "*.jsonl")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(logs), 12)
	results := strings.Split(strings.TrimSpace(pluginMain(t, "Replay", logs...)), "\n")
	require.Len(t, results, len(logs))
	for i, log := range logs {
		want, err := os.ReadFile(strings.TrimSuffix(log, ".jsonl") + ".want.json")
		require.NoError(t, err)
		require.JSONEq(t, string(want), results[i], filepath.Base(log))
	}
}

// The ids that an import of an event log computes (package platform) are the driver's
// and the executors'.
func TestPluginHashesIDsAsGoDoes(t *testing.T) {
	var rows [][2]string
	add := func(got string, want []byte) { rows = append(rows, [2]string{got, hex.EncodeToString(want)}) }
	lines := strings.Split(strings.TrimSpace(pluginMain(t, "IdTable")), "\n")
	for _, line := range lines {
		id := strings.Split(line, " ")
		switch id[0] {
		case "trace":
			trace := platform.TraceID(id[1], strings.Trim(id[2], "-"))
			add(id[3], trace[:])
		case "step":
			trace, span := platform.TraceID(id[1]), platform.StepSpanID(id[1])
			add(id[2], trace[:])
			add(id[3], span[:])
		default:
			span := platform.SpanID(id[1], strings.Trim(id[2], "-"), platform.SpanKind(id[3]), id[4])
			add(id[5], span[:])
		}
	}
	require.Len(t, rows, len(lines)+1)
	for _, row := range rows {
		require.Equal(t, row[1], row[0])
	}
}

// One run of 100,000 tasks in 5,000 stages. The bars are what the platform promises;
// on a quiet machine the listener takes four times as many.
func TestPluginTakesManyTasks(t *testing.T) {
	var perSecond, heap, millis, compute, events float64
	out := pluginMain(t, "Speed")
	_, err := fmt.Sscan(out, &perSecond, &heap, &millis, &compute, &events)
	require.NoError(t, err, out)
	t.Logf("%.0f ends of tasks per second of CPU; %.1f MiB; phases in %.0f ms", perSecond, heap/(1<<20), millis)
	require.Greater(t, perSecond, 200_000.0)
	require.Less(t, heap, float64(16<<20))
	require.InDelta(t, 500_000, compute, 0, "100,000 tasks of 5 ms")
}

// In an application that runs for weeks, the engine forgets the past and keeps its sums,
// although something stays open.
func TestPluginForgetsThePastOfLongApplications(t *testing.T) {
	kept := map[string]int{ // of 60,000 jobs, in the largest map
		"NOTHING": 10_000, "SKIPPED_STAGES": 40_000, "KEPT_IDS": 10_000, "ENDLESS_JOB": 17_000,
		"LOST_END": 17_000, "LOST_END_OF_WRITE": 17_000, "LOST_END_OF_KEPT_ID": 17_000,
	}
	lines := strings.Split(strings.TrimSpace(pluginMain(t, "Folds")), "\n")
	require.Len(t, lines, len(kept))
	for _, line := range lines {
		fields := strings.Fields(line)
		require.Len(t, fields, len(platform.Phases())+4)
		for _, pair := range fields[1 : len(platform.Phases())+2] {
			remembered, got, _ := strings.Cut(pair, "=")
			require.Equal(t, remembered, got, line)
		}
		require.Equal(t, strconv.FormatBool(fields[0] == "LOST_END_OF_WRITE" || fields[0] == "ENDLESS_JOB"), fields[len(fields)-2], line)
		largest, err := strconv.Atoi(fields[len(fields)-1])
		require.NoError(t, err)
		require.Less(t, largest, kept[fields[0]], line)
	}
}

// A fold at any time leaves the division unchanged, or marks it approximate.
func TestPluginFoldsAnywhere(t *testing.T) {
	var ordinary, unsure, forced, unsureForced int
	out := pluginMain(t, "RandomFolds")
	_, err := fmt.Sscan(out, &ordinary, &unsure, &forced, &unsureForced)
	require.NoError(t, err, out)
	t.Logf("%d divisions after ordinary folds, %d after forced ones; %d approximate", ordinary, forced, unsureForced)
	require.Zero(t, unsure, "an ordinary fold decides nothing that is open")
	require.Greater(t, ordinary, 2_000)
	require.Greater(t, forced, 2_000)
}

func TestPluginFindsParentsAndReasons(t *testing.T) {
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	const given, other = "00-" + trace + "-" + span + "-01", "00-0bf7651916cd43dd8448eb211c80319c-" + span + "-01"
	stepTrace, stepSpan := platform.TraceID("s-1AB"), platform.StepSpanID("s-1AB")
	step := "00-" + hex.EncodeToString(stepTrace[:]) + "-" + hex.EncodeToString(stepSpan[:]) + "-01"
	want := map[string]string{
		"parse " + given:                                           given,
		"parse 00-" + trace + "-" + span + "-00":                   "00-" + trace + "-" + span + "-00",
		"parse cc-" + trace + "-" + span + "-03-more":              given,
		"parse ff-" + trace + "-" + span + "-01":                   "null",
		"parse 00-" + strings.Repeat("0", 32) + "-" + span + "-01": "null",
		"parse 00-" + trace + "-0000000000000000-01":               "null",
		"parse 00-" + strings.ToUpper(trace) + "-" + span + "-01":  "null",
		"parse ":                 "null",
		"parse nonsense":         "null",
		"configured":             given,
		"environment":            other,
		"step":                   step,
		"cluster":                "null",
		"none":                   "null",
		"session as application": "null",
		"session":                given,
		"tag":                    other,
		"thread":                 other,
		"redact":                 "load with fs.s3a.secret.key=*********(redacted), then token: *********(redacted) and user=me",
		"redact own":             "*********(redacted) has pin=*********(redacted) and password=x",
		"redact words":           "soon",
		"redact cut":             "0123",
		"redact pairs":           "4",
		"bytes":                  "10",
		"texts of 3 MiB":         strconv.Itoa(platform.SpanBudgetBytes / 2 / (3 << 20)),
		"attempt container_e17_1700000000000_0042_02_000001": "2",
		"attempt container_1700000000000_0042_01_000003":     "1",
		"attempt null": "",
		"accessor":     "0 null 0 [java.lang.String.gone, org.apache.spark.Absent.time]",
	}
	const removals = "../../profiler/fold/testdata/removals.txt"
	texts, err := os.ReadFile(removals)
	require.NoError(t, err)
	for line := range strings.Lines(string(texts)) {
		text, class, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " > ")
		want["reason "+text] = class
	}
	samples := 0
	for line := range strings.Lines(pluginMain(t, "Tables", removals)) {
		input, got, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " > ")
		if id, ok := strings.CutPrefix(input, "sample "); ok {
			var bytes [16]byte
			_, err := hex.Decode(bytes[:], []byte(id))
			require.NoError(t, err)
			require.Equal(t, strconv.FormatBool(platform.SampledTrace(bytes, float64(samples)/50)), got, id)
			samples++
			continue
		}
		expected, known := want[input]
		require.True(t, known, line)
		require.Equal(t, expected, got, input)
		delete(want, input)
	}
	require.Empty(t, want)
	require.Equal(t, 50, samples)
}

// The jar is compiled against Spark 3.4 and Scala 2.12. What it reads is there in the
// newest Spark in range too, whose Scala has other descriptors.
func TestPluginFindsWhatItReadsInOtherSparks(t *testing.T) {
	testenv.RequireLong(t, "TestSparkAndHadoopHaveWhatTheLauncherReads reads the Spark that nodes have, and the compiler another")
	mains := compilePluginMains(t)
	for name, jars := range otherSparks() {
		t.Run(name, func(t *testing.T) {
			var first []string
			for _, jar := range jars {
				first = append(first, jar.file(t))
			}
			// What signatures name of other modules comes from Spark 3.5.
			classPath := strings.Join(append(first, mains), ":")
			cmd := exec.Command("java", "-cp", classPath, "observatory.spark.Probe")
			var errs strings.Builder
			cmd.Stderr = &errs
			out, err := cmd.Output()
			require.NoError(t, err, errs.String())
			require.Equal(t, "[]\n", string(out), "methods that are missing")
		})
	}
}

// Where events were lost, what ended without a word has ended with what is around it.
func TestPluginReconcilesLostEnds(t *testing.T) {
	// compute before and after, wait, current phase, tasks that were thought to run
	want := map[string]string{
		"nothing":        "9000 9000 0 0 0 true",
		"task":           "20000 9500 0 0 1 true",
		"stage":          "9000 9000 0 0 0 true",
		"job":            "9000 9000 0 0 0 true",
		"task stage job": "20000 10000 0 0 1 true",
		"executor":       "9000 9000 0 0 0 true",
		"task executor":  "60000 9500 0 0 1 true",
	}
	for line := range strings.Lines(pluginMain(t, "Losses")) {
		lost, got, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " > ")
		require.Equal(t, want[lost], got, lost)
		delete(want, lost)
	}
	require.Empty(t, want)
}

// 15,000 jobs with a stage each, and 30,000 segments of phases: a trace has fewer spans.
func TestPluginKeepsTheBudgetOfATrace(t *testing.T) {
	var spans, granted, ids, orphans, dropped int
	var spent bool
	out := pluginMain(t, "Budget")
	_, err := fmt.Sscan(out, &spans, &granted, &ids, &orphans, &dropped, &spent)
	require.NoError(t, err, out)
	require.LessOrEqual(t, spans+granted, platform.SpanBudget, "the driver's and the executors'")
	require.Greater(t, spans+granted, platform.SpanBudget*9/10)
	require.Equal(t, spans, ids)
	require.Zero(t, orphans)
	require.GreaterOrEqual(t, dropped, 15_000+15_000+30_000-spans, "counted on the root")
	require.True(t, spent, "the application's share does not begin again after the traces of 100 batches")
}
