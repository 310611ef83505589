package schema

import (
	"slices"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// What nodes of a cluster report: values of the key observe.
const (
	ObserveFull      = "full"
	ObserveHostsOnly = platform.BootstrapHostsOnly
)

func (c Cluster) hasSpark() bool { return slices.Contains(c.Applications, spark) }

// checkObserve requires Spark wherever the platform observes jobs, and nothing of Spark
// elsewhere.
func (c Cluster) checkObserve(l *violation.List, path string) {
	if c.Observe != ObserveHostsOnly {
		l.Require(c.hasSpark(), path+".applications", c.Applications, "must contain "+spark,
			"add it, or set "+path+".observe to "+ObserveHostsOnly+" if this cluster runs no Spark jobs")
		return
	}
	l.Require(!c.hasSpark(), path+".observe", c.Observe, "must be "+ObserveFull+" with "+spark+": its jobs would report nothing",
		"remove the key, or remove "+spark+" from "+path+".applications")
	l.Require(len(c.SparkDefaults) == 0, path+".sparkDefaults", len(c.SparkDefaults), "must be empty without "+spark, "remove it")
}
