package hadoop_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/emr-observatory/emr-observatory/internal/testenv"
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
		"hive-site":          {"hive.exec.parallel": "true", "a.new.key": hardValue},
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
	given := readBack()
	var configurations []hadoop.Configuration
	for _, name := range slices.Sorted(maps.Keys(given)) {
		configurations = append(configurations, hadoop.Configuration{Classification: name, Properties: given[name]})
	}
	requireReadBack(t, configurations, configurations)
}

// notRead are the classifications of presets that no class reads.
func notRead() []string {
	return []string{
		"spark",              // what EMR itself computes from: maximizeResourceAllocation
		"container-executor", // a program in C
		"hadoop-env",         // a shell
		"jupyter-s3-conf",    // JupyterHub, a program in Python
	}
}

// flinkConf is read by TestFlinkReadsTheStreamingPreset.
const flinkConf = "flink-conf"

// Each release's properties of each preset arrive at their applications.
func TestApplicationsReadThePresets(t *testing.T) {
	files, err := filepath.Glob("../../schema/presets/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	unread := map[string]bool{}
	for _, file := range files {
		for release, given := range presetConfigurations(t, file) {
			t.Run(filepath.Base(file)+" "+release, func(t *testing.T) {
				if strings.HasPrefix(release, "emr-6.") {
					testenv.RequireLong(t, "the properties of later releases are read here, and tests/schema creates these")
				}
				asked := slices.DeleteFunc(slices.Clone(given), func(c hadoop.Configuration) bool {
					other := slices.Contains(notRead(), c.Classification) || c.Classification == flinkConf
					unread[c.Classification] = unread[c.Classification] || other
					return other
				})
				requireReadBack(t, given, asked)
			})
		}
	}
	for _, name := range notRead() {
		require.Truef(t, unread[name], "no preset has %s", name)
	}
}

// Flink's own class reads what the preset streaming gives it.
func TestFlinkReadsTheStreamingPreset(t *testing.T) {
	testenv.RequireLong(t, "TestApplicationsReadThePresets reads the other applications' files")
	jars := t.TempDir()
	fetch := exec.CommandContext(t.Context(), "mvn", "-q", "-B", "-ntp", "-f", "testdata/flink/pom.xml",
		"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+jars)
	out, err := fetch.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)

	given := presetConfigurations(t, "../../schema/presets/streaming.yaml")["every release"]
	at := slices.IndexFunc(given, func(c hadoop.Configuration) bool { return c.Classification == flinkConf })
	require.GreaterOrEqual(t, at, 0)
	root := writeFiles(t, given)
	java := exec.CommandContext(t.Context(), "java", "-cp", filepath.Join(jars, "*"), "testdata/flink/ReadBack.java",
		filepath.Join(root, platform.EMRFlinkConfDir))
	read, err := java.Output()
	require.NoError(t, err)
	got := map[string]string{}
	require.NoError(t, json.Unmarshal(read, &got))
	require.Equal(t, given[at].Properties, got)
}

// presetConfigurations returns the classifications of a preset's file by the releases that they are for,
// with the properties of sparkDefaults as EMR gets them.
func presetConfigurations(t *testing.T, file string) map[string][]hadoop.Configuration {
	t.Helper()
	type cluster struct {
		SparkDefaults  map[string]string      `json:"sparkDefaults"`
		Configurations []hadoop.Configuration `json:"configurations"`
	}
	var preset struct {
		Cluster   cluster            `json:"cluster"`
		ByRelease map[string]cluster `json:"byRelease"`
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &preset), file)
	all := map[string][]hadoop.Configuration{}
	of := map[string]cluster{"every release": preset.Cluster}
	maps.Copy(of, preset.ByRelease)
	for release, c := range of {
		if len(c.SparkDefaults) > 0 {
			c.Configurations = append(c.Configurations, hadoop.Configuration{Classification: "spark-defaults", Properties: c.SparkDefaults})
		}
		if len(c.Configurations) > 0 {
			all[release] = c.Configurations
		}
	}
	return all
}

// requireReadBack writes a node's files and requires that each property of asked has its value
// for its application.
func requireReadBack(t *testing.T, given, asked []hadoop.Configuration) {
	t.Helper()
	tree, err := applications.Fetch(t.Context(), nil)
	require.NoError(t, err)
	root := writeFiles(t, given)
	var lines bytes.Buffer
	var names, want []string
	for _, c := range asked {
		for _, property := range slices.Sorted(maps.Keys(c.Properties)) {
			fmt.Fprintf(&lines, "%s\t%s\n", c.Classification, property)
			names, want = append(names, c.Classification+" "+property), append(want, c.Properties[property])
		}
	}
	answers := strings.Fields(askApplications(t, tree, root, &lines))
	require.Len(t, answers, len(want))
	for i, line := range answers {
		value, err := base64.StdEncoding.DecodeString(line)
		require.NoErrorf(t, err, "%s: %s", names[i], line)
		require.Equal(t, want[i], string(value), names[i])
	}
}

// writeFiles writes the files of a node with these classifications and returns the folder that
// stands for its root.
func writeFiles(t *testing.T, configurations []hadoop.Configuration) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range hadoop.Files(node(func(n *hadoop.Node) { n.Configurations = configurations })) {
		file := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	return root
}

// askApplications runs ReadBack.java on the configuration below root.
func askApplications(t *testing.T, tree, root string, asked *bytes.Buffer) string {
	t.Helper()
	h, s := filepath.Join(root, platform.EMRHadoopConfDir), filepath.Join(root, platform.EMRSparkConfDir)
	path := []string{h, s, filepath.Join(tree, "spark", "jars", "*"), filepath.Join(tree, "hadoop", "lib", "*")}
	java := exec.CommandContext(t.Context(), "java", "-Dfile.encoding=UTF-8", "-cp", strings.Join(path, ":"),
		filepath.Join("testdata", "ReadBack.java"), h, s, filepath.Join(root, platform.EMRHiveConfDir))
	java.Stdin = asked
	var said bytes.Buffer
	java.Stderr = &said
	out, err := java.Output()
	require.NoError(t, err, "%s", said.Bytes())
	return string(out)
}
