package applications

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArrangeJars(t *testing.T) {
	work := t.TempDir()
	folder := func(name string, jars ...string) string {
		dir := filepath.Join(work, name)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		for _, j := range jars {
			require.NoError(t, os.WriteFile(filepath.Join(dir, j), []byte(name), 0o600))
		}
		return dir
	}
	spark := folder(
		"spark", "hadoop-client-api-3.3.4.jar", "slf4j-api-2.0.7.jar", "netty-common-4.1.96.Final.jar", "spark-core_2.12-3.5.5.jar",
	)
	hadoop := folder("all", "hadoop-client-api-3.4.1.jar", "hadoop-aws-3.4.1.jar", "hadoop-client-minicluster-3.4.1.jar",
		"hadoop-yarn-server-web-proxy-3.4.1.jar", "slf4j-api-1.7.36.jar", "spark-network-yarn_2.12-3.5.5.jar",
		"netty-common-4.1.100.Final.jar")
	daemons, shuffle := folder("lib"), folder("shuffle")
	require.NoError(t, arrangeJars(spark, hadoop, daemons, shuffle))
	for dir, want := range map[string][]string{
		spark: {"hadoop-aws-3.4.1.jar", "hadoop-client-api-3.4.1.jar", "hadoop-yarn-server-web-proxy-3.4.1.jar",
			"netty-common-4.1.96.Final.jar", "slf4j-api-2.0.7.jar", "spark-core_2.12-3.5.5.jar"},
		daemons: {"hadoop-aws-3.4.1.jar", "hadoop-client-api-3.4.1.jar", "hadoop-client-minicluster-3.4.1.jar",
			"netty-common-4.1.100.Final.jar", "slf4j-api-2.0.7.jar"},
		shuffle: {"netty-common-4.1.96.Final.jar", "spark-network-yarn_2.12-3.5.5.jar"},
	} {
		names, err := jarNames(dir)
		require.NoError(t, err)
		require.Equal(t, want, names, dir)
	}
}
