package hadoop

import (
	"strconv"

	"github.com/emr-observatory/emr-observatory/platform"
)

func port(p platform.Port) string { return strconv.Itoa(int(p)) }

// coreSite returns the properties of the shipped core-site.xml.
func (n Node) coreSite() map[string]string {
	return map[string]string{
		"fs.defaultFS":   "hdfs://" + n.fqdn(n.MasterHost) + ":" + port(platform.NameNodeRPC),
		"hadoop.tmp.dir": "/mnt/tmp/hadoop-${user.name}", // accounts that share a node cannot write each other's
		// EMRFS serves s3:// on EMR; here S3A does, with the instance's role.
		"fs.s3.impl":                        "org.apache.hadoop.fs.s3a.S3AFileSystem",
		"fs.AbstractFileSystem.s3.impl":     "org.apache.hadoop.fs.s3a.S3A",
		"fs.s3a.endpoint":                   n.S3Endpoint,
		"fs.s3a.endpoint.region":            n.Region,
		"fs.s3a.path.style.access":          "true",
		"fs.s3a.connection.ssl.enabled":     "false",
		"fs.s3a.aws.credentials.provider":   "org.apache.hadoop.fs.s3a.auth.IAMInstanceCredentialsProvider",
		"hadoop.proxyuser.hadoop.hosts":     "*",
		"hadoop.proxyuser.hadoop.groups":    "*",
		"hadoop.http.staticuser.user":       "hadoop",
		"ipc.client.connect.max.retries":    "60",
		"hadoop.security.groups.cache.secs": "300",
	}
}

// hdfsSite returns the properties of the shipped hdfs-site.xml.
func (n Node) hdfsSite() map[string]string {
	replication := "1" // EMR: 1 below four core nodes, 2 below ten, 3 above (Release Guide, hdfs-site)
	switch {
	case n.CoreNodes >= 10:
		replication = "3"
	case n.CoreNodes >= 4:
		replication = "2"
	}
	return map[string]string{
		"dfs.replication":                                           replication,
		"dfs.namenode.name.dir":                                     "file:///mnt/namenode",
		"dfs.datanode.data.dir":                                     "file:///mnt/hdfs",
		"dfs.namenode.rpc-address":                                  n.fqdn(n.MasterHost) + ":" + port(platform.NameNodeRPC),
		"dfs.namenode.http-address":                                 n.fqdn(n.MasterHost) + ":" + port(platform.NameNodeUI),
		"dfs.datanode.address":                                      "0.0.0.0:" + port(platform.DataNodeTransfer),
		"dfs.datanode.ipc.address":                                  "0.0.0.0:" + port(platform.DataNodeIPC),
		"dfs.datanode.http.address":                                 "0.0.0.0:" + port(platform.DataNodeUI),
		"dfs.datanode.hostname":                                     n.fqdn(n.Host),
		"dfs.permissions.superusergroup":                            "hadoop",
		"dfs.datanode.du.reserved":                                  "0",
		"dfs.namenode.datanode.registration.ip-hostname-check":      "false",
		"dfs.namenode.safemode.extension":                           "0",
		"dfs.hosts.exclude":                                         hdfsExclude,
		"dfs.namenode.decommission.interval":                        "5", // 30 on EMR
		"dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
	}
}

// yarnSite returns the properties of the shipped yarn-site.xml. Nobody enforces the memory of
// containers: Hadoop leaves that to cgroups by default (yarn.nodemanager.resource.memory.enforced),
// and the NodeManager uses none here (yarn.nodemanager.resource.memory.enabled).
func (n Node) yarnSite() map[string]string {
	return map[string]string{
		"yarn.resourcemanager.hostname":                           n.fqdn(n.MasterHost),
		"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "250",
		"yarn.resourcemanager.nodes.exclude-path":                 yarnExclude,
		"yarn.nodemanager.hostname":                               n.fqdn(n.Host),
		"yarn.nodemanager.address":                                "${yarn.nodemanager.hostname}:" + port(platform.NodeManagerRPC),
		"yarn.nodemanager.webapp.address":                         "${yarn.nodemanager.hostname}:" + port(platform.NodeManagerUI),
		"yarn.nodemanager.resource.memory-mb":                     strconv.Itoa(n.MemoryMB),
		"yarn.nodemanager.resource.cpu-vcores":                    strconv.Itoa(n.VCores),
		"yarn.scheduler.minimum-allocation-mb":                    "32", // EMR's
		"yarn.scheduler.maximum-allocation-mb":                    strconv.Itoa(n.MemoryMB),
		"yarn.nodemanager.vmem-check-enabled":                     "false",
		"yarn.nodemanager.local-dirs":                             "/mnt/yarn",
		"yarn.nodemanager.log-dirs":                               platform.EMRContainerLogDir,
		"yarn.nodemanager.aux-services":                           "spark_shuffle",
		"yarn.nodemanager.aux-services.spark_shuffle.class":       "org.apache.spark.network.yarn.YarnShuffleService",
		"yarn.log-aggregation-enable":                             "false", // EMR's log pusher carries logs to S3
		"yarn.nodemanager.delete.debug-delay-sec":                 "60",
		// True on EMR 6 and later. The public one-jar build of the daemons lacks
		// LevelDB, so a restarted NodeManager recovers nothing here.
		"yarn.nodemanager.recovery.enabled":         "false",
		"yarn.nodemanager.container-metrics.enable": "false",
		"yarn.timeline-service.enabled":             "false",
		// All nodes share the host's disk, which may be fuller than a node's own.
		"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.5",
	}
}

// capacityScheduler returns the properties of the shipped capacity-scheduler.xml.
func capacityScheduler() map[string]string {
	return map[string]string{
		"yarn.scheduler.capacity.root.queues":                 "default",
		"yarn.scheduler.capacity.root.default.capacity":       "100",
		"yarn.scheduler.capacity.maximum-am-resource-percent": "0.5",
		"yarn.scheduler.capacity.resource-calculator":         "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator",
	}
}

const executorJavaOptions = "-verbose:gc -XX:+PrintGCDetails -XX:+PrintGCDateStamps " +
	"-XX:OnOutOfMemoryError='kill -9 %p'"

// sparkDefaults returns spark-defaults.conf of emr-7.1.0 without what needs EMR's
// own jars. Memory and cores fit the local nodes.
func (n Node) sparkDefaults() map[string]string {
	history := n.fqdn(n.MasterHost) + ":" + port(platform.SparkHistoryUI)
	return map[string]string{
		"spark.master":                                                  "yarn",
		"spark.executorEnv.JAVA_HOME":                                   JavaHome,
		"spark.yarn.appMasterEnv.JAVA_HOME":                             JavaHome,
		"spark.eventLog.enabled":                                        "true",
		"spark.eventLog.dir":                                            "hdfs:///var/log/spark/apps",
		"spark.history.fs.logDirectory":                                 "hdfs:///var/log/spark/apps",
		"spark.history.ui.port":                                         port(platform.SparkHistoryUI),
		"spark.sql.warehouse.dir":                                       "hdfs:///user/spark/warehouse",
		"spark.yarn.historyServer.address":                              history,
		"spark.shuffle.service.enabled":                                 "true",
		"spark.dynamicAllocation.enabled":                               "true",
		"spark.driver.defaultJavaOptions":                               "-XX:OnOutOfMemoryError='kill -9 %p'",
		"spark.executor.defaultJavaOptions":                             executorJavaOptions,
		"spark.blacklist.decommissioning.enabled":                       "true",
		"spark.blacklist.decommissioning.timeout":                       "1h",
		"spark.resourceManager.cleanupExpiredHost":                      "true",
		"spark.stage.attempt.ignoreOnDecommissionFetchFailure":          "true",
		"spark.decommissioning.timeout.threshold":                       "20",
		"spark.hadoop.yarn.timeline-service.enabled":                    "false",
		"spark.yarn.appMasterEnv.SPARK_PUBLIC_DNS":                      "$(hostname -f)",
		"spark.files.fetchFailure.unRegisterOutputOnHost":               "true",
		"spark.hadoop.fs.s3.getObject.initialSocketTimeoutMilliseconds": "2000",
		"spark.executor.memory":                                         "768M",
		"spark.executor.cores":                                          "2",
		"spark.driver.memory":                                           "1024M",
		// Not in EMR's file, which uploads 300 MB of jars with each application.
		"spark.yarn.jars": "local:" + platform.EMRSparkHome + "/jars/*",
	}
}

// sparkEnv returns the lines of the shipped spark-env.sh.
func (n Node) sparkEnv() []string {
	return []string{
		"export JAVA_HOME=" + JavaHome,
		"export SPARK_HOME=" + platform.EMRSparkHome,
		"export SPARK_LOG_DIR=/var/log/spark",
		"export HADOOP_CONF_DIR=" + platform.EMRHadoopConfDir,
		`export SPARK_DAEMON_JAVA_OPTS="$SPARK_DAEMON_JAVA_OPTS -XX:+ExitOnOutOfMemoryError"`,
		"export SPARK_PUBLIC_DNS=" + n.fqdn(n.Host),
		"export PYSPARK_PYTHON=/usr/bin/python3",
		"export AWS_ACCOUNT_ID=" + n.AccountID,
		"export EMR_CLUSTER_ID=" + n.ClusterID,
		"export EMR_RELEASE_LABEL=" + n.Release,
		// As EMR's load-emr-env.sh: the submitting JVM carries both.
		`export SPARK_SUBMIT_OPTS="$SPARK_SUBMIT_OPTS -DEMR_CLUSTER_ID=` + n.ClusterID + " -DEMR_RELEASE_LABEL=" + n.Release + `"`,
	}
}

// maximized returns Spark's defaults with what the classification spark asks for: with
// maximizeResourceAllocation an executor takes a whole node (Release Guide, "Configure
// Spark").
func (n Node) maximized(defaults map[string]string) map[string]string {
	if n.properties("spark", nil)["maximizeResourceAllocation"] != "true" {
		return defaults
	}
	const leastOverheadMB = 384 // of a container over its executor's memory, or a tenth of it
	defaults["spark.executor.cores"] = strconv.Itoa(n.VCores)
	defaults["spark.executor.memory"] = strconv.Itoa(min(n.MemoryMB-leastOverheadMB, n.MemoryMB*10/11)) + "M"
	defaults["spark.default.parallelism"] = strconv.Itoa(2 * n.VCores * max(n.CoreNodes, 1))
	return defaults
}
