package hadoop

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Daemon is a Hadoop or Spark service of a node, as EMR names it.
type Daemon struct {
	Unit  string
	User  string
	Class string
	Heap  string
	Env   string        // the *-env.sh file that sets the variable Opts
	Opts  string        // the variable with the daemon's JVM options
	Log   string        // below /var/log, without host name and .log
	Port  platform.Port // of its web page, which answers once the daemon is up
}

const (
	hdfsServer = "org.apache.hadoop.hdfs.server."
	yarnServer = "org.apache.hadoop.yarn.server."
)

// The daemons' unit names are those of EMR's guide (emr-process-restart-stop-view).

// NameNode returns HDFS' name node.
func NameNode() Daemon {
	return Daemon{
		Unit: "hadoop-hdfs-namenode.service", User: "hdfs", Class: hdfsServer + "namenode.NameNode", Heap: "256m",
		Env: "hdfs-env.sh", Opts: "HDFS_NAMENODE_OPTS", Log: "hadoop-hdfs/hadoop-hdfs-namenode", Port: platform.NameNodeUI,
	}
}

// DataNode returns HDFS' data node.
func DataNode() Daemon {
	return Daemon{
		Unit: "hadoop-hdfs-datanode.service", User: "hdfs", Class: hdfsServer + "datanode.DataNode", Heap: "192m",
		Env: "hdfs-env.sh", Opts: "HDFS_DATANODE_OPTS", Log: "hadoop-hdfs/hadoop-hdfs-datanode", Port: platform.DataNodeUI,
	}
}

// ResourceManager returns YARN's resource manager.
func ResourceManager() Daemon {
	return Daemon{
		Unit: "hadoop-yarn-resourcemanager.service", User: "yarn", Class: yarnServer + "resourcemanager.ResourceManager",
		Heap: "384m", Env: "yarn-env.sh", Opts: "YARN_RESOURCEMANAGER_OPTS",
		Log: platform.YARNLogs + "/" + platform.ResourceManagerLog, Port: platform.ResourceManagerUI,
	}
}

// NodeManager returns YARN's node manager.
func NodeManager() Daemon {
	return Daemon{
		Unit: "hadoop-yarn-nodemanager.service", User: "yarn", Class: yarnServer + "nodemanager.NodeManager", Heap: "384m",
		Env: "yarn-env.sh", Opts: "YARN_NODEMANAGER_OPTS", Log: "hadoop-yarn/hadoop-yarn-nodemanager", Port: platform.NodeManagerUI,
	}
}

// HistoryServer returns Spark's history server.
func HistoryServer() Daemon {
	return Daemon{
		Unit: "spark-history-server.service", User: "spark", Class: "org.apache.spark.deploy.history.HistoryServer",
		Heap: "512m", Log: "spark/spark-history-server", Port: platform.SparkHistoryUI,
	}
}

// Daemons returns the node's daemons in the order in which they start. The primary
// of a cluster without core nodes runs a core node's too, as EMR's does. The history
// server is not one of them: it starts once its folder in HDFS exists.
func (n Node) Daemons() []Daemon {
	switch n.Role {
	case platform.RoleMaster:
		if n.CoreNodes == 0 {
			return []Daemon{NameNode(), ResourceManager(), DataNode(), NodeManager()}
		}
		return []Daemon{NameNode(), ResourceManager()}
	case platform.RoleCore:
		return []Daemon{DataNode(), NodeManager()}
	case platform.RoleTask:
		return []Daemon{NodeManager()}
	}
	return nil
}

// User is the account that bootstrap actions and steps run as.
const User = "hadoop"

// Accounts returns a node's accounts except root, with their uids. The uids are
// made up: EMR does not document its own.
func Accounts() map[string]int {
	return map[string]int{User: 1001, "yarn": 1002, "hdfs": 1003, "spark": 1004}
}

// UnitFile renders a daemon's unit.
func UnitFile(d Daemon, n Node) string {
	java := fmt.Sprintf("%s/bin/java -Dproc_%s %s %s -Xmx%s", JavaHome,
		d.Class[strings.LastIndex(d.Class, ".")+1:], addOpens, daemonFlags, d.Heap)
	var exec string
	if d == HistoryServer() {
		exec = fmt.Sprintf(". %s/spark-env.sh; exec %s $SPARK_HISTORY_OPTS $SPARK_DAEMON_JAVA_OPTS -cp %s:%s/jars/*:%s %s",
			platform.EMRSparkConfDir, java, platform.EMRSparkConfDir, platform.EMRSparkHome, platform.EMRHadoopConfDir, d.Class)
	} else {
		class := daemonJars
		if d == NodeManager() {
			class += ":" + shuffleJars
		}
		exec = fmt.Sprintf(". %s/hadoop-env.sh; . %s/%s; exec %s $%s -cp %s:%s %s",
			platform.EMRHadoopConfDir, platform.EMRHadoopConfDir, d.Env, java, d.Opts, platform.EMRHadoopConfDir, class, d.Class)
	}
	return fmt.Sprintf(`[Unit]
Description=%s
[Service]
User=%s
Environment=HADOOP_CONF_DIR=%s YARN_CONF_DIR=%s JAVA_HOME=%s
ExecStart=/bin/bash -c '%s'
StandardOutput=append:/var/log/%s-%s.log
Restart=always
RestartSec=2
[Install]
WantedBy=multi-user.target
`, d.Class, d.User, platform.EMRHadoopConfDir, platform.EMRHadoopConfDir, JavaHome, exec, d.Log, n.Host)
}

// Main classes of Hadoop's command lines.
const (
	FsShell              = "org.apache.hadoop.fs.FsShell"
	HDFSAdmin            = "org.apache.hadoop.hdfs.tools.DFSAdmin"
	ResourceManagerAdmin = "org.apache.hadoop.yarn.client.cli.RMAdminCLI"
)

// Command returns the command line of a program of the Hadoop distribution.
func Command(class string, args ...string) []string {
	return append([]string{
		JavaHome + "/bin/java", C1Only, "-XX:+UseSerialGC", "-Xmx256m",
		"-cp", platform.EMRHadoopConfDir + ":" + daemonJars, class,
	}, args...)
}

// HistoryServerBound matches the line that a history server logs once it listens
// (org.apache.spark.ui.WebUI.bind). Its group is the port.
var HistoryServerBound = regexp.MustCompile(`Bound HistoryServer to \S+, and started at \S+:([0-9]+)`)

// HistoryServerCommand returns the command line of a history server outside a node.
// java is a JAVA_HOME, spark a SPARK_HOME; properties are Spark's.
func HistoryServerCommand(java, spark string, properties map[string]string) []string {
	d := HistoryServer()
	argv := append([]string{java + "/bin/java"}, strings.Fields(addOpens+" "+daemonFlags)...)
	argv = append(argv, "-Xmx"+d.Heap)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		argv = append(argv, "-D"+name+"="+properties[name])
	}
	return append(argv, "-cp", spark+"/jars/*", d.Class)
}
