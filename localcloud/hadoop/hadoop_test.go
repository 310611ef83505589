package hadoop_test

import (
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/localcloud/hadoop"
	"github.com/emr-observatory/emr-observatory/platform"
)

// node returns a core node.
func node(change ...func(*hadoop.Node)) hadoop.Node {
	n := hadoop.Node{
		ClusterID: "j-TEST", Release: "emr-7.10.0", AccountID: "123456789012", Region: "us-east-1", Role: platform.RoleCore,
		Host: "ip-10-0-1-11", MasterHost: "ip-10-0-1-10", Domain: "ec2.internal", CoreNodes: 2, MemoryMB: 3072, VCores: 4,
		S3Endpoint: "http://10.0.0.2:7070",
	}
	for _, f := range change {
		f(&n)
	}
	return n
}

// parseSiteXML parses a *-site.xml as Hadoop does.
func parseSiteXML(t *testing.T, text string) map[string]string {
	t.Helper()
	var doc struct {
		Properties []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	require.NoError(t, xml.Unmarshal([]byte(text), &doc))
	out := map[string]string{}
	for _, p := range doc.Properties {
		require.NotContains(t, out, p.Name, "each name once")
		out[p.Name] = p.Value
	}
	return out
}

// parseProperties parses a file such as spark-defaults.conf: on each line a name, a
// blank and a value.
func parseProperties(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		k, v, ok := strings.Cut(l, " ")
		require.True(t, ok, l)
		require.NotContains(t, out, k)
		out[k] = v
	}
	return out
}

const (
	yarnSite      = platform.EMRHadoopConfDir + "/yarn-site.xml"
	hdfsSite      = platform.EMRHadoopConfDir + "/hdfs-site.xml"
	coreSite      = platform.EMRHadoopConfDir + "/core-site.xml"
	sparkDefaults = platform.EMRSparkConfDir + "/spark-defaults.conf"
	sparkEnv      = platform.EMRSparkConfDir + "/spark-env.sh"
)

func TestShippedDefaults(t *testing.T) {
	files := hadoop.Files(node())
	require.Equal(t, "hdfs://ip-10-0-1-10.ec2.internal:8020", parseSiteXML(t, files[coreSite])["fs.defaultFS"])
	yarn := parseSiteXML(t, files[yarnSite])
	require.Equal(t, "ip-10-0-1-10.ec2.internal", yarn["yarn.resourcemanager.hostname"])
	require.Equal(t, "ip-10-0-1-11.ec2.internal", yarn["yarn.nodemanager.hostname"])
	require.Equal(t, "3072", yarn["yarn.nodemanager.resource.memory-mb"])
	for _, key := range []string{"enabled", "enforced"} { // see localcloud.RecordedOnly
		require.NotContains(t, yarn, "yarn.nodemanager.resource.memory."+key, "the memory of containers is not enforced")
	}
	require.Equal(t, platform.EMRContainerLogDir, yarn["yarn.nodemanager.log-dirs"], "where the node's collector reads")
	spark := parseProperties(t, files[sparkDefaults])
	require.Equal(t, "yarn", spark["spark.master"])
	require.Equal(t, "-XX:OnOutOfMemoryError='kill -9 %p'", spark["spark.driver.defaultJavaOptions"])
	require.NotContains(t, files, platform.EMRSparkConfDir+"/metrics.properties", "only where spark-metrics is given")
}

// EMR Release Guide, hdfs-site: 1 below four core nodes, 2 below ten, else 3.
func TestReplicationFollowsTheCoreGroup(t *testing.T) {
	for cores, want := range map[int]string{1: "1", 3: "1", 4: "2", 9: "2", 10: "3", 40: "3"} {
		files := hadoop.Files(node(func(n *hadoop.Node) { n.CoreNodes = cores }))
		require.Equal(t, want, parseSiteXML(t, files[hdfsSite])["dfs.replication"], "%d core nodes", cores)
	}
}

// A classification's key replaces that key's shipped value as a whole; every
// other key, and every other file, is as it was.
func TestClassificationReplacesKeyByKey(t *testing.T) {
	shipped := hadoop.Files(node())
	readers := map[string]struct {
		file string
		read func(*testing.T, string) map[string]string
	}{
		"core-site": {coreSite, parseSiteXML}, "hdfs-site": {hdfsSite, parseSiteXML}, "yarn-site": {yarnSite, parseSiteXML},
		"spark-defaults": {sparkDefaults, parseProperties},
	}
	for classification, r := range readers {
		before := r.read(t, shipped[r.file])
		names := []string{"a.new.key"}
		for k := range before {
			names = append(names, k)
		}
		holds := func(pick uint, value uint64) bool {
			name, text := names[pick%uint(len(names))], fmt.Sprintf("<%d & 'x'>", value)
			after := hadoop.Files(node(func(n *hadoop.Node) {
				n.Configurations = []hadoop.Configuration{{Classification: classification, Properties: map[string]string{name: text}}}
			}))
			for file, content := range shipped {
				if file != r.file && after[file] != content {
					return false
				}
			}
			want := map[string]string{}
			for k, v := range before {
				want[k] = v
			}
			want[name] = text
			got := r.read(t, after[r.file])
			return fmt.Sprint(want) == fmt.Sprint(got)
		}
		require.NoError(t, quick.Check(holds, nil), classification)
	}
}

// A real shell reads the file as Spark's scripts do.
func TestNestedExportReachesTheShell(t *testing.T) {
	files := hadoop.Files(node(func(n *hadoop.Node) {
		n.Configurations = []hadoop.Configuration{{Classification: "spark-env", Configurations: []hadoop.Configuration{
			{Classification: "export", Properties: map[string]string{
				"SPARK_DAEMON_JAVA_OPTS": `"$SPARK_DAEMON_JAVA_OPTS -Dmine=1"`, "PYSPARK_PYTHON": "/opt/python",
			}},
			{Classification: "other", Properties: map[string]string{"IGNORED": "1"}},
		}}}
	}))
	env := filepath.Join(t.TempDir(), "spark-env.sh")
	require.NoError(t, os.WriteFile(env, []byte(files[sparkEnv]), 0o600))
	const script = `SPARK_DAEMON_JAVA_OPTS= SPARK_SUBMIT_OPTS=-Dgiven; . "$0"
		printf '%s|' "$SPARK_DAEMON_JAVA_OPTS" "$PYSPARK_PYTHON" "$EMR_CLUSTER_ID" "$SPARK_SUBMIT_OPTS" "${IGNORED-unset}"`
	out, err := exec.Command("bash", "-euc", script, env).Output()
	require.NoError(t, err)
	require.Equal(t, " -XX:+ExitOnOutOfMemoryError -Dmine=1|/opt/python|j-TEST|"+
		"-Dgiven -DEMR_CLUSTER_ID=j-TEST -DEMR_RELEASE_LABEL=emr-7.10.0|unset|", string(out))
}

func TestDaemonsOfRoles(t *testing.T) {
	roles := map[string][]hadoop.Daemon{
		platform.RoleMaster: {hadoop.NameNode(), hadoop.ResourceManager()},
		platform.RoleCore:   {hadoop.DataNode(), hadoop.NodeManager()},
		platform.RoleTask:   {hadoop.NodeManager()},
		"client":            nil,
	}
	for role, want := range roles {
		require.Equal(t, want, hadoop.Node{Role: role, CoreNodes: 1}.Daemons(), role)
	}
	require.Equal(t, slices.Concat(roles[platform.RoleMaster], roles[platform.RoleCore]), hadoop.Node{Role: platform.RoleMaster}.Daemons())
}

// Each unit's shell line must read every file it names, run as an account of
// the node, and take the options that its *-env classification exports.
func TestUnitsUseFilesAndAccountsOfTheNode(t *testing.T) {
	daemons := append(hadoop.Node{Role: platform.RoleMaster}.Daemons(), hadoop.HistoryServer())
	for _, d := range daemons {
		t.Run(d.Unit, func(t *testing.T) {
			text := hadoop.UnitFile(d, node())
			unit := map[string]string{}
			for _, l := range strings.Split(text, "\n") {
				if k, v, ok := strings.Cut(l, "="); ok {
					unit[k] = v
				}
			}
			require.Contains(t, hadoop.Accounts(), unit["User"])
			require.Equal(t, "append:/var/log/"+d.Log+"-ip-10-0-1-11.log", unit["StandardOutput"])
			script, ok := strings.CutPrefix(unit["ExecStart"], "/bin/bash -c '")
			require.True(t, ok)
			script, ok = strings.CutSuffix(script, "'")
			require.True(t, ok)
			require.NotContains(t, script, "'", "one quoted word")
			files := hadoop.Files(node())
			for _, w := range strings.Split(script, ";") {
				if file, sourced := strings.CutPrefix(strings.TrimSpace(w), ". "); sourced {
					require.Contains(t, files, file)
				}
			}
			require.True(t, strings.HasSuffix(script, " "+d.Class))
			require.Contains(t, script, "-Xmx"+d.Heap)
			if d.Opts != "" {
				require.Contains(t, script, "$"+d.Opts+" ")
			}
			out, err := exec.Command("bash", "-nc", script).CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
}

func TestDaemonPortsServeTheirWebPages(t *testing.T) {
	files := hadoop.Files(node())
	for address, d := range map[string]hadoop.Daemon{
		parseSiteXML(t, files[yarnSite])["yarn.nodemanager.webapp.address"]: hadoop.NodeManager(),
		parseSiteXML(t, files[hdfsSite])["dfs.namenode.http-address"]:       hadoop.NameNode(),
		parseSiteXML(t, files[hdfsSite])["dfs.datanode.http.address"]:       hadoop.DataNode(),
	} {
		require.True(t, strings.HasSuffix(address, ":"+strconv.Itoa(int(d.Port))), "%s: %s", d.Unit, address)
	}
	require.Equal(t, strconv.Itoa(int(hadoop.HistoryServer().Port)), parseProperties(t, files[sparkDefaults])["spark.history.ui.port"])
}

// The Release Guide's table of classifications names the file of each.
func TestEachClassificationHasItsFile(t *testing.T) {
	h, s := platform.EMRHadoopConfDir, platform.EMRSparkConfDir
	for classification, file := range map[string]string{
		"capacity-scheduler": h + "/capacity-scheduler.xml", "container-executor": h + "/container-executor.cfg",
		"container-log4j": h + "/container-log4j.properties", "core-site": coreSite, "hadoop-metrics2": h + "/hadoop-metrics2.properties",
		"hadoop-policy": h + "/hadoop-policy.xml", "hadoop-ssl-client": h + "/ssl-client.xml", "hadoop-ssl-server": h + "/ssl-server.xml",
		"hdfs-site": hdfsSite, "mapred-site": h + "/mapred-site.xml", "spark-defaults": sparkDefaults,
		"spark-hive-site": s + "/hive-site.xml", "spark-log4j2": s + "/log4j2.properties", "spark-metrics": s + "/metrics.properties",
		"yarn-site": yarnSite,
	} {
		given := hadoop.Files(node(func(n *hadoop.Node) {
			n.Configurations = []hadoop.Configuration{{Classification: classification, Properties: map[string]string{"some.key": "some-value"}}}
		}))
		for path, content := range given {
			require.Equal(t, path == file, strings.Contains(content, "some-value"), "%s in %s", classification, path)
		}
		require.Contains(t, given, file)
	}
	for classification, file := range map[string]string{
		"hadoop-env": h + "/hadoop-env.sh", "hdfs-env": h + "/hdfs-env.sh", "mapred-env": h + "/mapred-env.sh", "spark-env": sparkEnv,
		"yarn-env": h + "/yarn-env.sh",
	} {
		given := hadoop.Files(node(func(n *hadoop.Node) {
			n.Configurations = []hadoop.Configuration{{Classification: classification, Configurations: []hadoop.Configuration{
				{Classification: "export", Properties: map[string]string{"SOME": "value"}},
			}}}
		}))
		require.Contains(t, given[file], "export SOME=value\n", classification)
	}
}

func TestMaximizeResourceAllocation(t *testing.T) {
	files := hadoop.Files(node(func(n *hadoop.Node) {
		n.Configurations = []hadoop.Configuration{
			{Classification: "spark", Properties: map[string]string{"maximizeResourceAllocation": "true"}},
			{Classification: "spark-defaults", Properties: map[string]string{"spark.executor.cores": "1"}},
		}
	}))
	spark := parseProperties(t, files[sparkDefaults])
	require.Equal(t, "2688M", spark["spark.executor.memory"], "the node's 3072 MB without the container's overhead")
	require.Equal(t, "1", spark["spark.executor.cores"], "spark-defaults comes last")
	require.Equal(t, "16", spark["spark.default.parallelism"])
}

// YARN's own reader of the file takes a host per entry with its own timeout.
func TestExcludedNodes(t *testing.T) {
	files := hadoop.ExcludeFiles([]string{"ip-10-0-1-11.ec2.internal"}, time.Minute)
	site := parseSiteXML(t, hadoop.Files(node())[yarnSite])
	require.Contains(t, files[site["yarn.resourcemanager.nodes.exclude-path"]],
		"<host>\n    <name>ip-10-0-1-11.ec2.internal</name>\n    <timeout>60</timeout>\n  </host>")
	require.Equal(t, "ip-10-0-1-11.ec2.internal\n", files[parseSiteXML(t, hadoop.Files(node())[hdfsSite])["dfs.hosts.exclude"]])
	primary := hadoop.Files(node(func(n *hadoop.Node) { n.Role = platform.RoleMaster }))
	for file := range files {
		require.Contains(t, primary, file, "the daemons read it as they start")
	}
}
