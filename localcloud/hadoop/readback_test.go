package hadoop_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/toolchain/applications"
)

// hardValue has characters that XML, properties files and Hadoop's variables could
// change.
const hardValue = `<7> & 'x' "y", a=b: #c ü`

// readBack lists properties of each classification that a class of Hadoop, Spark or Hive
// reads: one of the application's own, and where any name is accepted an invented one. No class
// reads container-executor (a program in C does), or container-log4j (Log4j 1, which
// Spark's package lacks). A shell reads the *-env classifications.
func readBack() map[string]map[string]string {
	return map[string]map[string]string{
		"core-site":          {"io.file.buffer.size": "65536", "a.new.key": hardValue},
		"hdfs-site":          {"dfs.blocksize": "67108864", "a.new.key": hardValue},
		"yarn-site":          {"yarn.nodemanager.vmem-check-enabled": "true", "a.new.key": hardValue},
		"mapred-site":        {"mapreduce.map.memory.mb": "512", "a.new.key": hardValue},
		"capacity-scheduler": {"yarn.scheduler.capacity.maximum-am-resource-percent": "0.7", "a.new.key": hardValue},
		"hadoop-policy":      {"security.client.protocol.acl": "alice,bob users"},
		"hadoop-ssl-client":  {"ssl.client.truststore.location": "/etc/trust.jks", "a.new.key": hardValue},
		"hadoop-ssl-server":  {"ssl.server.keystore.location": "/etc/key.jks", "a.new.key": hardValue},
		"hadoop-metrics2":    {"namenode.sink.file.filename": "/var/log/metrics.out"},
		"hadoop-log4j":       {"rootLogger.level": "WARN"},
		"spark-defaults":     {"spark.executor.memory": "3g", "spark.a.new.key": hardValue},
		"spark-log4j2":       {"rootLogger.level": "ERROR"},
		"spark-metrics":      {"driver.sink.csv.directory": "/var/log/csv"},
		"spark-hive-site":    {"hive.metastore.uris": "thrift://metastore:9083", "a.new.key": hardValue},
	}
}

// Each classification arrives where its application looks for it, as given: the
// application's own class reads the file.
func TestApplicationsReadTheirClassifications(t *testing.T) {
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	given := readBack()
	var configurations []hadoop.Configuration
	for _, name := range slices.Sorted(maps.Keys(given)) {
		configurations = append(configurations, hadoop.Configuration{Classification: name, Properties: given[name]})
	}
	root := t.TempDir()
	for path, content := range hadoop.Files(node(func(n *hadoop.Node) { n.Configurations = configurations })) {
		file := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}

	var asked bytes.Buffer
	var names, want []string
	for _, c := range configurations {
		for _, property := range slices.Sorted(maps.Keys(c.Properties)) {
			fmt.Fprintf(&asked, "%s\t%s\n", c.Classification, property)
			names, want = append(names, c.Classification+" "+property), append(want, c.Properties[property])
		}
	}
	answers := strings.Fields(askApplications(t, tree, root, &asked))
	require.Len(t, answers, len(want))
	for i, line := range answers {
		value, err := base64.StdEncoding.DecodeString(line)
		require.NoErrorf(t, err, "%s: %s", names[i], line)
		require.Equal(t, want[i], string(value), names[i])
	}
}

// askApplications runs ReadBack.java on the configuration below root.
func askApplications(t *testing.T, tree, root string, asked *bytes.Buffer) string {
	t.Helper()
	h, s := filepath.Join(root, platform.EMRHadoopConfDir), filepath.Join(root, platform.EMRSparkConfDir)
	path := []string{h, s, filepath.Join(tree, "spark", "jars", "*"), filepath.Join(tree, "hadoop", "lib", "*")}
	java := exec.CommandContext(t.Context(), "java", "-Dfile.encoding=UTF-8", "-cp", strings.Join(path, ":"),
		filepath.Join("testdata", "ReadBack.java"), h, s)
	java.Stdin = asked
	var said bytes.Buffer
	java.Stderr = &said
	out, err := java.Output()
	require.NoError(t, err, "%s", said.Bytes())
	return string(out)
}
