package applications_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// TestApplicationsRun fetches the tree (once per machine) and starts each
// application.
func TestApplicationsRun(t *testing.T) {
	tree, err := applications.Fetch(context.Background(), func(part, message string, elapsed time.Duration) {
		t.Logf("%s: %s (%s)", part, message, elapsed.Round(time.Second))
	})
	require.NoError(t, err)
	again, err := applications.Fetch(context.Background(), nil)
	require.NoError(t, err)
	require.Equal(t, tree, again)

	submit := exec.Command(filepath.Join(tree, "spark/bin/spark-submit"), "--version")
	submit.Env = append(os.Environ(), "SPARK_HOME="+filepath.Join(tree, "spark"))
	out, err := submit.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "version "+applications.Spark)

	hadoop := exec.Command("java", "-cp", filepath.Join(tree, "hadoop/lib/*"), "org.apache.hadoop.util.VersionInfo")
	out, err = hadoop.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "Hadoop "+applications.Hadoop)

	aws := exec.Command("/usr/bin/python3", "-m", "awscli", "--version")
	aws.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(tree, "aws"))
	out, err = aws.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "aws-cli/"+applications.AWSCLI)

	jars, err := filepath.Glob(filepath.Join(tree, "spark/jars/*slf4j-api*"))
	require.NoError(t, err)
	require.Len(t, jars, 1, "more than one slf4j: which one logs depends on the class path")
}
