package doctor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/toolchain/doctor"
)

// Each outcome of comparing a node's file, in the three notations of
// java.util.Properties.
func TestNodesOptionsAreCompared(t *testing.T) {
	restated := doctor.Restated{
		Release: "emr-7.1.0", Agent: "-javaagent:/x.jar",
		Values: map[string]string{"spark.driver.defaultJavaOptions": "-XX:A", "spark.executor.defaultJavaOptions": "-verbose:gc -XX:A"},
	}
	const shipped = "# a comment\n\nspark.master   yarn\nspark.driver.defaultJavaOptions  -XX:A\n" +
		"spark.executor.defaultJavaOptions=-verbose:gc -XX:A\n"
	r, err := doctor.ExamineNode(strings.NewReader(shipped), restated)
	require.NoError(t, err)
	require.NoError(t, r.Err())
	require.True(t, r.OK)

	for name, c := range map[string]struct{ from, to, found, remedy string }{
		"another value": {"-verbose:gc -XX:A", "-Xlog:gc -XX:A", "-Xlog:gc -XX:A", "restate this value"},
		"the platform's": {
			"-verbose:gc -XX:A", "-verbose:gc -XX:A -javaagent:/x.jar", "the platform's own value", "aws emr create-cluster --release-label",
		},
		"absent": {"spark.executor.defaultJavaOptions=", "spark.executor.extraJavaOptions:", "no such key", "ships no value"},
	} {
		r, err := doctor.ExamineNode(strings.NewReader(strings.Replace(shipped, c.from, c.to, 1)), restated)
		require.NoError(t, err)
		require.False(t, r.OK, name)
		require.True(t, findCheck(t, r, "spark.driver.defaultJavaOptions").OK, name)
		found := findCheck(t, r, "spark.executor.defaultJavaOptions")
		require.Equal(t, c.found, found.Found, name)
		require.Contains(t, found.Remedy, c.remedy, name)
	}
}
