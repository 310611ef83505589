package schema

import (
	"regexp"
	"slices"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// Where an application finds its database.
const (
	metastoreURL    = "javax.jdo.option.ConnectionURL"
	metastoreDriver = "javax.jdo.option.ConnectionDriverName"
)

// mySQL matches URLs and drivers of JDBC with which EMR's metastore speaks to MySQL,
// MariaDB and Aurora MySQL.
var mySQL = regexp.MustCompile(`(?i)mysql|mariadb`)

// checkMetastore checks the databases of Hive, Hue and Oozie. EMR sets a metastore up on
// MySQL alone when it creates a cluster (EMR Release Guide, "Using an external MySQL
// database or Amazon Aurora"). Three primary nodes need databases outside the cluster
// (EMR Management Guide, "Supported applications in an Amazon EMR cluster with multiple
// primary nodes").
func (c Cluster) checkMetastore(l *violation.List, path string) {
	s := settingsOf(c.Configurations, path+".configurations")
	several := c.Masters() == threeMasters
	for _, property := range []string{metastoreURL, metastoreDriver} {
		v, set := s.value(classHiveSite, property)
		if !set || mySQL.MatchString(v.value) || !strings.Contains(v.value, "jdbc") && !strings.Contains(v.value, ".") {
			continue
		}
		if holdsSecret(v.value) {
			continue // another rule refuses it, and does not show it
		}
		if several {
			l.Require(false, v.path, v.value, "must be MySQL's or MariaDB's with three primary nodes: EMR supports no other metastore there",
				"move the metastore to MySQL, or use glueCatalog")
		} else {
			l.Warn(false, v.path, v.value, "should be MySQL's or MariaDB's: EMR sets no other metastore up when it creates a cluster",
				"move the metastore to MySQL, or use glueCatalog")
		}
	}
	if several {
		c.checkExternal(l, path, s)
	}
}

// checkExternal requires databases outside a cluster of three primary nodes.
func (c Cluster) checkExternal(l *violation.List, path string, s settings) {
	_, named := s.value(classHiveSite, metastoreURL, "hive.metastore.uris", MetastoreClientKey)
	connector, _ := s.value(connectorOf(trino), "hive.metastore")
	old, _ := s.value(connectorOf(presto), "hive.metastore")
	oozie, _ := s.value("oozie-site", "oozie.service.JPAService.jdbc.url")
	hue, _ := s.value("hue-ini/desktop/database", "host")
	shared := c.GlueCatalog || named
	for _, one := range []struct {
		application string
		external    bool
		remedy      string
	}{
		{hive, shared, "set glueCatalog to true, or " + metastoreURL + " in " + classHiveSite},
		{"HCatalog", shared, "set glueCatalog to true, or " + metastoreURL + " in " + classHiveSite},
		{trino, shared || connector.value == "glue", "set glueCatalog to true, or hive.metastore to glue in trino-connector-hive"},
		{presto, shared || old.value == "glue", "set glueCatalog to true, or hive.metastore to glue in presto-connector-hive"},
		{"Oozie", oozie.value != "", "set oozie.service.JPAService.jdbc.url in oozie-site"},
		{"Hue", hue.value != "", "set host in database inside desktop inside hue-ini"},
	} {
		if i := slices.Index(c.Applications, one.application); i >= 0 {
			l.Require(one.external, pathOf(path+".applications", i), one.application,
				"must have a database outside the cluster with three primary nodes: EMR keeps none in step on them", one.remedy)
		}
	}
}
