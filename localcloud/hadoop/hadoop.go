// Package hadoop says what EMR writes on a node for Hadoop and Spark: the
// shipped configuration, the classifications that replace it key by key, and
// the daemons as systemd units under EMR's names and ports.
//
// It is pure: it renders files and starts nothing. Values come from dumps of
// emr-7.1.0 nodes and the EMR Release Guide; EMR-only jars (EMRFS, the
// optimised committers) have no public build and are left out, S3A takes the
// s3:// scheme instead.
package hadoop

import (
	"fmt"
	"sort"
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
)

// Where programs look for things on a node.
const (
	JavaHome    = "/usr/lib/jvm/jre-17"
	daemonJars  = platform.EMRHadoopHome + "/lib/*"
	shuffleJars = platform.EMRHadoopHome + "/shuffle/*"
	opens       = "--add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED"
	// Daemons of the local cloud share two or four cores with the job: less
	// compilation and one collector thread each. They have little to do, so a
	// young generation of a third of the heap would only be touched once and kept.
	daemonFlags = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k -Xmn32m"
)

// Node is what the files of one node depend on.
type Node struct {
	ClusterID, Release, AccountID, Region string
	Role                                  string // platform.Role*
	Host, Domain                          string // ip-10-0-1-11, ec2.internal
	MasterHost                            string // without domain
	CoreNodes                             int
	MemoryMB, VCores                      int // what YARN may give out on this node
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

// Master tells whether this is the primary node.
func (n Node) Master() bool { return n.Role == platform.RoleMaster }

// properties is a file of EMR's with the classification's keys over it: a key
// named there replaces the shipped value as a whole, others stay.
func (n Node) properties(classification string, shipped map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range shipped {
		out[k] = v
	}
	for _, c := range n.Configurations {
		if c.Classification == classification {
			for k, v := range c.Properties {
				out[k] = v
			}
		}
	}
	return out
}

// exports are the variables that a *-env classification's nested "export" sets.
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
				// EMR writes the value as it is: it carries its own quotes and may
				// expand the variable's previous value.
				lines = append(lines, "export "+k+"="+v)
			}
		}
	}
	sort.Strings(lines)
	return lines
}

// Files gives every configuration file of the node by its path. Directories
// are as the classifications table of the Release Guide says.
func Files(n Node) map[string]string {
	h, s := platform.EMRHadoopConfDir, platform.EMRSparkConfDir
	files := map[string]string{
		h + "/core-site.xml":          siteXML(n.properties("core-site", n.coreSite())),
		h + "/hdfs-site.xml":          siteXML(n.properties("hdfs-site", n.hdfsSite())),
		h + "/yarn-site.xml":          siteXML(n.properties("yarn-site", n.yarnSite())),
		h + "/mapred-site.xml":        siteXML(n.properties("mapred-site", map[string]string{"mapreduce.framework.name": "yarn"})),
		h + "/capacity-scheduler.xml": siteXML(n.properties("capacity-scheduler", capacityScheduler())),
		h + "/log4j2.properties":      log4j2(n.properties("hadoop-log4j", nil)),
		h + "/hadoop-env.sh":          envFile(nil, n.exports("hadoop-env")),
		h + "/hdfs-env.sh":            envFile(nil, n.exports("hdfs-env")),
		h + "/yarn-env.sh":            envFile(nil, n.exports("yarn-env")),
		s + "/spark-defaults.conf":    sparkConf(n.properties("spark-defaults", n.sparkDefaults())),
		s + "/spark-env.sh":           envFile(n.sparkEnv(), n.exports("spark-env")),
		s + "/log4j2.properties":      log4j2(n.properties("spark-log4j2", nil)),
	}
	if metrics := n.properties("spark-metrics", nil); len(metrics) > 0 {
		files[s+"/metrics.properties"] = propertyLines(metrics, "=")
	}
	return files
}

func siteXML(props map[string]string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for _, k := range keys(props) {
		fmt.Fprintf(&b, "  <property><name>%s</name><value>%s</value></property>\n", escape.Replace(k), escape.Replace(props[k]))
	}
	b.WriteString("</configuration>\n")
	return b.String()
}

func sparkConf(props map[string]string) string { return propertyLines(props, " ") }

func propertyLines(props map[string]string, sep string) string {
	var b strings.Builder
	for _, k := range keys(props) {
		b.WriteString(k + sep + props[k] + "\n")
	}
	return b.String()
}

func envFile(shipped, added []string) string {
	return strings.Join(append(append([]string{}, shipped...), added...), "\n") + "\n"
}

// log4j2 is a console logger, as EMR's; the launching side decides the file.
func log4j2(over map[string]string) string {
	props := map[string]string{
		"rootLogger.level": "info", "rootLogger.appenderRef.stdout.ref": "console",
		"appender.console.type": "Console", "appender.console.name": "console", "appender.console.target": "SYSTEM_ERR",
		"appender.console.layout.type":    "PatternLayout",
		"appender.console.layout.pattern": "%d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex",
	}
	for k, v := range over {
		props[k] = v
	}
	return propertyLines(props, " = ")
}

func keys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
