package node_test

import (
	"encoding/hex"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/platform"
)

// While a write shuffles, it does not write yet. The application's final phases are those
// of an import, which cannot tell a shuffle that never ended from output.
func TestPluginDoesNotTakeAShuffleForAWrite(t *testing.T) {
	const output = "output > io_write io_write\noutput, a task ended > io_write io_write\n"
	require.Equal(t, "shuffle > compute io_write\nshuffle, a task ended > compute io_write\n"+output, pluginMain(t, "Running"))

	// A Spark whose stages do not name their shuffle: its first task to end tells.
	home, patched := sparkHome(t), t.TempDir()
	require.Positive(t, renameInSpark(t, home, patched, "shuffleDepId", "shuffleDepNo"))
	require.Equal(t, "shuffle > io_write io_write\nshuffle, a task ended > compute io_write\n"+output,
		pluginMainIn(t, patched+":"+compilePluginMains(t), "Running"))
}

// Where Spark does not tell when the application started or ended, the context's start
// stays, and the end is now.
func TestPluginIgnoresTimesThatSparkDoesNotTell(t *testing.T) {
	want := "both > 1 9000 4000 false\nstart > 1 9500 4000 true\nend > 0 9000 4000 false\nnone > 0 9500 4000 true\n"
	require.Equal(t, want, pluginMain(t, "Untimed"))
}

// A JVM with many contexts of a local master keeps the metrics of eight. A Hadoop whose
// statistics fail costs the time in S3 alone.
func TestPluginEndsItsHalfInAnExecutor(t *testing.T) {
	require.Equal(t, "8 local-19 true\n", pluginMain(t, "LocalContexts"))

	broken := compileJava(t, map[string]string{"org.apache.hadoop.fs.statistics.IOStatisticsContext": `
public static IOStatisticsContext getCurrentIOStatisticsContext() { return new IOStatisticsContext(); }
public Object snapshot() { throw new IllegalStateException("another build"); }`})
	require.Equal(t, "8 local-19 true\n", pluginMainIn(t, broken+":"+compilePluginMains(t), "LocalContexts"))
}

// A context that fails while YARN has accepted its application, and does not run it yet,
// has a span of the application if the id is known.
func TestPluginEndsAContextThatYARNDoesNotRun(t *testing.T) {
	trace := platform.TraceID("application_1700000000000_0001", "")
	span := " " + hex.EncodeToString(trace[:]) + " application etl\n"
	want := "client >" + span + "client without an id >\nclient, shown >" + span + "cluster >\n"
	require.Equal(t, want, pluginMain(t, "Unaccepted"))
}

// A driver's half that fails leaves neither a listener, which takes the job's time, nor
// metrics that nobody completes.
func TestPluginTakesBackWhatAFailedHalfRegistered(t *testing.T) {
	line := append(moduleOptions(), "-cp", compilePluginMains(t), "observatory.spark.Withdrawn")
	cmd := exec.Command("java", line...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, errs.String())
	require.Equal(t, "registered 1 1\nfailed 0 0\n", string(out))
	require.Contains(t, errs.String(), "observatory: plugin stopped: ")
}

// A batch has its root once its query reports it and its parts have ended, and only once.
func TestPluginEndsABatchWhenItsQueryReportsIt(t *testing.T) {
	require.Equal(t, "job 0\nprogress\nbatch 0\n"+
		"progress before the last part's end\njob 1\nbatch 1\n"+
		"a part that is late\njob 2\njob 3\n"+
		"another query's end\nthe query's end\nbatch 2\n"+
		"job 4\nthe query's failure\njob 5\nprogress of the batch that is repeated\nbatch 3\n", pluginMain(t, "Streams"))
}
