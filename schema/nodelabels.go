package schema

import (
	"strings"

	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/schema/violation"
)

// checkNodeLabels warns of task nodes on spot where YARN may start application masters on them:
// an application ends with its master's node. EMR has labelled core nodes for that only until
// emr-6.0.0 (Management Guide, "Understanding node types", Node label feature).
func (c Cluster) checkNodeLabels(l *violation.List, path string, s settings) {
	labels, _ := s.value(yarnSite, platform.YARNNodeLabels)
	masters, _ := s.value(yarnSite, platform.YARNMasterLabel)
	if on, _ := parseSparkBool(labels.value); on && strings.TrimSpace(masters.value) != "" {
		return
	}
	warn := func(at string, value any) {
		l.Warn(false, at, value, "should come with node labels: YARN may start application masters on these nodes, and an application "+
			"ends with its master's node",
			"set yarn-site's "+platform.YARNNodeLabels+" to true and "+platform.YARNMasterLabel+
				" to ON_DEMAND (CORE before emr-7.0.0), as preset data-lake does")
	}
	if c.Fleets != nil {
		if c.Fleets.Task != nil && c.Fleets.Task.Spot > 0 {
			warn(path+".fleets.task.spot", c.Fleets.Task.Spot)
		}
		return
	}
	for _, key := range c.TaskKeys() {
		if bid := c.Tasks[key].BidPrice; bid != "" {
			warn(path+".tasks."+key+".bidPrice", bid)
		}
	}
}
