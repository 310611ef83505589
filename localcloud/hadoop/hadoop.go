// Package hadoop renders what EMR writes on a node for Hadoop and Spark: the
// shipped configuration, the classifications that override it key by key, and
// the daemons as systemd units with EMR's names and ports.
//
// It only renders text. Values come from dumps of emr-7.1.0 nodes and the EMR
// Release Guide. EMR's jars without a public build (EMRFS, the optimized committers)
// are left out; S3A serves the s3:// scheme instead.
package hadoop

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Paths on a node, and the daemons' JVM options.
const (
	JavaHome    = "/usr/lib/jvm/jre-17"
	daemonJars  = platform.EMRHadoopHome + "/lib/*"
	shuffleJars = platform.EMRHadoopHome + "/shuffle/*"
	addOpens    = "--add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED " +
		"--add-opens=java.base/java.io=ALL-UNNAMED"
	// Daemons share two or four cores with the job, so each compiles less and has
	// one garbage collector thread. They allocate little: a young generation of a
	// third of the heap would be touched once and stay resident.
	daemonFlags = "-XX:+UseSerialGC " + C1Only + " -Xss512k -Xmn32m"

	// C1Only makes a JVM compile with C1 alone.
	C1Only = "-XX:TieredStopAtLevel=1"
)

// Node has everything that the files of a node depend on.
type Node struct {
	ClusterID, Release, AccountID, Region string
	Role                                  string // platform.Role*
	OnDemand                              bool   // false: on spot
	Host, Domain                          string // ip-10-0-1-11, ec2.internal
	MasterHost                            string // without domain
	CoreNodes                             int
	MemoryMB, VCores                      int // what YARN may allocate on this node
	S3Endpoint                            string
	Configurations                        []Configuration
}

// Configuration is an EMR classification.
type Configuration struct {
	Classification string            `json:"Classification"`
	Properties     map[string]string `json:"Properties,omitempty"`
	Configurations []Configuration   `json:"Configurations,omitempty"`
}

func (n Node) fqdn(host string) string { return host + "." + n.Domain }

// Master reports whether this is the primary node.
func (n Node) Master() bool { return n.Role == platform.RoleMaster }

// properties returns the properties of a shipped file, overridden key by key by
// those of a classification.
func (n Node) properties(classification string, shipped map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, shipped)
	for _, c := range n.Configurations {
		if c.Classification == classification {
			maps.Copy(out, c.Properties)
		}
	}
	return out
}

// with adds properties to a shipped file.
func with(shipped, more map[string]string) map[string]string {
	maps.Copy(shipped, more)
	return shipped
}

// EventLogDir returns where the node's Spark applications write their event logs.
func (n Node) EventLogDir() string {
	return n.properties("spark-defaults", n.sparkDefaults())["spark.eventLog.dir"]
}

// exports returns shell lines for the variables in a *-env classification's nested
// "export".
func (n Node) exports(classification string) []string {
	var lines []string
	for _, c := range n.Configurations {
		if c.Classification != classification {
			continue
		}
		for _, inner := range c.Configurations {
			if inner.Classification != "export" {
				continue
			}
			for k, v := range inner.Properties {
				// EMR writes the value as it is: it contains its quotes and may expand the
				// variable's previous value.
				lines = append(lines, "export "+k+"="+v)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// Files returns the content of the node's configuration files by path. The folders
// are from the Release Guide's table of classifications.
func Files(n Node) map[string]string {
	h, s := platform.EMRHadoopConfDir, platform.EMRSparkConfDir
	files := map[string]string{
		h + "/core-site.xml":          siteXML(n.properties("core-site", n.coreSite())),
		h + "/hdfs-site.xml":          siteXML(n.properties("hdfs-site", n.hdfsSite())),
		h + "/yarn-site.xml":          siteXML(n.properties("yarn-site", with(n.yarnSite(), n.labelSite()))),
		h + "/mapred-site.xml":        siteXML(n.properties("mapred-site", map[string]string{"mapreduce.framework.name": "yarn"})),
		h + "/capacity-scheduler.xml": siteXML(n.properties("capacity-scheduler", with(capacityScheduler(), n.labelQueues()))),
		h + "/log4j2.properties":      log4j2(n.properties("hadoop-log4j", nil)),
		h + "/hadoop-env.sh":          envFile(nil, n.exports("hadoop-env")),
		h + "/hdfs-env.sh":            envFile(nil, n.exports("hdfs-env")),
		h + "/yarn-env.sh":            envFile(nil, n.exports("yarn-env")),
		h + "/mapred-env.sh":          envFile(nil, n.exports("mapred-env")),
		s + "/spark-defaults.conf":    sparkConf(n.properties("spark-defaults", n.maximized(n.sparkDefaults()))),
		s + "/spark-env.sh":           envFile(n.sparkEnv(), n.exports("spark-env")),
		s + "/log4j2.properties":      log4j2(n.properties("spark-log4j2", nil)),
	}
	if n.Master() {
		maps.Copy(files, ExcludeFiles(nil, 0))
	}
	for classification, f := range optionalFiles() {
		if props := n.properties(classification, nil); len(props) > 0 {
			files[f.path] = f.render(props)
		}
	}
	return files
}

// optionalFile is a file that exists only where its classification is given.
type optionalFile struct {
	path   string
	render func(map[string]string) string
}

// optionalFiles returns those files by classification (Release Guide, "Configure
// applications").
func optionalFiles() map[string]optionalFile {
	h, s := platform.EMRHadoopConfDir, platform.EMRSparkConfDir
	lines := func(props map[string]string) string { return propertyLines(props, "=") }
	yaml := func(props map[string]string) string { return propertyLines(props, ": ") }
	return map[string]optionalFile{
		"container-executor": {h + "/container-executor.cfg", lines},
		"container-log4j":    {h + "/container-log4j.properties", lines},
		"flink-conf":         {platform.EMRFlinkConfDir + "/flink-conf.yaml", yaml},
		"hadoop-metrics2":    {h + "/hadoop-metrics2.properties", lines},
		"hadoop-policy":      {h + "/hadoop-policy.xml", siteXML},
		"hadoop-ssl-client":  {h + "/ssl-client.xml", siteXML},
		"hadoop-ssl-server":  {h + "/ssl-server.xml", siteXML},
		"hive-site":          {platform.EMRHiveConfDir + "/hive-site.xml", siteXML},
		"spark-hive-site":    {s + "/hive-site.xml", siteXML},
		"spark-metrics":      {s + "/metrics.properties", lines},
	}
}

// siteXML renders a *-site.xml.
func siteXML(props map[string]string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for _, k := range slices.Sorted(maps.Keys(props)) {
		fmt.Fprintf(&b, "  <property><name>%s</name><value>%s</value></property>\n", escape.Replace(k), escape.Replace(props[k]))
	}
	b.WriteString("</configuration>\n")
	return b.String()
}

func sparkConf(props map[string]string) string { return propertyLines(props, " ") }

// propertyLines renders properties one per line, sorted by name.
func propertyLines(props map[string]string, sep string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(props)) {
		b.WriteString(k + sep + props[k] + "\n")
	}
	return b.String()
}

// envFile renders a *-env.sh of shipped and added lines.
func envFile(shipped, added []string) string {
	return strings.Join(slices.Concat(shipped, added), "\n") + "\n"
}

// log4j2 renders a console logger, as EMR's; what starts the program redirects its
// output to a file.
func log4j2(overrides map[string]string) string {
	props := map[string]string{
		"rootLogger.level": "info", "rootLogger.appenderRef.stdout.ref": "console",
		"appender.console.type": "Console", "appender.console.name": "console", "appender.console.target": "SYSTEM_ERR",
		"appender.console.layout.type":    "PatternLayout",
		"appender.console.layout.pattern": "%d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex",
	}
	maps.Copy(props, overrides)
	return propertyLines(props, " = ")
}
