package hadoop

import (
	"encoding/xml"
	"strings"
	"time"
)

// Files in which EMR's controller tells YARN and HDFS which nodes leave, as
// yarn-site.xml and hdfs-site.xml of an EMR node name them.
const (
	yarnExclude = "/emr/instance-controller/lib/yarn.nodes.exclude.xml"
	hdfsExclude = "/emr/instance-controller/lib/hdfs.hosts.exclude"
)

// ExcludeFiles returns the content of the primary node's files of excluded nodes by
// path. YARN lets their containers go on until timeout.
func ExcludeFiles(hosts []string, timeout time.Duration) map[string]string {
	type host struct {
		Name    string `xml:"name"`
		Timeout int    `xml:"timeout"`
	}
	var list struct {
		XMLName xml.Name `xml:"hosts"`
		Hosts   []host   `xml:"host"`
	}
	for _, h := range hosts {
		list.Hosts = append(list.Hosts, host{Name: h, Timeout: int(timeout.Seconds())})
	}
	body, _ := xml.MarshalIndent(list, "", "  ") // of strings and numbers: cannot fail
	return map[string]string{
		yarnExclude: xml.Header + string(body) + "\n",
		hdfsExclude: strings.Join(append(hosts, ""), "\n"),
	}
}
