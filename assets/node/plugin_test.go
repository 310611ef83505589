package node_test

import (
	"context"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

const sparkVariable = "OBSERVATORY_TEST_SPARK" // SPARK_HOME, found outside the namespaces

// sparkHome returns the folder of the Spark of the local cloud.
func sparkHome(t *testing.T) string {
	t.Helper()
	if home := os.Getenv(sparkVariable); home != "" {
		return home
	}
	tree, err := applications.Fetch(context.Background(), func(part, message string, _ time.Duration) { t.Log(part, message) })
	require.NoError(t, err)
	home := filepath.Join(tree, "spark")
	t.Setenv(sparkVariable, home)
	return home
}

// sparkModules compiles the launcher and the plugin, and returns the folders of their
// classes. The jars that nodes install are compiled against Spark 3.4.
func sparkModules(t *testing.T, home string) (launcher, plugin string) {
	t.Helper()
	jars := filepath.Join(home, "jars", "*")
	launcher, plugin = t.TempDir(), t.TempDir()
	javac(t, launcher, jars, "launcher/src/main/java/observatory/launcher/*.java")
	javac(t, plugin, launcher+":"+jars, "spark-plugin/src/main/java/observatory/spark/*.java")
	return launcher, plugin
}

func javac(t *testing.T, target, classPath, pattern string) {
	t.Helper()
	sources, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, sources, pattern)
	args := append([]string{"--release", "8", "-nowarn", "-proc:none", "-Xlint:-options", "-cp", classPath, "-d", target}, sources...)
	out, err := exec.Command("javac", args...).CombinedOutput()
	require.NoError(t, err, string(out))
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
	home := sparkHome(t)
	launcher, plugin := sparkModules(t, home)
	classPath := launcher + ":" + plugin + ":" + filepath.Join(home, "jars", "*")
	tests := t.TempDir()
	javac(t, tests, classPath, "spark-plugin/src/test/java/observatory/spark/*.java")
	line := append(moduleOptions(), "-cp", tests+":"+classPath, "observatory.spark."+main)
	cmd := exec.Command("java", append(line, args...)...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Run(), errs.String())
	require.NotContains(t, errs.String(), "observatory:", "what the plugin could not do")
	return out.String()
}

// Spark's own reader gives the plugin the events of each log.
func TestPluginDividesTheHandWrittenLogs(t *testing.T) {
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
