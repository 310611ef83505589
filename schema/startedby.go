package schema

import "github.com/emr-observatory/emr-observatory/schema/violation"

// What starts a cluster.
const (
	StartedByUpdate    = "update"
	StartedBySchedules = "schedules"
)

// OfSchedules reports whether each run of a schedule starts a cluster of its own, in place of the update.
func (c Cluster) OfSchedules() bool { return c.StartedBy == StartedBySchedules }

// checkStartedBy checks what a cluster of schedules may not have: nobody ends it, and whoever may read the
// schedule reads the whole call that starts it.
func (c Cluster) checkStartedBy(l *violation.List, path string) {
	if !c.OfSchedules() {
		return
	}
	const of = " if startedBy is " + StartedBySchedules + ": "
	l.Require(!c.KeepAlive, path+".keepAlive", c.KeepAlive, "must be false"+of+"each run starts a cluster, which nobody else ends",
		"set it to false, and idleTimeoutMinutes to 0, or choose the preset transient")
	l.Require(!c.TerminationProtection, path+".terminationProtection", c.TerminationProtection, "must be false"+of+
		"a cluster that fails before its steps would stay", "remove it")
	l.Require(len(c.Steps) == 0, path+".steps", len(c.Steps), "must be empty"+of+"a run has the steps of its schedule",
		"move them to the schedule")
	if c.Kerberos != nil {
		l.Require(false, path+".kerberos", c.Kerberos.Realm, "must be left out"+of+"EventBridge keeps the call that starts the cluster, "+
			"passwords included, for whoever may read schedules", "remove it, or let the update start the cluster")
	}
}
