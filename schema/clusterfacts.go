package schema

import (
	"fmt"
	"time"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkFacts checks a cluster by what AWS and the applications say about themselves:
// its release on a day, its instance types, and the properties that it sets.
func (c Cluster) checkFacts(l *violation.List, path string, now time.Time) {
	checkSupport(l, path+".releaseLabel", c.ReleaseLabel, now)
	for i, name := range c.Applications {
		checkApplication(l, fmt.Sprintf("%s.applications[%d]", path, i), name, c.ReleaseLabel)
	}
	roles := []string{"master", "core", "task"}
	var workers []string
	for i, g := range c.Groups() {
		at := path + "." + roles[i]
		checkInstanceType(l, at+".instanceType", g.InstanceType, c.ReleaseLabel)
		checkVolumeLimits(l, at+".ebs", g.InstanceType, g.EBS)
		if i > 0 {
			workers = append(workers, g.InstanceType)
		}
	}
	s := newSettings(sparkDefaults, path+".sparkDefaults", c.SparkDefaults)
	checkSecretProperties(l, s)
	checkPropertyNames(l, s)
	checkExecutors(l, s, workers, c.Applications)
}
