package node_test

import (
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/emr-observatory/emr-observatory/assets/node"
	"github.com/emr-observatory/emr-observatory/platform"
)

// Pages that name the ports of EMR's applications.
const (
	servicePorts  = "https://docs.aws.amazon.com/emr/latest/ManagementGuide/emr-service-ports.html"
	webInterfaces = "https://docs.aws.amazon.com/emr/latest/ManagementGuide/emr-web-interfaces.html"
	livyPage      = "https://docs.aws.amazon.com/emr/latest/ReleaseGuide/emr-livy.html"
	studioPage    = "https://docs.aws.amazon.com/emr/latest/ManagementGuide/emr-studio-security-groups.html"
	securityPage  = "https://docs.aws.amazon.com/emr/latest/ManagementGuide/emr-man-sec-groups.html"
	hadoopPage    = "https://hadoop.apache.org/docs/r3.3.6/hadoop-project-dist/hadoop-hdfs/hdfs-default.xml"
	httpfsPage    = "https://hadoop.apache.org/docs/r3.3.6/hadoop-hdfs-httpfs/httpfs-default.html"
	hbasePage     = "https://hbase.apache.org/book.html#hbase_default_configurations"
	sparkPage     = "https://spark.apache.org/docs/3.5.1/configuration.html"
	flinkPage     = "https://nightlies.apache.org/flink/flink-docs-release-1.18/docs/deployment/config/"
	phoenixPage   = "https://docs.aws.amazon.com/emr/latest/ReleaseGuide/emr-phoenix-clients.html"
	kerberosPage  = "https://web.mit.edu/kerberos/krb5-1.21/doc/admin/conf_files/kdc_conf.html"
	gangliaPage   = "https://github.com/ganglia/monitor-core/wiki/Ganglia-Quick-Start"
)

// emrPorts are the ports that EMR's own services and applications listen on, on
// any node, by the page that names them.
var emrPorts = map[string]map[int]string{
	servicePorts: {
		9600: "KMS", 9870: "HDFS", 8020: "HDFS", 9864: "HDFS", 9866: "HDFS", 9867: "HDFS",
		10000: "Hive", 10001: "Hive", 10002: "Hive", 9083: "Hive metastore", 50111: "WebHCat",
		15002: "Hive LLAP", 15003: "Hive LLAP", 15004: "Hive LLAP", 15551: "Hive LLAP",
		11000: "Oozie", 8889: "Presto and Trino", 8080: "Tez UI",
		13562: "MapReduce shuffle", 8040: "YARN", 8041: "YARN", 8042: "YARN", 8088: "YARN", 8025: "YARN", 8030: "YARN",
		8032: "YARN", 8033: "YARN", 19888: "MapReduce history", 10033: "MapReduce history", 10020: "MapReduce history",
		10200: "YARN timeline", 8188: "YARN timeline", 8190: "YARN timeline", 20888: "YARN proxy",
		2181: "ZooKeeper", 37301: "ZooKeeper", 8341: "ZooKeeper",
	},
	webInterfaces: {
		8888: "Hue", 8890: "Zeppelin", 9443: "JupyterHub", 16010: "HBase", 18080: "Spark history", 80: "Ganglia",
		9871: "HDFS over TLS", 9865: "HDFS over TLS",
	},
	livyPage:     {8998: "Livy"},
	studioPage:   {18888: "Jupyter Enterprise Gateway"},
	securityPage: {8443: "EMR's own agent"},
	hadoopPage:   {9868: "secondary NameNode", 8480: "JournalNode", 8485: "JournalNode", 8019: "failover controller"},
	httpfsPage:   {14000: "HttpFS"},
	hbasePage:    {16000: "HBase", 16020: "HBase", 16030: "HBase", 8085: "HBase REST", 9090: "HBase Thrift", 9095: "HBase Thrift"},
	sparkPage:    {4040: "Spark UI", 7337: "Spark shuffle service"},
	flinkPage:    {6123: "Flink", 8081: "Flink", 8082: "Flink history"},
	phoenixPage:  {8765: "Phoenix query server"},
	kerberosPage: {88: "KDC", 464: "Kerberos passwords", 749: "Kerberos administration"},
	gangliaPage:  {8649: "Ganglia", 8651: "Ganglia", 8652: "Ganglia"},
}

// firstEphemeral is where the kernel's range for outgoing connections begins
// (net.ipv4.ip_local_port_range).
const firstEphemeral = 32768

// TestNoApplicationUsesOurPorts compares the ports that the rendered collector
// listens on with those of EMR's applications: whichever starts second fails.
func TestNoApplicationUsesOurPorts(t *testing.T) {
	config, err := node.CollectorConfig()
	require.NoError(t, err)
	var listens []platform.Port
	for _, m := range regexp.MustCompile(`"127\.0\.0\.1:(\d+)"\}|\bport: (\d+)`).FindAllSubmatch(config, -1) {
		port, err := strconv.Atoi(string(slices.Concat(m[1], m[2])))
		require.NoError(t, err)
		listens = append(listens, platform.Port(port))
	}
	require.ElementsMatch(t, []platform.Port{
		platform.CollectorHealth, platform.CollectorMetrics, platform.OTLPGRPC, platform.OTLPHTTP,
	}, listens)
	for _, port := range listens {
		require.Less(t, int(port), firstEphemeral, "an outgoing connection may hold it")
		for page, ports := range emrPorts {
			require.NotContains(t, ports, int(port), "%s: %s", page, ports[int(port)])
		}
	}
}
