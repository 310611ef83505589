package hadoop

import (
	"fmt"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Daemon is a Hadoop or Spark service of a node, as EMR names it.
type Daemon struct {
	Unit  string
	User  string
	Class string
	Heap  string
	Env   string // the *-env.sh file whose OPTS it takes
	Opts  string // the variable of that file
	Log   string
	Port  platform.Port // HTTP, answers when it is up
}

// HDFS, YARN and Spark daemons. Unit names are those that EMR's guide lists
// (emr-process-restart-stop-view).
//
//nolint:gochecknoglobals // one table
var (
	NameNode        = Daemon{"hadoop-hdfs-namenode.service", "hdfs", "org.apache.hadoop.hdfs.server.namenode.NameNode", "256m", "hdfs-env.sh", "HDFS_NAMENODE_OPTS", "hadoop-hdfs/hadoop-hdfs-namenode", platform.NameNodeUI}
	DataNode        = Daemon{"hadoop-hdfs-datanode.service", "hdfs", "org.apache.hadoop.hdfs.server.datanode.DataNode", "192m", "hdfs-env.sh", "HDFS_DATANODE_OPTS", "hadoop-hdfs/hadoop-hdfs-datanode", platform.DataNodeUI}
	ResourceManager = Daemon{"hadoop-yarn-resourcemanager.service", "yarn", "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager", "384m", "yarn-env.sh", "YARN_RESOURCEMANAGER_OPTS", "hadoop-yarn/hadoop-yarn-resourcemanager", platform.ResourceManagerUI}
	NodeManager     = Daemon{"hadoop-yarn-nodemanager.service", "yarn", "org.apache.hadoop.yarn.server.nodemanager.NodeManager", "384m", "yarn-env.sh", "YARN_NODEMANAGER_OPTS", "hadoop-yarn/hadoop-yarn-nodemanager", platform.NodeManagerUI}
	HistoryServer   = Daemon{"spark-history-server.service", "spark", "org.apache.spark.deploy.history.HistoryServer", "512m", "", "", "spark/spark-history-server", platform.SparkHistoryUI}
)

// Daemons are those of a role, in the order in which they start. The history
// server is not among them: it needs its folder in HDFS first.
func Daemons(role string) []Daemon {
	switch role {
	case platform.RoleMaster:
		return []Daemon{NameNode, ResourceManager}
	case platform.RoleCore:
		return []Daemon{DataNode, NodeManager}
	case platform.RoleTask:
		return []Daemon{NodeManager}
	}
	return nil
}

// Accounts of a node, beside root. Ids are the local cloud's: EMR's are not
// documented and must not be relied on.
func Accounts() map[string]int {
	return map[string]int{"hadoop": 1001, "yarn": 1002, "hdfs": 1003, "spark": 1004}
}

// UnitFile renders a daemon's unit.
func UnitFile(d Daemon, n Node) string {
	java := fmt.Sprintf("%s/bin/java -Dproc_%s %s %s -Xmx%s", JavaHome, d.Class[lastDot(d.Class)+1:], opens, daemonFlags, d.Heap)
	exec := ""
	if d == HistoryServer {
		exec = fmt.Sprintf(". %s/spark-env.sh; exec %s $SPARK_HISTORY_OPTS $SPARK_DAEMON_JAVA_OPTS -cp %s:%s/jars/*:%s %s",
			platform.EMRSparkConfDir, java, platform.EMRSparkConfDir, platform.EMRSparkHome, platform.EMRHadoopConfDir, d.Class)
	} else {
		class := daemonJars
		if d == NodeManager {
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

// Command is a program of the Hadoop distribution (FsShell, NameNode -format).
func Command(class string, args ...string) []string {
	return append([]string{JavaHome + "/bin/java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", platform.EMRHadoopConfDir + ":" + daemonJars, class}, args...)
}

func lastDot(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return i
		}
	}
	return -1
}
