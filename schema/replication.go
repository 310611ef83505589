package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/emr-observatory/emr-observatory/schema/violation"
)

const (
	hdfsSite        = "hdfs-site"
	dfsReplication  = "dfs.replication"
	replicationFrom = " EMR does not scale core nodes below the number of copies of a block (" + dfsReplication + ")"
)

// replication returns how many copies of a block HDFS has: what is set, or by the number of core
// nodes at the start (Release Guide, "HDFS configuration").
func (c Cluster) replication(s settings) int {
	if v, set := s.value(hdfsSite, dfsReplication); set {
		n, err := strconv.Atoi(strings.TrimSpace(v.value))
		if err != nil {
			return 0
		}
		return n
	}
	const two, three = 4, 10 // core nodes from which on there are as many copies
	switch {
	case c.Core.Count >= three:
		return 3
	case c.Core.Count >= two:
		return 2
	}
	return 1
}

// checkReplication warns of a least number of core nodes that scaling never reaches.
func (c Cluster) checkReplication(l *violation.List, path string, s settings) {
	if c.Fleets != nil || !c.HasCore() {
		return
	}
	copies := c.replication(s)
	rule := fmt.Sprintf("should be %d or more:%s", copies, replicationFrom)
	remedy := "raise it, or set " + dfsReplication + " in the classification " + hdfsSite
	if a := c.Core.AutoScaling; a != nil {
		l.Warn(a.Min >= copies, path+".core.autoScaling.min", a.Min, rule, remedy)
	}
	if m := c.ManagedScaling; m != nil && m.Unit == UnitInstances {
		l.Warn(m.Min >= copies, path+".managedScaling.min", m.Min, rule, remedy)
	}
}
