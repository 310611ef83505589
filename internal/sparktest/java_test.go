package sparktest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/internal/sparktest"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// Spark's own scripts find the archive's JVM, whose classes come from there also behind a folder of
// configuration, and nothing is printed about it.
func TestSparkLoadsItsClassesFromTheArchive(t *testing.T) {
	tree, err := applications.Fetch(context.Background(), nil)
	require.NoError(t, err)
	home, conf := t.TempDir(), t.TempDir()
	require.NoError(t, sparktest.WriteJavaHome(t.Context(), tree, home))
	require.NoError(t, os.WriteFile(filepath.Join(conf, "log4j2.properties"), []byte("rootLogger.level = error\n"), 0o644))
	submit := func(options ...string) string {
		cmd := exec.Command(filepath.Join(tree, "spark/bin/spark-submit"), append(options, "--version")...)
		cmd.Env = append(os.Environ(), "SPARK_HOME="+filepath.Join(tree, "spark"), "SPARK_CONF_DIR="+conf, "JAVA_HOME="+home)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	require.Contains(t, submit("--driver-java-options", "-Xlog:class+load"),
		"org.apache.spark.deploy.SparkSubmit source: shared objects file (top)")
	require.NotContains(t, submit(), "warning")
}
